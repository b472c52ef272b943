"""A run without time: CTAs one after the other, warps in turn from barrier to barrier.

For checking that a kernel computes what it should, quickly, and for tests of the instruction semantics: it shares
lowering and execution with the timing model and nothing else. The loop of one CTA is compiled; a warp runs until it
ends, waits at a barrier, finds an mbarrier incomplete, or has had its share of instructions: so warps that spin on
memory let the others of their CTA run. A CTA that can only repeat itself is put aside for the others (waiting.py).
Reconvergence is the same: a stack of (pc, reconvergence pc, mask, call depth) per warp, whose lanes wait for one
another no longer than they must (divergence.py).

Not handled: results that depend on time (the clock).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import types

from ptxsim.checks.inspect import (
    accessed,
    acquire,
    after,
    before,
    copied,
    fault,
    join,
    reach,
    release,
    returned,
    stack,
    start,
)
from ptxsim.checks.prepare import Checks, check_flags, in_lockstep
from ptxsim.checks.reports import diagnostics
from ptxsim.checks.state import (
    ACQUIRES,
    BEFORE,
    BEHIND,
    CHECKED,
    CHECKS,
    MEMORY,
    ORDERS_WARP,
    RELEASES,
    REPORT,
    TRACED,
)
from ptxsim.divergence import loosen
from ptxsim.faults import fault as described
from ptxsim.image import MemoryImage
from ptxsim.jit import array_of, entry, flat_u8, njit
from ptxsim.lower import lower
from ptxsim.options import HEAP_BYTES, MAX_SHARED, STACK_BYTES
from ptxsim.printing import Printer
from ptxsim.program import (
    BARRIER,
    BRANCH,
    CALL,
    CONTEXT,
    EXIT,
    INDIRECT,
    INSTRUCTION,
    INVOKE,
    MISALIGNED,
    OUT_OF_BOUNDS,
    RETURN,
    Program,
)
from ptxsim.semantics.barriers import BARRIER as BARRIER_STATE
from ptxsim.semantics.barriers import (
    DEPTH,
    N_BARRIERS,
    WARP,
    advance,
    arrive,
    complete,
    let_outer_run,
    live_lanes,
    take_turns,
)
from ptxsim.semantics.calls import enter_call, leave_call, note_exit
from ptxsim.semantics.execute import execute, guard_mask, straight
from ptxsim.semantics.start import init_warp
from ptxsim.tracing import Trace, Tracer
from ptxsim.waiting import FIRST_LOOK, MOST_ASIDE, Residents, Watch, digest, standing
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.ir.nodes import Function

LIMIT = 1 << 32
"""Warp instructions of a CTA, unless the caller sets another limit: some minutes."""
SLICE = 20_000
"""Instructions of one warp before the next has its turn: a warp that spins on memory lets the others run."""
_PATIENCE = 1 << 18
_TESTS = 64  # rounds in which all test an mbarrier in vain, before other lanes of the warps have a turn
_OVERFLOW = 100  # as in ptxsim/faults.py
_TOO_LONG = 101
_DEADLOCK = 102
_PAUSED = -2  # the print buffer is half full, or a traced instruction is reached
_WATCHED = -3  # many instructions have passed

_ARGUMENTS = (
    array_of(CONTEXT),
    array_of(INSTRUCTION),
    array_of(WARP),
    array_of(BARRIER_STATE),
    array_of(CHECKS),
    array_of(CHECKED),
    array_of(REPORT),
)


@njit
def _split(warp, targets, active, rpc):
    """Lanes go to their `targets`: an entry each above the one that waits at `rpc`. False if the stack is full."""
    top = warp.depth - 1
    call = warp.call[top]
    first = np.int64(-1)
    uniform = True
    for n in range(32):
        if (active >> n) & 1:
            if first < 0:
                first = targets[n]
            elif targets[n] != first:
                uniform = False
    if uniform:
        advance(warp, first)
        return True
    if rpc < 0 or warp.rpc[top] == rpc:
        top -= 1
    else:
        warp.pc[top] = rpc
    left = active
    for n in range(31, -1, -1):
        if (left >> n) & 1 == 0:
            continue
        group = np.int64(0)
        for other in range(32):
            if (left >> other) & 1 and targets[other] == targets[n]:
                group |= np.int64(1) << other
        left &= ~group
        if targets[n] == rpc:
            continue
        top += 1
        if top >= DEPTH:
            return False
        warp.pc[top], warp.rpc[top], warp.mask[top], warp.call[top] = targets[n], rpc, group, call
        warp.waits[top] = 0
    warp.depth = top + 1
    return True


@njit
def _leave(warp, leaving, call):
    """Lanes leave every entry of a call depth >= `call`."""
    for k in range(warp.depth):
        if warp.call[k] >= call:
            warp.mask[k] &= ~leaving
    top = warp.depth - 1
    while top >= 0 and warp.mask[top] == 0:
        top -= 1
    warp.depth = top + 1


@njit
def _come_back(x, warp, c, checked):
    """End the calls of which all lanes have come back or exited."""
    while True:
        depth = leave_call(
            x,
            warp.depth,
            warp.pc[:],
            warp.rpc[:],
            warp.call[:],
            warp.waits[:],
            warp.waits_since[:],
            warp.mask[:],
            warp.waiting_lanes[:],
        )
        if depth < 0:
            return
        warp.depth = depth
        execute(x, ~x.returned_call, x.returned_mask)
        if c.what and x.returned_mask:
            returned(c, checked, x, x.returned_call, x.returned_mask)
        if depth > 0:
            advance(warp, warp.pc[depth - 1])


@njit
def _attempt(x, c, reports, i, k, mask):
    """Execute record k: instruction i or a piece of it. Lanes with a bad access are left out; those that are left."""
    execute(x, k, mask)
    while c.what & MEMORY and (x.error == OUT_OF_BOUNDS or x.error == MISALIGNED):
        mask &= ~(np.int64(1) << fault(c, reports, x, i, k))
        x.access_mask = np.uint64(0)
        if mask:
            execute(x, k, mask)
    return mask


@njit
def _execute_checked(x, c, checked, reports, i, active, mask):
    """Execute an instruction under the checks, whole or in pieces."""
    before(c, reports, checked, x, i, active, mask)
    if mask and (checked[i].call >= 0 or checked[i].allocates):
        stack(c, checked, x, i, mask)
    if checked[i].pieces == checked[i].pieces_end:
        left = _attempt(x, c, reports, i, i, mask)
        accessed(c, reports, checked, x, i, i, left)
    else:
        left = mask
        for k in range(checked[i].pieces, checked[i].pieces_end):
            left = _attempt(x, c, reports, i, k, left)
            if x.error:
                return
            accessed(c, reports, checked, x, i, k, left)
    after(c, checked, x, i, mask)


@njit
def _ordered(x, c, checked, i):
    """What an instruction that was executed orders: for the checks."""
    orders, own = checked[i].orders, np.int64(1) << x.warp
    if orders & ORDERS_WARP:
        join(c, own, own)
    if orders & ACQUIRES and x.yields == 0:
        acquire(c, x.warp)
    if orders & RELEASES:
        release(c, x.warp)


@njit
def _open(c, barriers):
    """Barriers that have ended since: for the checks."""
    for number in range(N_BARRIERS):
        barrier = barriers[number]
        if barrier.released:
            join(c, barrier.came, barrier.released)
            barrier.released = 0


@njit
def _step(x, instructions, barriers, warps, n_warps, w, c, checked, reports):
    """Execute one instruction of warp w. False after a fault."""
    warp = warps[w]
    top = warp.depth - 1
    i = warp.pc[top]
    active = warp.mask[top]
    instruction = instructions[i]
    mask = guard_mask(x, i, active) if instruction.guard_row >= 0 else active
    if c.what:
        _execute_checked(x, c, checked, reports, i, active, mask)
    else:
        execute(x, i, mask)
    if x.error:
        return False
    kind = instruction.kind
    following = i + 1
    if kind == BRANCH and (mask == active or mask == 0):
        advance(warp, np.int64(instruction.target) if mask else following)
        return True
    if kind == BRANCH or kind == INDIRECT:
        for n in range(32):
            taken = (mask >> n) & 1 != 0
            if kind == BRANCH:
                x.lane_target[n] = np.int64(instruction.target) if taken else following
            elif not taken:
                x.lane_target[n] = following
        if not _split(warp, x.lane_target, active, np.int64(instruction.reconverge)):
            x.error = _OVERFLOW
            return False
        return True
    if kind == CALL and mask != 0:
        warp.pc[top] = following
        if top + 1 >= DEPTH:
            x.error = _OVERFLOW
            return False
        top += 1
        warp.pc[top], warp.rpc[top], warp.mask[top] = np.int64(instruction.target), np.int64(-1), mask
        warp.call[top], warp.waits[top] = warp.call[top - 1] + 1, 0
        warp.depth = top + 1
        return True
    if kind == INVOKE and mask != 0:
        depth = enter_call(
            x,
            i,
            instruction.target,
            mask,
            warp.depth,
            warp.pc[:],
            warp.rpc[:],
            warp.call[:],
            warp.waits[:],
            warp.waits_since[:],
            warp.mask[:],
            warp.waiting_lanes[:],
        )
        if depth > 0:
            warp.depth = depth
        return depth > 0
    if (kind == EXIT or kind == RETURN or instruction.exit_after) and mask != 0:
        if kind != RETURN and x.call_words:
            note_exit(x, mask)
        call = warp.call[top] if kind == RETURN else np.int64(0)
        _leave(warp, mask, call)
        if mask == active:
            if warp.depth > 0:
                advance(warp, warp.pc[warp.depth - 1])
            if x.call_words:
                _come_back(x, warp, c, checked)
            return True
    if kind == BARRIER and mask != 0:
        if c.what:
            reach(c, reports, x, i, instruction.barrier_aligned, mask, live_lanes(x, warp, w))
        arrive(x, barriers, warps, n_warps, w, instructions, i, mask)
        if c.what:
            _open(c, barriers)
    else:
        advance(warp, following)
    if c.what and mask != 0:
        if checked[i].copies:
            copied(c, checked, x, i, mask)
        if checked[i].orders:
            _ordered(x, c, checked, i)
    return True


@njit
def _stops(x, instructions, warp, w, c, checked):
    """Whether the loop stops before the next instruction of warp w, which is traced."""
    i = warp.pc[warp.depth - 1]
    if checked[i].traced == 0 or (c.traced_warps >> w) & 1 == 0 or c.stage == BEFORE:
        return False
    c.stage, c.traced_at, c.traced_warp = BEFORE, i, w
    c.traced_lanes = guard_mask(x, i, warp.mask[warp.depth - 1])
    return True


@njit
def _straight_on(x, instructions, warp, most):
    """Execute the instructions from the top's on that only compute and access memory, at most `most`; how many were
    executed. A fault leaves `error`, and where it was in `pc`."""
    top = warp.depth - 1
    first = np.int64(warp.pc[top])
    last = first + min(np.int64(instructions[first].straight), most)
    if first < warp.rpc[top] < last:
        last = np.int64(warp.rpc[top])
    if last == first:
        return np.int64(0)
    end = straight(x, first, last, warp.mask[top])
    if x.error:
        warp.pc[top] = end
    else:
        advance(warp, end)
    return end - first


@njit
def _turn(x, instructions, barriers, warps, n_warps, w, limit, c, checked, reports):
    """Run a warp until it ends, waits, yields or has had its share; the instructions executed, -1 after a fault, or
    _PAUSED."""
    warp = warps[w]
    x.warp = w
    x.yields = 0
    done = np.int64(0)
    while warp.depth > 0 and warp.waits[warp.depth - 1] == 0 and done < limit:
        if warp.pc[warp.depth - 1] >= len(instructions):
            _leave(warp, warp.mask[warp.depth - 1], 0)
            continue
        if c.what == 0:
            executed = _straight_on(x, instructions, warp, limit - done)
            if x.error:
                x.cycle = warp.pc[warp.depth - 1]
                return np.int64(-1)
            if executed:
                done += executed
                continue
        if c.what & TRACED and _stops(x, instructions, warp, w, c, checked):
            return np.int64(_PAUSED)
        if not _step(x, instructions, barriers, warps, n_warps, w, c, checked, reports):
            x.cycle = warp.pc[max(warp.depth - 1, 0)]
            return np.int64(-1)
        x.warp = w
        done += 1
        x.cycle += 1
        if c.stage == BEFORE and c.traced_warp == w:
            c.stage = BEHIND
            return np.int64(_PAUSED)
        if x.yields:
            break
    if warp.depth > 1 and (done == limit or (x.yields and c.in_vain > _TESTS)):
        take_turns(warp)
    return done


@njit
def _run_cta(xs, instructions, warps, barriers, cs, checked, reports, n_warps, limit):
    """Run the warps of a CTA to their end; the instructions executed, -1 after a fault, _PAUSED or _WATCHED.

    `limit` is the cycle, which is the number of instructions so far, that must not be passed.
    """
    x, c = xs[0], cs[0]
    half = x.host_bytes >> 1
    began = x.cycle
    first, c.next_warp = c.next_warp, 0  # where it paused
    while True:
        alive, ran, in_hope = False, first > 0, first > 0
        for w in range(first):
            alive |= warps[w].depth > 0
        for w in range(first, n_warps):
            done = _turn(x, instructions, barriers, warps, n_warps, w, SLICE, c, checked, reports)
            if x.cycle > limit and x.error == 0:
                x.error = _TOO_LONG
                return np.int64(-1)
            if done == _PAUSED or (done >= 0 and x.host_used > half):
                c.next_warp = w
                return np.int64(_PAUSED)
            if done < 0:
                return done
            ran |= done > 0
            in_hope |= done > 0 and x.yields == 0
            alive |= warps[w].depth > 0
        first = 0
        if not alive:
            return x.cycle - began
        c.in_vain = 0 if in_hope else c.in_vain + 1
        for number in range(N_BARRIERS):  # threads that have ended are not waited for
            if barriers[number].arrived and complete(x, barriers, warps, n_warps, instructions, number):
                ran = True
        if c.what:
            _open(c, barriers)
        if not ran:
            for w in range(n_warps):
                ran |= warps[w].depth > 1 and let_outer_run(warps[w])
        if not ran or c.in_vain > _PATIENCE:
            x.error = _DEADLOCK
            return np.int64(-1)
        if x.cycle >= c.watch:
            return np.int64(_WATCHED)


@njit
def _start_cta(xs, warps, barriers, special_rows, shared_image, block, grid, cta, n_warps):
    """Shared memory, stacks, barriers and registers of a CTA."""
    x = xs[0]
    for number in range(N_BARRIERS):
        barrier = barriers[number]
        barrier.arrived, barrier.counted, barrier.expected, barrier.holds, barrier.seen = 0, 0, 0, 0, 0
        barrier.released = 0
    memory = flat_u8(x.shared_memory, x.shared_bytes)
    for k in range(len(shared_image)):
        memory[k] = shared_image[k]
    threads = block[0] * block[1] * block[2]
    for w in range(n_warps):
        warp = warps[w]
        warp.depth, warp.waits[0] = 1, 0
        warp.pc[0], warp.rpc[0], warp.call[0] = 0, -1, 0
        lanes = min(32, threads - 32 * w)
        warp.mask[0] = (np.int64(1) << lanes) - 1
        x.warp = w
        cx, cy = cta % grid[0], cta // grid[0] % grid[1]
        init_warp(x, special_rows, w, cx, cy, cta // (grid[0] * grid[1]), block, grid, 0, w)


_EXTENT = types.Array(types.int64, 1, "C")


@entry(
    types.int64(
        *_ARGUMENTS,
        types.Array(types.int32, 2, "C"),
        types.Array(types.uint8, 1, "C"),
        _EXTENT,
        _EXTENT,
        types.int64,
        types.int64,
        types.int64,
        types.boolean,
    )
)
def _cta(
    xs,
    instructions,
    warps,
    barriers,
    cs,
    checked,
    reports,
    special_rows,
    shared_image,
    block,
    grid,
    cta,
    n_warps,
    limit,
    goes_on,
):
    """One CTA from start to end, or from where it paused."""
    c = cs[0]
    if not goes_on:
        _start_cta(xs, warps, barriers, special_rows, shared_image, block, grid, cta, n_warps)
        c.cta, c.in_vain = cta, 0
        if c.what:
            start(c, xs[0])
    return _run_cta(xs, instructions, warps, barriers, cs, checked, reports, n_warps, limit)


@dataclass(frozen=True)
class FunctionalResult:
    """What a functional run counts."""

    ctas: int
    warp_instructions: int
    problems: tuple[Diagnostic, ...] = ()
    """What the checks found."""
    lost_problems: int = 0
    """Findings for which there was no room."""
    printed: str = field(default="", repr=False)


def run(
    kernel: Function,
    grid: Sequence[int],
    block: Sequence[int],
    args: Sequence[Any],
    *,
    gpu: str | Gpu = "tesla-c2050",
    constants: Mapping[str, Any] | None = None,
    textures: Mapping[str, Any] | None = None,
    dynamic_shared: int = 0,
    limit: int = LIMIT,
    program: Program | None = None,
    check: Collection[str] = (),
    undefined: Sequence[Any] = (),
    output: Callable[[str], object] | None = None,
    trace: Trace | None = None,
    ptxplus_semantics: str = "hardware",
    names: Sequence[str] = (),
    stack_bytes: int = STACK_BYTES,
    heap_bytes: int = HEAP_BYTES,
) -> FunctionalResult:
    """Run a kernel without timing; arrays in `args` are updated in place. `names` are what reports call the arguments.

    What the kernel prints is in the result; `output` is called with pieces of it as they come.
    `limit` is the number of warp instructions of a CTA after which the run is given up (E408). Raises E401, E403 to
    E406 as a timed run does.
    """
    machine = load_gpu(gpu) if isinstance(gpu, str) else gpu
    block3, grid3 = (np.array([*v, *[1] * (3 - len(v))], np.int64) for v in (block, grid))
    if program is None:
        program = lower(kernel, machine, tuple(int(v) for v in block3), ptxplus_semantics, stack_bytes)
    n_warps = -(-int(block3.prod()) // 32)
    image = MemoryImage.build(
        program,
        kernel,
        machine,
        args,
        constants=constants,
        textures=textures,
        dynamic_shared=dynamic_shared,
        warp_slots=n_warps,
        names=names,
        heap_bytes=heap_bytes,
    )
    if len(image.shared_image) > MAX_SHARED:
        declared = len(image.shared_image) - dynamic_shared
        what = f"kernel '{kernel.name}' has {declared} bytes of shared memory"
        what += f" and {dynamic_shared} dynamic ones" if dynamic_shared else ""
        help_text = f"at most {MAX_SHARED} fit"
        raise error("E402", what, kernel.source, kernel.start, kernel.body_start, help_text)
    checks = Checks.build(kernel, program, image, n_warps, check_flags(check), undefined)
    printer = Printer(output)
    tracer = None if trace is None else Tracer(trace, program, image, checks, int(grid3.prod()), n_warps)
    launched = _Launched(kernel, program, image, checks, grid3, block3, limit, printer, tracer)
    launched.run()
    image.read_back()
    found = diagnostics(program, image, checks, block3.tolist(), grid3.tolist())
    lost = int(checks.state[0]["lost_reports"])
    return FunctionalResult(int(grid3.prod()), int(image.context[0]["cycle"]), found, lost, printer.text)


class _Launched:
    """The CTAs of a launch: one after the other, those that wait for others again behind them."""

    def __init__(
        self,
        kernel: Function,
        program: Program,
        image: MemoryImage,
        checks: Checks,
        grid: Any,
        block: Any,
        limit: int,
        printer: Printer,
        tracer: Tracer | None,
    ):
        self.kernel, self.program, self.image, self.checks = kernel, program, image, checks
        self.grid, self.block, self.limit = grid, block, limit
        self.in_step = in_lockstep(kernel)
        self.printer, self.tracer = printer, tracer
        self.n_warps = -(-int(block.prod()) // 32)
        self.warps, self.barriers = np.zeros(self.n_warps, WARP), np.zeros(N_BARRIERS, BARRIER_STATE)
        self.shared = np.zeros(max(256, len(image.shared_image) + 256), np.uint8)
        self.x = image.context[0]
        self.x["shared_memory"] = self.shared.ctypes.data + -self.shared.ctypes.data % 256
        own = [self.warps, self.barriers, self.shared, *image.of_cta]
        self.watch = Watch([*own, image.arena])
        self.residents = Residents([*own, *checks.of_cta])
        self.executed: dict[int, int] = {}
        """Of the CTAs that were put aside: their instructions."""

    def run(self) -> None:
        """Run all CTAs to their end. Raises for a fault, for too many instructions, and for a deadlock."""
        for cta in range(int(self.grid.prod())):
            if not self._run_cta(cta, fresh=True):
                self._put_aside(cta)
        before = b""
        while self.residents.aside:
            memory = digest([self.image.arena])
            if memory == before:
                raise self._deadlock(next(iter(self.residents.aside)))
            before = memory
            for cta in list(self.residents.aside):
                self.residents.bring_back(cta)
                if self._run_cta(cta, fresh=False):
                    before = b""
                else:
                    self._put_aside(cta)

    def _put_aside(self, cta: int) -> None:
        if len(self.residents.aside) == MOST_ASIDE:
            raise self._deadlock(cta)
        self.residents.put_aside(cta)

    def _run_cta(self, cta: int, fresh: bool) -> bool:
        """Run a CTA to its end, or until it can only repeat itself: False."""
        state, begun = self.checks.state[0], int(self.x["cycle"])
        state["cta"] = cta
        state["watch"] = begun + FIRST_LOOK
        self.watch.begin()
        if self.tracer is not None:
            self.tracer.begin(cta)
        last = begun + self.limit - self.executed.get(cta, 0)
        goes_on = not fresh
        while True:
            with np.errstate(all="ignore"):
                done = _cta(
                    self.image.context,
                    self.program.instructions,
                    self.warps,
                    self.barriers,
                    self.checks.state,
                    self.checks.checked,
                    self.checks.reports,
                    self.program.special_rows,
                    self.image.shared_image,
                    self.block,
                    self.grid,
                    cta,
                    self.n_warps,
                    last,
                    goes_on,
                )
            goes_on = True
            self.printer.take(self.image)
            if done == _PAUSED:
                if self.tracer is not None:
                    self.tracer.stopped(cta)
            elif done == _WATCHED:
                if self.watch.repeats() and not self._loosened():
                    self.executed[cta] = self.executed.get(cta, 0) + int(self.x["cycle"]) - begun
                    return False
                state["watch"] = int(self.x["cycle"]) + self.watch.interval
            elif done < 0:
                raise self._fault(cta)
            else:
                return True

    def _loosened(self) -> bool:
        """Whether lanes of a warp can go on that wait for others of their warp."""
        if self.in_step or not loosen(self.program, self.warps):
            return False
        self.watch.begin()
        return True

    def _fault(self, cta: int) -> PtxError:
        x = self.x
        kind, i = int(x["error"]), min(int(x["cycle"]), len(self.program.instructions) - 1)
        if kind == _DEADLOCK:
            return self._deadlock(cta)
        where = f"kernel '{self.kernel.name}', CTA {_place(cta, self.grid)}"
        if kind == _TOO_LONG:
            text, i, _ = standing(self.program, self.warps)
            what = f"{self.limit} warp instructions are not enough: {where}{': ' if text else ''}{text}"
            help_text = "see whether the loop ends; --max-instructions (max_instructions) allows more"
            return error("E408", what, *self.program.span(i), help_text)
        number = int(x["warp"]) * 32 + int(x["error_lane"])
        code, what, help_text = described(self.program, self.image, kind, self.printer.assertion)
        where += f", thread {_place(number, self.block)}"
        return error(code, f"{what} in '{self.program.texts[i]}': {where}", *self.program.span(i), help_text)

    def _deadlock(self, cta: int) -> PtxError:
        """Nobody can go on: where the warps of a CTA are."""
        if cta in self.residents.aside:
            others = len(self.residents.aside) - 1
            self.residents.bring_back(cta)
        else:
            others = len(self.residents.aside)
        text, i, at_barriers = standing(self.program, self.warps)
        code, title = ("E406", "a barrier can never complete") if at_barriers else ("E407", "deadlock")
        help_text = "every warp has to reach the same barrier"
        if not at_barriers:
            help_text = "nobody is left who could change what the loop waits for: look who should"
        more = f"; {others} more CTAs wait too" if others else ""
        where = f"kernel '{self.kernel.name}', CTA {_place(cta, self.grid)}"
        return error(code, f"{title}: {where}: {text}{more}", *self.program.span(i), help_text)


def _place(number: int, sizes: Any) -> str:
    return f"({number % sizes[0]},{number // sizes[0] % sizes[1]},{number // (sizes[0] * sizes[1])})"
