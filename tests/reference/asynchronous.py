"""Asynchronous copies, asynchronous stores and mbarriers of the reference interpreter.

For `reference_steps.py`. A copy is made when it is issued, the lanes one after the other, byte by byte. The 64 bits of
an mbarrier are a number written in a mixed base: phase parity, layout, pending count, expected count, and tx-count.

Reference: NVIDIA, "Parallel Thread Execution ISA", 9.7.9.25 (asynchronous copies), 9.7.13.15 (mbarrier).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ptxtool.ir.nodes import Immediate, Instruction, Name, Operand
from ptxtool.isa.literals import integer
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES
from reference.access import Step, memory_operand, space_named
from reference.decode import Operands, Reader, Unsupported, Warp, access, check_alignment
from reference.memory import CTA_BYTES, Fault
from reference.numbers import LANES, Raw
from reference.op import Op
from reference.ops import Bools

Maker = Callable[[Instruction, Match, Op, int], Step]

_U32, _U64 = TYPES["u32"], TYPES["u64"]
_COUNTS = 1 << 20  # more than the counts of an mbarrier reach


@dataclass
class Mbarrier:
    """The state of an mbarrier."""

    phase: int
    pending: int
    expected: int
    tx: int
    layout: int

    @classmethod
    def of(cls, bits: int) -> "Mbarrier":
        bits, phase = divmod(bits, 2)
        bits, layout = divmod(bits, 2)
        bits, pending = divmod(bits, _COUNTS)
        tx, expected = divmod(bits, _COUNTS)
        return cls(phase, pending, expected, tx - _COUNTS, layout)

    @property
    def bits(self) -> int:
        counts = ((self.tx + _COUNTS) * _COUNTS + self.expected) * _COUNTS + self.pending
        return (counts * 2 + self.layout) * 2 + self.phase

    def end_phase(self) -> None:
        if self.pending <= 0 and self.tx == 0:
            self.phase = 1 - self.phase
            self.pending = self.expected


class Asynchronous:
    """The part of the decoder that knows copies and mbarriers."""

    operands: Operands
    _st: Maker
    _red: Maker

    def _cp_async(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        to, of, size_operand, *more = instruction.operands
        if not isinstance(size_operand, Immediate):
            raise Unsupported("a size that is no number")
        size = integer(size_operand.text)
        target = self.operands.address(memory_operand(to), "shared", i)
        source = self.operands.address(memory_operand(of), "global", i)
        limit = self._limit(match, more, size, i)

        def step(warp: Warp) -> None:
            lanes = np.flatnonzero(warp.executing)
            targets, sources, limits = target(warp), source(warp), limit(warp)
            check_alignment(targets[lanes], size)
            for position, lane in enumerate(lanes.tolist()):
                only, count = np.array([lane]), min(int(limits[lane]), size)
                try:
                    if count:
                        check_alignment(sources[only], size)
                    for k in range(size):
                        at = np.uint64(k)
                        byte = (
                            access(warp, "global", sources[only] + at, only, 1)
                            if k < count
                            else np.zeros(1, np.uint64)
                        )
                        access(warp, "shared", targets[only] + at, only, 1, byte)
                except Fault as fault:
                    fault.position = position
                    raise

        return step

    def _limit(self, match: Match, more: list[Operand], size: int, i: int) -> Reader:
        """How many bytes are read."""
        if not {"read", "skip"} & {o.name for o in match.form.operands}:
            return lambda warp: np.full(LANES, size, np.uint64)
        operand = more[0]
        name = operand if isinstance(operand, Name) else getattr(operand, "operand", None)
        if isinstance(name, Name) and self.operands.is_predicate(name, i):
            ignored = self.operands.truth(operand, i)
            return lambda warp: np.where(ignored(warp), np.uint64(0), np.uint64(size))
        return self.operands.read(operand, _U32, i)

    def _mbarrier_step(
        self,
        instruction: Instruction,
        match: Match,
        at: int,
        i: int,
        change: Callable[[Warp, int, Mbarrier], None],
        result: Callable[..., None] | None = None,
    ) -> Step:
        """Change the mbarrier of operand `at`, lane after lane; `result` writes the states before."""
        memory = memory_operand(instruction.operands[at])
        space = self.operands.space(memory, space_named(match))
        address = self.operands.address(memory, space, i)
        if match.one_of("multicast::cluster::32b"):
            return self._in_each_cta(address, self.operands.read(instruction.operands[-1], _U32, i), change)

        def step(warp: Warp) -> None:
            old = np.zeros(LANES, np.uint64)
            lanes, where = np.flatnonzero(warp.executing), address(warp)
            check_alignment(where[lanes], 8)
            for position, lane in enumerate(lanes.tolist()):
                only = np.array([lane])
                try:
                    old[only] = access(warp, space, where[only], only, 8)
                    state = Mbarrier.of(int(old[lane]))
                    change(warp, lane, state)
                    if state.bits != int(old[lane]):
                        access(warp, space, where[only], only, 8, np.array([state.bits], np.uint64))
                except Fault as fault:
                    fault.position = position
                    raise
            if result is not None:
                result(warp, old, warp.executing)

        return step

    def _in_each_cta(
        self, address: Reader, mask: Reader, change: Callable[[Warp, int, Mbarrier], None]
    ) -> Step:
        """Change the mbarriers at an address's offset in the CTAs of a mask, lane after lane."""

        def step(warp: Warp) -> None:
            for position, lane in enumerate(np.flatnonzero(warp.executing).tolist()):
                offset = int(address(warp)[lane]) % CTA_BYTES
                for rank in (r for r in range(32) if int(mask(warp)[lane]) >> r & 1):
                    where, only = np.array([(rank + 1) * CTA_BYTES + offset], np.uint64), np.array([lane])
                    try:
                        check_alignment(where, 8)
                        state = Mbarrier.of(int(access(warp, "shared", where, only, 8)[0]))
                        change(warp, lane, state)
                        access(warp, "shared", where, only, 8, np.array([state.bits], np.uint64))
                    except Fault as fault:
                        fault.position = position
                        raise

        return step

    def _st_async(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        store, count = self._st(instruction, match, op, i), match.one_of("v2", "v4")
        return self._then_complete(store, instruction, match, op.type.bits // 8 * int(count[1:] or 1), i)

    def _red_async(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return self._then_complete(
            self._red(instruction, match, op, i), instruction, match, op.type.bits // 8, i
        )

    def _then_complete(
        self, step: Step, instruction: Instruction, match: Match, n_bytes: int, i: int
    ) -> Step:
        """A store, then complete-tx on the mbarrier of the third operand."""

        def change(warp: Warp, lane: int, state: Mbarrier) -> None:
            state.tx -= n_bytes
            state.end_phase()

        complete = self._mbarrier_step(instruction, match, 2, i, change)

        def both(warp: Warp) -> None:
            step(warp)
            complete(warp)

        return both

    def _mbarrier_init(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        counts = self.operands.read(instruction.operands[1], _U32, i)

        def change(warp: Warp, lane: int, state: Mbarrier) -> None:
            state.phase, state.tx, state.layout = 0, 0, int(op.has("layout::v1"))
            state.pending = state.expected = int(counts(warp)[lane])

        return self._mbarrier_step(instruction, match, 0, i, change)

    def _mbarrier_inval(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        def change(warp: Warp, lane: int, state: Mbarrier) -> None:
            state.phase = state.pending = state.expected = state.tx = state.layout = 0

        return self._mbarrier_step(instruction, match, 0, i, change)

    def _mbarrier_bytes(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        n_bytes = self.operands.read(instruction.operands[1], _U32, i)
        sign = 1 if "expect" in match.form.base else -1

        def change(warp: Warp, lane: int, state: Mbarrier) -> None:
            state.tx += sign * int(n_bytes(warp)[lane])
            state.end_phase()

        return self._mbarrier_step(instruction, match, 0, i, change)

    def _mbarrier_arrive(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        named = {spec.name: o for spec, o in zip(match.operands, instruction.operands, strict=False)}
        given = [self.operands.read(named[n], _U32, i) for n in ("count", "bytes") if n in named]
        drops = "drop" in match.form.base

        def change(warp: Warp, lane: int, state: Mbarrier) -> None:
            number = int(given[0](warp)[lane]) if given else 1
            count = 1 if op.has("expect_tx") else number
            if op.has("expect_tx"):
                state.tx += number
            if drops:
                state.expected -= count
            state.pending -= count
            if not op.has("noComplete"):
                state.end_phase()

        write = self.operands.write(instruction.operands[0], _U64, i)
        return self._mbarrier_step(instruction, match, 1, i, change, write)

    def _mbarrier_copies(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        def change(warp: Warp, lane: int, state: Mbarrier) -> None:
            if not op.has("noinc"):
                state.pending += 1
            state.pending -= 1
            state.end_phase()

        return self._mbarrier_step(instruction, match, 0, i, change)

    def _mbarrier_test(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        by_parity = op.has("parity")
        names = [o.name for o in match.form.operands]
        at = names.index("mbar")
        of = self.operands.read(instruction.operands[at + 1], _U32 if by_parity else _U64, i)
        write, write_report = self.operands.write_pair(instruction.operands[0], i)
        value = self.operands.write(instruction.operands[1], TYPES["b8"], i) if "report" in names else None
        done = np.zeros(LANES, np.bool_)

        def look(warp: Warp, lane: int, state: Mbarrier) -> None:
            # parity of a phase, or the state that an arrival in it gave: both have it in bit 0
            done[lane] = state.phase != int(of(warp)[lane]) & 1

        def tell(warp: Warp, old: Raw, lanes: Bools) -> None:
            write(warp, done.copy(), lanes)
            write_report(warp, np.zeros(LANES, np.bool_), lanes)  # no copy reports that it has failed
            if value is not None:
                value(warp, np.zeros(LANES, np.uint64), lanes)

        return self._mbarrier_step(instruction, match, at, i, look, tell)

    def _mbarrier_layout(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        write, _ = self.operands.write_pair(instruction.operands[0], i)
        found = np.zeros(LANES, np.bool_)

        def look(warp: Warp, lane: int, state: Mbarrier) -> None:
            found[lane] = state.layout == op.has("layout::v1")

        return self._mbarrier_step(
            instruction, match, 1, i, look, lambda warp, old, lanes: write(warp, found.copy(), lanes)
        )

    def _mbarrier_pending(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        state = self.operands.read(instruction.operands[1], _U64, i)
        write = self.operands.write(instruction.operands[0], _U32, i)

        def step(warp: Warp) -> None:
            counts = [Mbarrier.of(int(bits)).pending for bits in state(warp)]
            write(warp, np.array(counts, np.uint64), warp.executing)

        return step
