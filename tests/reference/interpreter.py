"""The reference interpreter: runs a kernel straight from its IR, with no timing, in plain Python and numpy.

For tests, as a second opinion on the compiled semantics and on the passes: it shares no code with them. CTAs run one
after the other, the warps of a CTA in turns. A warp has a SIMT stack: at a branch whose lanes disagree the executing
entry becomes the place where they rejoin (the immediate post-dominator), and each side is pushed with that place as its
end. `poison` overwrites every register that a liveness result calls dead, before each instruction: results must not
change.

Not handled: CTAs that wait for each other, packed and bfloat16 types.

Reference: PTX ISA; W. Fung et al., "Dynamic warp formation and scheduling for efficient GPU control flow", 2007.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ptxtool.analysis.occupancy.entry_registers import launched_registers
from ptxtool.base.diag import PtxError, error
from ptxtool.cfg.reconvergence import reconvergence_points
from ptxtool.ir.nodes import Function
from reference.calls import (
    SYSTEM,
    Call,
    Frame,
    FunctionOperands,
    Routine,
    fits,
    functions_of,
    give_arguments,
    system_call,
    take_results,
)
from reference.clusters import Cluster
from reference.code import Code, decode
from reference.memory import Fault, Image, Space, align
from reference.numbers import LANES, Raw, full
from reference.ops import Bools

STACK_BYTES = 16384
"""Local memory of a thread for the frames of functions, and for `alloca`."""
MAX_DEPTH = 2000
"""Frames that a warp may have."""
SLICE = 2000  # instructions of one warp before the next has its turn, and other lanes of it
SHORT_SLICE = 50  # the same once lanes have waited for lanes of their warp
_CALL_END = -1  # reconvergence place of a call: only a return ends it
_PATTERN = 0xDEADBEEF_A5A5A5A5


class Dead(Protocol):
    """What `poison` needs of a liveness result."""

    @property
    def before_bits(self) -> Sequence[int]: ...


@dataclass(frozen=True)
class ReferenceResult:
    """What a run counted: instructions issued by warps, and lanes that executed them (guards counted)."""

    warp_instructions: int
    thread_instructions: int
    printed: str = ""


@dataclass
class _Entry:
    """One entry of a SIMT stack: lanes at `pc` that run until `end`."""

    pc: int
    end: int
    lanes: Bools
    waits: bool = False  # at a barrier


@dataclass
class _Barrier:
    """A barrier's state: which threads wait, which have arrived, and what `bar.red` has gathered."""

    waiting: "list[tuple[Warp, _Entry, Code, Bools, int]]" = field(default_factory=list)
    arrived: list[tuple[int, int]] = field(default_factory=list)  # threads by warp and lane
    missing: dict[int, int] = field(default_factory=dict)  # lanes that a warp did not have when it came
    wanted: int = 0
    votes: list[int] = field(default_factory=list)


class _Machine:
    """One launch: the decoded kernel, the functions it may call, and its memory."""

    def __init__(self, kernel: Function, image: Image, grid: tuple[int, ...], block: tuple[int, ...]):
        self.kernel = kernel
        self.image = image
        self.grid = grid
        self.block = block
        self.routines: dict[str, Routine] = {}
        self.main = self.routine(kernel)
        self.operands = self.main.operands
        addresses = ((n, image.symbols[n].address) for n in functions_of(image))
        self.functions = {address: name for name, address in addresses}  # by address
        self.local_bytes = self.operands.variables.n_bytes
        self.stack_bytes = STACK_BYTES if functions_of(image) else 0
        allocates = any(c.sem == "alloca" for r in self.routines.values() for c in r.code)
        self.alloca_bytes = STACK_BYTES if allocates else 0
        image.local_bytes = self.local_bytes + self.stack_bytes + self.alloca_bytes
        self.printed: list[bytes] = []
        first = self.operands.register("$r0", 0) if self.operands.is_ptxplus else None
        self.thread_id_row = self.operands.rows[first.index] if first is not None else None
        self.dead_rows: list[Any] | None = None
        self.watch: Callable[[Warp, int], None] | None = None
        self.warp_instructions = 0
        self.thread_instructions = 0
        self.is_explicit_cluster = False

    def routine(self, function: Function) -> Routine:
        """A function, decoded, and with it all that it may call."""
        if function.name not in self.routines:
            operands = FunctionOperands(function, self.image, function is self.kernel)
            made = Routine(function, operands, reconvergence_points(function))
            self.routines[function.name] = made
            made.code = decode(function, operands)
            defined = functions_of(self.image)
            for code in made.code:
                for name in code.call.targets if code.call is not None else ():
                    if name in defined:
                        self.routine(defined[name])
        return self.routines[function.name]

    def poison(self, dead: Dead) -> None:
        """Remember which rows are dead before each instruction."""
        self.dead_rows = []
        for bits in dead.before_bits:
            rows: list[int] = []
            for register in self.kernel.registers:
                if not bits >> register.index & 1 and not register.role:
                    first = self.operands.rows[register.index]
                    rows += range(first, first + register.vector)
            self.dead_rows.append(np.array(rows, np.intp))


class Warp:
    """32 lanes: registers, SIMT stack, place in the CTA."""

    def __init__(self, cta: "_Cta", index: int):
        machine = cta.machine
        self.cta = cta
        self.machine = machine
        self.index = index
        self.routine = machine.main
        self.registers = np.zeros((machine.operands.n_rows, LANES), np.uint64)
        self.carry = np.zeros(LANES, np.uint64)
        self.base = 0  # where its frame begins in local memory
        self.grown = full(machine.local_bytes + machine.stack_bytes)  # how far `alloca` has come
        self.frames: list[Frame] = []  # of its callers; its own is in use
        self.own: Frame | None = None  # the frame in use, None for the kernel's
        self.exited = np.zeros(LANES, np.bool_)
        self.break_targets: list[list[int]] = [[] for _ in range(LANES)]
        self._locals: dict[int, Space] = {}
        threads = np.arange(LANES, dtype=np.uint64) + np.uint64(index * LANES)
        x, y, _ = (np.uint64(n) for n in machine.block)
        self.tid = (threads % x, threads // x % y, threads // (x * y))
        existing = threads < np.uint64(cta.n_threads)
        self.stack = [_Entry(0, len(machine.main.code), existing)]
        self.executing: Bools = existing
        self.apart = False  # some lanes are elsewhere than a SIMT stack has them
        self.cluster_phase = np.zeros(LANES, np.int64)  # of the cluster's barrier that it has arrived in
        self.held = 0  # groups in a row that had to wait for others
        self.issued = 0
        row = machine.thread_id_row
        if row is not None:
            self.registers[row] = (
                self.tid[0] + (self.tid[1] << np.uint64(16)) + (self.tid[2] << np.uint64(26))
            )

    @property
    def is_done(self) -> bool:
        return not self.stack

    @property
    def is_waiting(self) -> bool:
        return bool(self.stack) and self.stack[-1].waits

    @property
    def active(self) -> Bools:
        return self.stack[-1].lanes

    @property
    def alive(self) -> Bools:
        """The lanes that have not exited."""
        lanes = np.zeros(LANES, np.bool_)
        for stack in (self.stack, *(frame.stack for frame in self.frames)):
            for entry in stack:
                lanes |= entry.lanes
        return lanes

    def space(self, name: str) -> Space:
        image, cta = self.machine.image, self.cta
        return {"global": image.globals, "const": image.const, "param": cta.parameters, "shared": cta.shared}[
            name
        ]

    def local(self, lane: int) -> Space:
        if lane not in self._locals:
            self._locals[lane] = self.machine.image.local_space()
        return self._locals[lane]

    def special(self, key: str) -> Raw:
        """A special register, `%` left out."""
        name, _, part = key.partition(".")
        axis = "xyz".find(part) if part else 0
        if part and axis < 0:
            return full(0)  # `.w`
        lane = np.arange(LANES, dtype=np.uint64)
        one = np.uint64(1)
        if name == "tid":
            return self.tid[axis]
        if name in ("ntid", "nctaid", "ctaid"):
            extents = {"ntid": self.machine.block, "nctaid": self.machine.grid, "ctaid": self.cta.ctaid}[name]
            return full(extents[axis])
        if name.startswith("lanemask"):
            below = (one << lane) - one
            bit = one << lane
            ones = np.uint64(0xFFFFFFFF)
            masks = {
                "eq": bit,
                "lt": below,
                "le": below | bit,
                "gt": ~(below | bit) & ones,
                "ge": ~below & ones,
            }
            return masks[name.removeprefix("lanemask_")]
        if name.startswith(("clock", "halfclock", "globaltimer")):
            return full(self.issued >> (32 if name.endswith("_hi") else 0))
        if name.startswith("reserved_smem_offset"):
            into = {"begin": 0, "0": 0, "1": 512}.get(name.rpartition("_")[2], 1024)
            return full(self.machine.image.reserved_shared + into)
        in_cluster = self.cta.cluster.special(name, axis, self.cta)
        if in_cluster is not None:
            return full(in_cluster)
        values = {
            "laneid": lane,
            "warpid": full(self.index),
            "nwarpid": full(len(self.cta.warps)),
            "nsmid": full(1),
            "WARP_SZ": full(LANES),
            "total_smem_size": full(self.machine.image.shared_bytes),
            "aggr_smem_size": full(self.machine.image.shared_bytes + 1024),
            "dynamic_smem_size": full(self.machine.image.dynamic_shared_bytes),
        }
        return values.get(name, full(0))  # %smid, %gridid: there is one; %current_graph_exec: no graph

    # ---- the SIMT stack

    def exit(self, lanes: Bools) -> None:
        """Lanes end: they do not come back to their callers."""
        self.exited = self.exited | lanes
        for frame in self.frames:
            for entry in frame.stack:
                entry.lanes = entry.lanes & ~lanes

    def leave(self, lanes: Bools, down_to: int = 0) -> None:
        """Take lanes off the stack's entries from `down_to` on."""
        for entry in self.stack[down_to:]:
            entry.lanes = entry.lanes & ~lanes

    def settle(self) -> None:
        """Drop entries that are empty or have come to their end."""
        while True:
            self._settle()
            if self.stack or not self.frames:
                return
            self.come_back()

    def _settle(self) -> None:
        n = len(self.routine.code)
        while self.stack:
            top = self.stack[-1]
            if top.waits:
                return
            if top.lanes.any() and top.pc >= n and top.end in (n, _CALL_END):
                self.leave(top.lanes)  # ran off the end: the thread is done
            if top.lanes.any() and top.pc != top.end:
                return
            self.stack.pop()

    # ---- lanes that wait for lanes of their own warp

    def _groups(self) -> Iterator[tuple[int, Bools]]:
        """The entries below the top that are in the same function, and the lanes that are at their place."""
        calls = [k for k, entry in enumerate(self.stack) if entry.end == _CALL_END]
        for k in range(calls[-1] if calls else 0, len(self.stack) - 1):
            elsewhere = np.logical_or.reduce([entry.lanes for entry in self.stack[k + 1 :]])
            lanes = self.stack[k].lanes & ~elsewhere
            if lanes.any() and not self.stack[k].waits:
                yield k, lanes

    def others_go_on(self) -> bool:
        """Let other lanes run than those of the top: those that have waited longest, if there are any."""
        for k, lanes in self._groups():
            entry = self.stack[k]
            if (lanes == entry.lanes).all():
                del self.stack[k]
                if entry.pc == entry.end:  # come to its end at a barrier
                    return self.others_go_on()
            entry.lanes = entry.lanes & ~lanes
            self.stack.append(_Entry(entry.pc, entry.end, lanes))
            self.apart = True
            return True
        return False

    def is_held(self, code: Code) -> bool:
        """Whether the top waits for lanes that its instruction names; lanes that can come are the top then."""
        top = self.stack[-1]
        lanes = top.lanes if code.guard is None else top.lanes & code.guard(self)
        if len(self.stack) > 1 and code.members is not None and lanes.any():
            named = int(np.bitwise_or.reduce(code.members(self)[lanes]))
            missing = np.array([named >> k & 1 for k in range(LANES)], np.bool_) & self.alive & ~lanes
            if missing.any():
                if self._meet(top):
                    return True
                if self.held <= len(self.stack) and self.others_go_on():
                    self.held += 1
                    return True
        self.held = 0
        self.apart = len(self.stack) > 1
        return False

    def _meet(self, top: _Entry) -> bool:
        """Make the top one with another group at its place."""
        for k, lanes in self._groups():
            entry = self.stack[k]
            if (entry.pc, entry.end) == (top.pc, top.end):
                if (lanes == entry.lanes).all():
                    del self.stack[k]
                    top.lanes = top.lanes | lanes
                else:
                    self.stack.pop()
                    entry.lanes = entry.lanes | top.lanes
                return True
        return False

    def branch(self, targets: Raw, lanes: Bools, i: int) -> None:
        """Send `lanes` to their targets; the other active lanes fall through."""
        top = self.stack[-1]
        going = np.where(lanes, targets.astype(np.int64), i + 1)
        places = sorted({int(p) for p in going[top.lanes]})
        if len(places) == 1:
            top.pc = places[0]
            return
        join = self.routine.reconverge.get(i, len(self.routine.code))
        # the group of the highest lane is pushed first, so it runs last
        order: list[int] = []
        for place in going[top.lanes][::-1].tolist():
            if place not in order:
                order.append(place)
        groups = [(place, top.lanes & (going == place)) for place in order]
        if join != top.end:
            top.pc = join
        else:
            self.stack.pop()
        for place, members in groups:
            if place != join:
                self.stack.append(_Entry(place, join, members))

    # ---- calls

    def enter(self, call: Call, lanes: Bools) -> None:
        """Lanes enter functions: a frame for each, that of the highest lane runs last."""
        machine = self.machine
        names = np.array([call.targets[0]] * LANES, object)
        if call.address is not None:
            for lane, address in enumerate(call.address(self).tolist()):
                names[lane] = machine.functions.get(int(address), "")
        values = [read(self, lanes) for read in call.arguments]
        places = {int(lane): k for k, lane in enumerate(np.flatnonzero(lanes))}
        base = self.base + align(self.routine.operands.variables.n_bytes, 16)
        order = list(dict.fromkeys(names[lanes][::-1].tolist()))
        for name in order:
            members = lanes & (names == name)
            if not name or not fits(call, machine.routines[name]):
                raise Fault("E403", 0, 1, places[int(np.flatnonzero(members)[0])])
            routine = machine.routines[name]
            registers = np.zeros((routine.operands.n_rows, LANES), np.uint64)
            stack = [_Entry(0, len(routine.code), members)]
            frame = Frame(routine, base, registers, stack, full(0), members, call, self.grown.copy())
            self._switch(frame)
            self.check_stack()
            chosen = [[each[places[int(n)]] for n in np.flatnonzero(members)] for each in values]
            give_arguments(self, frame, chosen)

    def _switch(self, frame: Frame) -> None:
        """Put what is in use aside for a new frame."""
        mine = Frame(self.routine, self.base, self.registers, self.stack, self.carry, frame.lanes)
        if self.own is not None:
            mine.call, mine.grown, mine.lanes = self.own.call, self.own.grown, self.own.lanes
        self.frames.append(mine)
        self.own = frame
        self._use(frame)

    def _use(self, frame: Frame) -> None:
        self.routine, self.base, self.registers = frame.routine, frame.base, frame.registers
        self.stack, self.carry = frame.stack, frame.carry

    def come_back(self) -> None:
        """A function has ended in all of its lanes: the frame below goes on, the caller gets the results."""
        ended = self.own
        assert ended is not None
        assert ended.call is not None
        lanes = ended.lanes & ~self.exited
        values = take_results(self, ended, lanes)
        self.grown = ended.grown
        below = self.frames.pop()
        self.own = below if self.frames else None
        self._use(below)
        caller = below
        for frame in (below, *reversed(self.frames)):  # after the other frames of the same call
            caller = frame
            if frame.call is not ended.call or frame.base != ended.base:
                break
        self._use(caller)
        if lanes.any():
            for write, each in zip(ended.call.results, values, strict=True):
                write(self, lanes, each)
        self._use(below)

    def check_stack(self) -> None:
        """Raise a fault if frames or `alloca` have come too far."""
        machine = self.machine
        frames = self.base + self.routine.operands.variables.n_bytes
        limit = machine.local_bytes + machine.stack_bytes
        above = int(self.grown.max()) - limit
        if frames > limit or len(self.frames) > MAX_DEPTH or above > machine.alloca_bytes:
            raise Fault("E415", 0, 1, 0)


class _Cta:
    """A block: its warps, shared memory and barriers; and its place in a cluster."""

    def __init__(self, machine: _Machine, ctaid: tuple[int, int, int]):
        self.machine = machine
        self.ctaid = ctaid
        self.n_threads = machine.block[0] * machine.block[1] * machine.block[2]
        self.parameters = machine.image.parameter_space()
        self.shared = machine.image.shared_space(ctaid, machine.block, machine.grid)
        self.barriers: dict[int, _Barrier] = {}
        self.entry_registers = launched_registers(machine.kernel)
        self.registers: dict[int, int] = {}
        """Per thread of a warp, once `setmaxnreg` has changed them."""
        self.starved: list[tuple[Warp, int, int]] = []
        """The warps that wait at `setmaxnreg`, by number: what each wants, the instruction."""
        self.warps = [Warp(self, k) for k in range(-(-self.n_threads // LANES))]
        self.cluster: Cluster
        self.rank = 0

    @property
    def is_done(self) -> bool:
        return all(w.is_done for w in self.warps)

    def round(self, limit: int) -> bool:
        """A turn of every warp that can run; False if there is none."""
        ready = [w for w in self.warps if not w.is_done and not w.is_waiting]
        for warp in ready:
            self.turn(warp, limit)
        for number in list(self.barriers):  # threads that have ended are not waited for
            self.release(number)
        return bool(ready)

    def goes_on(self) -> bool:
        """Let other lanes of the warps run; False if there are none."""
        moved = [w.others_go_on() for w in self.warps if not w.is_done]
        return any(moved)

    def turn(self, warp: Warp, limit: int) -> None:
        """Run a warp until it waits, ends, or has had its share."""
        machine = self.machine
        for _ in range(SHORT_SLICE if warp.apart else SLICE):
            warp.settle()
            if warp.is_done or warp.is_waiting:
                return
            if machine.warp_instructions >= limit:
                raise error(
                    "E408",
                    f"more than {limit} warp instructions",
                    machine.kernel.source,
                    machine.kernel.start,
                )
            i = warp.stack[-1].pc
            if warp.apart and warp.is_held(warp.routine.code[i]):
                continue
            try:
                self.issue(warp, warp.routine.code[i], i)
            except Fault as fault:
                raise self.fault(warp, i, fault) from None
        warp.others_go_on()

    def issue(self, warp: Warp, code: Code, i: int) -> None:
        machine = self.machine
        if machine.watch is not None:
            machine.watch(warp, i)
        if machine.dead_rows is not None:
            pattern = (_PATTERN * (2 * machine.warp_instructions + 1)) & 0xFFFFFFFFFFFFFFFF
            warp.registers[machine.dead_rows[i]] = np.uint64(pattern)
        top = warp.stack[-1]
        lanes = top.lanes if code.guard is None else top.lanes & code.guard(warp)
        warp.executing = lanes
        warp.issued += 1
        machine.warp_instructions += 1
        machine.thread_instructions += int(np.count_nonzero(lanes))
        if code.step is not None:
            if lanes.any():
                code.step(warp)
            top.pc = i + 1
        else:
            self.control(warp, code, lanes, i)
        if code.exits and warp.stack:
            warp.leave(lanes)

    def control(self, warp: Warp, code: Code, lanes: Bools, i: int) -> None:
        """Branches, calls, exits and barriers."""
        top = warp.stack[-1]
        sem = code.sem
        if sem == "bra":
            warp.branch(full(code.target), lanes, i)
            return
        if sem in ("brx", "brx_idx", "break"):
            warp.branch(self.indirect(warp, code, lanes), lanes, i)
            return
        top.pc = i + 1
        if not lanes.any():
            return
        if sem in ("exit", "ret"):
            warp.leave(lanes)
            if sem == "exit":
                warp.exit(lanes)
        elif sem == "call":
            self.call(warp, code, lanes, i)
        elif sem == "trap":
            raise error("E414", f"'trap' reached{self.place(warp, lanes)}", *self.span(warp, i))
        elif sem == "callp":
            warp.stack.append(_Entry(code.target, _CALL_END, lanes))
        elif sem == "retp":
            calls = [k for k, entry in enumerate(warp.stack) if entry.end == _CALL_END]
            warp.leave(lanes, calls[-1] if calls else 0)
        elif sem == "breakaddr":
            for lane in np.flatnonzero(lanes).tolist():
                warp.break_targets[lane].append(code.target)
        elif sem == "setmaxnreg":
            self.adjust_registers(warp, code, i)
        elif sem == "cluster_arrive":
            self.cluster.arrive(warp, lanes)
        elif sem == "cluster_wait":
            self.cluster.wait(warp, lanes)
        else:
            self.arrive(warp, code, lanes, i)

    def call(self, warp: Warp, code: Code, lanes: Bools, i: int) -> None:
        """Enter functions, or run one of the system."""
        assert code.call is not None
        if code.call.targets and code.call.targets[0] in SYSTEM:
            try:
                values = system_call(warp, code.call, lanes)
            except AssertionError as problem:
                text, lane = problem.args
                failed = np.arange(LANES) == lane
                raise error("E413", text + self.place(warp, failed), *self.span(warp, i)) from None
            for write, each in zip(code.call.results, values, strict=True):
                write(warp, lanes, each)
            return
        warp.enter(code.call, lanes)

    def indirect(self, warp: Warp, code: Code, lanes: Bools) -> Raw:
        """The targets of `break` and the indirect branches."""
        targets = np.zeros(LANES, np.uint64)
        for lane in np.flatnonzero(lanes).tolist():
            if code.sem == "break":
                stack = warp.break_targets[lane]
                if not stack:
                    raise Fault("E403", 0, 1, int(np.count_nonzero(lanes[:lane])))
                targets[lane] = stack.pop()
            else:
                assert code.reader is not None
                value = int(code.reader(warp)[lane])
                known = code.addresses if code.sem == "brx" else dict(enumerate(code.targets))
                if value not in known:
                    code_of_fault = "E403" if code.sem == "brx" else "E418"
                    raise Fault(code_of_fault, value, 1, int(np.count_nonzero(lanes[:lane])))
                targets[lane] = known[value]
        return targets

    # ---- barriers

    def arrive(self, warp: Warp, code: Code, lanes: Bools, i: int) -> None:
        """Lanes come to a barrier: with an aligned one all that are left of their warp."""
        assert code.reader is not None
        lane = int(np.flatnonzero(lanes)[0])
        number = int(code.reader(warp)[lane])
        if number > 15:
            raise error("E406", f"barrier {number}{self.place(warp, lanes)}", *self.span(warp, i))
        barrier = self.barriers.setdefault(number, _Barrier())
        barrier.wanted = int(code.count(warp)[lane]) if code.count is not None else 0
        coming = warp.alive if code.aligned else lanes
        barrier.missing.setdefault(warp.index, int(LANES - np.count_nonzero(warp.alive)))
        barrier.arrived += [(warp.index, k) for k in np.flatnonzero(coming).tolist()]
        if code.truth is not None:
            barrier.votes += code.truth(warp)[lanes].tolist()
        if code.sem != "bar_arrive":
            top = warp.stack[-1]
            top.waits = True
            barrier.waiting.append((warp, top, code, lanes, i))
            if (coming != warp.alive).any():
                self.others_go_on(warp, top)
        self.release(number)

    def adjust_registers(self, warp: Warp, code: Code, i: int) -> None:
        """`setmaxnreg`: the registers of all warps are never more than those of the launch."""
        assert code.reader is not None
        if not self.entry_registers:
            return
        wanted, has = int(code.reader(warp)[0]), self.registers.get(warp.index, self.entry_registers)
        if code.kind == "dec":
            self.registers[warp.index] = min(wanted, has)
        elif wanted > has:
            warp.stack[-1].waits = True
            self.starved = sorted([*self.starved, (warp, wanted, i)], key=lambda wait: wait[0].index)
        for wait in list(self.starved):
            waiting, wanted, _ = wait
            after = self.registers | {waiting.index: wanted}
            used = sum(after.get(w.index, self.entry_registers) for w in self.warps)
            if used <= self.entry_registers * len(self.warps):
                self.registers = after
                waiting.stack[-1].waits = False
                self.starved.remove(wait)

    @staticmethod
    def others_go_on(warp: Warp, entry: _Entry) -> None:
        """The other lanes of a warp run while an entry waits: one of the same level comes up."""
        for k in range(len(warp.stack) - 2, -1, -1):
            if warp.stack[k].end != entry.end or entry.end == _CALL_END:
                return
            if not warp.stack[k].waits:
                warp.stack[-1], warp.stack[k] = warp.stack[k], entry
                return

    def release(self, number: int) -> None:
        """Let everyone go on if the barrier is complete."""
        barrier = self.barriers[number]
        if barrier.wanted:
            if len(barrier.arrived) + sum(barrier.missing.values()) < barrier.wanted:
                return
        elif len(barrier.arrived) < sum(np.count_nonzero(w.alive) for w in self.warps):
            return
        del self.barriers[number]
        for warp, entry, code, lanes, _ in barrier.waiting:
            entry.waits = False
            if code.write is not None:
                code.write(warp, barrier.votes, lanes)

    def stuck(self) -> PtxError:
        if self.starved:
            warp, wanted, i = self.starved[0]
            text = f"deadlock: warp {warp.index} waits for {wanted} registers per thread"
            return error("E407", text + self.place(warp, warp.alive), *self.span(warp, i))
        if not self.barriers:
            at = self.warps[0]
            i = at.stack[-1].pc - 1
            return error("E406", f"a cluster barrier{self.place(at, at.alive)}", *self.span(at, i))
        waiting = [(w, i, n) for n, b in self.barriers.items() for w, _, _, _, i in b.waiting]
        warp, i, number = waiting[0]
        text = f"barrier {number} can never complete: {len(waiting)} of {len(self.warps)} warps wait"
        return error("E406", text + self.place(warp, warp.alive), *self.span(warp, i))

    # ---- places

    def span(self, warp: Warp, i: int) -> tuple[Any, int, int]:
        instruction = warp.routine.function.instructions[i]
        return self.machine.kernel.source, instruction.start, instruction.end

    def place(self, warp: Warp, lanes: Bools, position: int = 0) -> str:
        lane = int(np.flatnonzero(lanes)[position])
        thread = tuple(int(axis[lane]) for axis in warp.tid)
        return f" in kernel '{self.machine.kernel.name}', CTA {self.ctaid}, thread {thread}"

    def fault(self, warp: Warp, i: int, fault: Fault) -> PtxError:
        what = "misaligned" if fault.code == "E405" else "out of bounds"
        text = f"{fault.n_bytes} bytes at {fault.address:#x} are {what}"
        if fault.code == "E415":
            text = "stack overflow"
        elif fault.code == "E403":
            text = "jump or call to a target that does not exist"
        return error(fault.code, text + self.place(warp, warp.executing, fault.position), *self.span(warp, i))


def _three(extents: int | Sequence[int], what: str, kernel: Function) -> tuple[int, int, int]:
    given = (extents,) if isinstance(extents, int) else tuple(extents)
    if not 1 <= len(given) <= 3 or any(n <= 0 for n in given):
        raise error("E401", f"{what} {extents} must be one to three positive numbers", kernel.source)
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


def _cluster_shape(kernel: Function, given: int | Sequence[int] | None) -> tuple[int, int, int] | None:
    """The extents of clusters that a launch or the kernel's head gives."""
    if given is not None:
        return _three(given, "cluster", kernel)
    for directive in kernel.directives:
        if directive.name == "reqnctapercluster":
            return _three([int(n, 0) for n in directive.text.split(",")], "cluster", kernel)
    return None


def run_reference(
    kernel: Function,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    dynamic_shared: int = 0,
    constants: Mapping[str, Any] | None = None,
    poison: Dead | None = None,
    max_instructions: int = 1_000_000_000,
    ctas: Sequence[tuple[int, int, int]] | None = None,
    textures: Mapping[str, Any] | None = None,
    ptxplus_semantics: str = "hardware",
    watch: Callable[[Warp, int], None] | None = None,
    cluster: int | Sequence[int] | None = None,
) -> ReferenceResult:
    """Run a kernel; buffers among `args` are updated in place.

    `cluster` has the extents of clusters, whose CTAs run together; `ctas` are the first ones of the clusters then.
    `poison` is a liveness result of the kernel; `watch` is called before every instruction of a warp. `ctas` are the
    blocks to run, all of the grid by default; `textures` stands for variables of opaque types; `ptxplus_semantics` is
    "hardware" or "gpgpu-sim". Raises `PtxError`: E401 for wrong arguments, E403 for what cannot be simulated, E404 to
    E408 for what goes wrong.
    """
    grid3, block3 = _three(grid, "grid", kernel), _three(block, "block", kernel)
    n_threads = block3[0] * block3[1] * block3[2]
    if n_threads > 1024:
        raise error("E402", f"a block of {n_threads} threads; at most 1024 fit", kernel.source, kernel.start)
    as_gpgpu_sim = ptxplus_semantics == "gpgpu-sim"
    image = Image(kernel, args, constants or {}, dynamic_shared, textures, as_gpgpu_sim)
    machine = _Machine(kernel, image, grid3, block3)
    machine.watch = watch
    if poison is not None:
        machine.poison(poison)
    shape = _cluster_shape(kernel, cluster)
    machine.is_explicit_cluster = shape is not None
    a, b, c = shape or (1, 1, 1)
    if ctas is None:
        x, y, z = grid3
        ctas = [(i, j, k) for k in range(0, z, c) for j in range(0, y, b) for i in range(0, x, a)]
    members = [(i, j, k) for k in range(c) for j in range(b) for i in range(a)]
    with np.errstate(all="ignore"):
        for x, y, z in ctas:
            together = [_Cta(machine, (x + i, y + j, z + k)) for i, j, k in members]
            Cluster(together, (a, b, c)).run(max_instructions)
    text = b"".join(machine.printed).decode("utf-8", "replace")
    return ReferenceResult(machine.warp_instructions, machine.thread_instructions, text)
