"""Which units of the register file hold a value at every instruction of a kernel with physical registers.

For the passes after `demote`, which put more values in registers. Sets are integers: bit u is unit u of the general
file. Per thread, after instruction i,

    after(i) = units of the registers that are live after i (`ptxtool.analysis.flow.liveness`)
    busy(i)  = after(i) | before(i) | units of all registers that i names

A unit that is not in busy(i) can be written before i and read after it. The plain problem counts a read under a guard
as one of any earlier value. Here it counts as one of the value that an instruction directly before it wrote under the
same guard, as the load, the instruction and the store of a demoted register do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from ptxtool.analysis.flow.liveness import live_registers
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.base.bits import indices
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.defuse import DefUse, OperandAccesses
from ptxtool.ir.nodes import Function, Guard


@dataclass(frozen=True)
class UnitLiveness:
    """Per instruction sets of units; `mask[k]` are those of register k. Blocks are those of `cfg`."""

    cfg: Cfg
    mask: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    busy: tuple[int, ...]


def unit_liveness(kernel: Function) -> UnitLiveness:
    """The units in use around every instruction. Raises `PtxError` (E202) on an undeclared label."""
    cfg = build(kernel, interprocedural=True)
    mask = unit_masks(kernel)
    rivals = _rivals(mask)
    own_reads = _own_reads(kernel, cfg)
    live = live_registers(cfg, _without(kernel.def_uses, own_reads))
    before, after = [0] * len(kernel.instructions), [0] * len(kernel.instructions)
    for block in cfg.blocks:
        held = _Held(mask, rivals, live.block_out[block.index])
        for i, begins, ends in live.steps(block.index):
            after[i] = held.units
            held.remove(ends)
            held.add(begins)
            before[i] = held.units
    for i, k, write in own_reads:
        for point in range(write, i):
            after[point] |= mask[k]
            before[point + 1] |= mask[k]
    named = (reduce(or_, (mask[k] for k in step.touched), 0) for step in kernel.def_uses)
    busy = tuple(a | b | c for a, b, c in zip(before, after, named, strict=True))
    return UnitLiveness(cfg, mask, tuple(before), tuple(after), busy)


class _Held:
    """The units of a set of registers, some of which may share units."""

    def __init__(self, mask: Sequence[int], rivals: Sequence[Sequence[int]], registers: int):
        self._mask, self._rivals = mask, rivals
        self._live: set[int] = set()
        self.units = 0
        self.add(indices(registers))

    def add(self, registers: Iterable[int]) -> None:
        self._live.update(registers)
        for k in registers:
            self.units |= self._mask[k]

    def remove(self, registers: Iterable[int]) -> None:
        self._live.difference_update(registers)
        for k in registers:
            self.units &= ~self._mask[k]
            for other in self._rivals[k]:
                if other in self._live:
                    self.units |= self._mask[other]


def _rivals(mask: Sequence[int]) -> list[list[int]]:
    """Per register the others that share a unit with it."""
    of_unit: dict[int, list[int]] = {}
    for k, units in enumerate(mask):
        for unit in indices(units):
            of_unit.setdefault(unit, []).append(k)
    return [
        [other for unit in indices(units) for other in of_unit[unit] if other != k]
        for k, units in enumerate(mask)
    ]


def unit_masks(kernel: Function) -> tuple[int, ...]:
    """Per register the units of the general file that its name means, as a set; none of predicates."""
    places = map(units_of, kernel.registers)
    return tuple(((1 << p.units) - 1) << p.first if p and p.file == "general" else 0 for p in places)


def _own_reads(kernel: Function, cfg: Cfg) -> list[tuple[int, int, int]]:
    """Reads of what an instruction directly before wrote under the same guard: reader, register, writer."""
    found: list[tuple[int, int, int]] = []
    operands, resolve = OperandAccesses(kernel), kernel.registers.resolve_index
    for block in cfg.blocks:
        guard: tuple[int, Guard] | None = None
        written: dict[int, int] = {}
        for i in block.instructions:
            step, node = kernel.def_uses[i], kernel.instructions[i]
            now = None if node.guard is None else (resolve(node.guard.name, i), node.guard)
            if now is None or now != guard:
                guard, written = now, {}
            if guard is None:
                continue
            found += [(i, k, written[k]) for k in step.uses if k in written]
            writes = [w for access in operands.of(i, node) if access for w in access.writes]
            written |= {resolve(name, i): i for name, is_whole in writes if is_whole}
            if guard[0] in step.defs:
                guard = None
    return found


def _without(def_uses: Sequence[DefUse], reads: Sequence[tuple[int, int, int]]) -> tuple[DefUse, ...]:
    found = [*def_uses]
    for i, k, _ in reads:
        step = found[i]
        found[i] = DefUse(step.defs, step.kills, tuple(u for u in step.uses if u != k), step.touched)
    return tuple(found)
