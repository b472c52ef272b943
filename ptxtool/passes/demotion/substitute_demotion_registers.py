"""substitute-demotion-registers: use free registers in place of the one value register of demoted registers.

    ld.shared.b32 %r9, [%r8];            ld.shared.b32 %r3, [%r8];
    add.s32 %r2, %r9, 1;                 add.s32 %r2, %r3, 1;
    ld.shared.b32 %r9, [%r8+512];        ld.shared.b32 %r9, [%r8+512];
    mul.lo.s32 %r2, %r2, %r9;            mul.lo.s32 %r2, %r2, %r9;
    ld.shared.b32 %r9, [%r8];            ld.shared.b32 %r3, [%r8];        (%r3 has the value already)

`demote` uses one value register for all slots, which therefore holds one demoted register at a time. In a basic block
the value register's life falls into *pieces*: from a write, before which it is dead, to the last read of that value,
together with the accesses to the slot. A load of the value that the register still holds (`redundant_accesses.py`)
belongs to the piece before it, so that it stays redundant. Successive pieces with the same slot get another register, a
pair for 64 bits, if its units are free from the first of them to the last; the slots with the most loads in the block
choose first. Of several registers it is the one that is free for longest before, of equal ones the lowest. Values of
several slots are then in registers at a time, so that `drop-redundant-demotions` finds more loads whose register has
the value, and `hoist-demotion-loads` can move loads further.

Only units that the kernel names already are used, and a thread needs no more registers than before. In PTXPlus two
registers that an instruction wants side by side are a pair.

Pre: a kernel whose demoted registers are its threads' own (E301). Post: the same instructions with other registers
(checked by `ptxtool.validate.slot_accesses`).
Not handled: values that live across blocks, and those in flight of asynchronous instructions.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 3.4.2; there a register must be free in the whole block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Annotated, ClassVar, NamedTuple

from ptxtool.analysis.demotion.unit_budget import UnitBudget
from ptxtool.analysis.regalloc.physical import GENERAL_LIMIT
from ptxtool.base.bits import indices
from ptxtool.base.phrases import counted
from ptxtool.cfg.blocks import Block
from ptxtool.ir.defuse import adjacent_words
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Shown
from ptxtool.passes.demotion.demoted_kernels import transform_demoted
from ptxtool.passes.demotion.redundant_accesses import equal_already
from ptxtool.passes.lines import after_declarations
from ptxtool.passes.regalloc.instruction_text import InstructionText
from ptxtool.passes.regalloc.physical_names import PhysicalNames
from ptxtool.validate.assignment.private_slots import PrivateSlots


@dataclass(frozen=True)
class SubstituteDemotionRegisters:
    """Use free registers in place of the value register of demoted registers."""

    kernel: Annotated[str, Shown("NAME", "default: all")] = ""
    name: ClassVar[str] = "substitute-demotion-registers"

    def run(self, module: Module) -> PassResult:
        return transform_demoted(module, self.name, self.kernel, _substituted)


def _substituted(kernel: Function, found: PrivateSlots, budget: UnitBudget) -> tuple[Iterator[TextEdit], str]:
    one = _Substitution(kernel, found, budget)
    n = sum(one.in_block(block) for block in one.live.cfg.blocks)
    if not n:
        return iter(()), "nothing to do: no register is free where it is needed"
    accesses = sum(i in found.accesses for i in one.names)
    of = f"{accesses} of {counted(len(found.accesses), 'access', 'accesses')}"
    return one.edits(), f"{of} to slots with other registers ({counted(n, 'substitution')})"


FAR = 100
"""Instructions that hide the latency of a load, whatever it is: no choice of a register looks further."""
_EVEN = sum(1 << unit for unit in range(0, GENERAL_LIMIT + 1, 2))


class _Piece(NamedTuple):
    """Instructions of a block, by index, between which a value is in some units, and the slots it belongs to."""

    instructions: tuple[int, ...]
    units: int
    slots: frozenset[int]


@dataclass
class _Substitution:
    """The new names in one kernel, found block by block."""

    kernel: Function
    found: PrivateSlots
    budget: UnitBudget
    names: dict[int, dict[int, str]] = field(default_factory=dict)
    """By instruction, the new names of registers."""
    declared: dict[str, int] = field(default_factory=dict)
    """New names with their bits."""

    def __post_init__(self) -> None:
        self.live = self.budget.live
        self._names = PhysicalNames(self.kernel)
        self._busy = [*self.live.busy]
        masks = self.live.mask
        for first, end in equal_already(self.kernel, self.found, self.budget):
            for i in range(first, end):
                self._busy[i] |= masks[self.found.accesses[end].register]
        self._touched = [[k for k in step.touched if masks[k]] for step in self.kernel.def_uses]
        self._together = [{masks[k] for k in touched} for touched in self._touched]
        if self.kernel.registers.is_ptxplus:
            for i, together in enumerate(self._together):
                together.update(_tuples(self.kernel, i))
        named = in_flight = 0
        for i, touched in enumerate(self._touched):
            units = reduce(or_, (masks[k] for k in touched), 0)
            named |= units
            if self.kernel.instructions[i].opcode.base in ("wgmma", "tcgen05"):
                in_flight |= units
        addresses = (masks[k] for k in (self.found.slots.base, *self.found.temporaries))
        self._free = named & ~reduce(or_, addresses, in_flight)

    def in_block(self, block: Block) -> int:
        """Substitute registers in a block; how often."""
        of_slots: dict[frozenset[int], list[_Piece]] = {}
        for piece in sorted(self._pieces(block)):
            of_slots.setdefault(piece.slots, []).append(piece)
        if len(of_slots) < 2:
            return 0

        def loads(pieces: Sequence[_Piece]) -> int:
            accesses = (self.found.accesses.get(i) for piece in pieces for i in piece.instructions)
            return sum(access is not None and access.is_load for access in accesses)

        ordered = sorted(of_slots.values(), key=lambda pieces: (-loads(pieces), pieces[0].instructions))
        return sum(self._substitute(pieces, block) for pieces in ordered)

    def _pieces(self, block: Block) -> Iterator[_Piece]:
        """The pieces inside a block, each with the slots of one demoted register."""
        masks, together = self.live.mask, self._together
        groups: dict[int, None] = {}
        for i in block.instructions:
            if i in self.found.accesses:
                groups[masks[self.found.accesses[i].register]] = None
        pairs = {
            units
            for i in block.instructions
            for units in together[i]
            if units.bit_count() == 2 and any(units & group for group in groups)
        }
        for group in (*pairs, *(g for g in groups if not any(g & pair for pair in pairs))):
            yield from self._pieces_of(block, group)

    def _pieces_of(self, block: Block, group: int) -> Iterator[_Piece]:
        """The pieces of some units that begin and end in a block."""
        live = self.live
        inside: list[int] = []
        for i in block.instructions:
            is_live = self.budget.before[i] & group
            if not any(live.mask[k] & group for k in self._touched[i]) or (is_live and not inside):
                continue
            if not is_live:
                yield from self._piece(inside, group)
                inside = []
            inside.append(i)
        if not live.after[block.last] & group:
            yield from self._piece(inside, group)

    def _piece(self, inside: Sequence[int], group: int) -> Iterator[_Piece]:
        """The piece that some instructions are, if it has the slots of one register."""
        accesses = (self.found.accesses.get(i) for i in inside)
        slots = frozenset(access.slot.offset for access in accesses if access is not None)
        masks = {units for i in inside for units in self._together[i] if units & group}
        units = max(masks, key=int.bit_count, default=0)
        size = units.bit_count()
        is_apart = all(not mask & ~group for mask in masks) and (size == 2 or len(masks) == 1)
        if slots and len(slots) == size <= 2 and is_apart:
            yield _Piece(tuple(inside), units, slots)

    def _substitute(self, pieces: Sequence[_Piece], block: Block) -> int:
        """Give successive pieces other registers, as many as possible the same; how often."""
        n = first = 0
        while first < len(pieces):
            end, free = self._longest(pieces[first:])
            units = self._choice(pieces[first : first + end], free, block)
            if units:
                self._rename(pieces[first : first + end], units)
                n += 1
            first += end
        return n

    def _longest(self, pieces: Sequence[_Piece]) -> tuple[int, int]:
        """How many of the first pieces some units can hold, at least 1, and the set of units that can.

        Of pairs the set has the first unit.
        """
        n_units = pieces[0].units.bit_count()
        units, found = self._free, 0
        end = pieces[0].instructions[0]
        for n, piece in enumerate(pieces):
            start, last = piece.instructions[0], piece.instructions[-1]
            is_apart = piece.units.bit_count() == n_units and (n == 0 or start >= end)
            if not is_apart or (n and not self._have_room(end, start, n_units)):
                return max(n, 1), found
            for i in range(end, last + 1):
                units &= ~self._busy[i]
            free = units if n_units == 1 else units & units >> 1 & _EVEN
            if not free:
                return max(n, 1), found
            found, end = free, last + 1
        return len(pieces), found

    def _have_room(self, first: int, last: int, n_units: int) -> bool:
        """Whether the budget has room for more units before each of some instructions."""
        before, limit = self.budget.before, self.budget.limit
        return all(before[i].bit_count() + n_units <= limit for i in range(first, last + 1))

    def _choice(self, pieces: Sequence[_Piece], free: int, block: Block) -> int:
        """Of some units the ones that are free for longest before the pieces, so that loads can move; 0 for none."""
        mask = (1 << pieces[0].units.bit_count()) - 1
        fitting = [mask << first for first in indices(free) if self._can_name(pieces, mask << first)]
        start = pieces[0].instructions[0]
        for i in reversed(range(max(block.start, start - FAR), start)):
            longer = [units for units in fitting if not self._busy[i] & units]
            if not longer:
                break
            fitting = longer
        return fitting[0] if fitting else 0

    def _new_names(self, piece: _Piece, units: int) -> Iterator[tuple[int, int, str]]:
        """Per instruction and register of a piece the new name."""
        registers, live = self.kernel.registers, self.live
        shift = units.bit_length() - piece.units.bit_length()
        for i in piece.instructions:
            for k in self._touched[i]:
                if live.mask[k] & piece.units:
                    unit = (live.mask[k] & -live.mask[k]).bit_length() - 1 + shift
                    yield i, k, self._names.of("general", registers[k].bits, unit)

    def _can_name(self, pieces: Sequence[_Piece], units: int) -> bool:
        """Whether the names of units are free, or declared for values of any type."""
        registers = self.kernel.registers
        for piece in pieces:
            for i, k, name in self._new_names(piece, units):
                known, bits = registers.resolve(name, i), registers[k].bits
                any_type = known is None or known.is_ptxplus or known.type == f"b{bits}"
                if known is not None and not (any_type and known.vector == 1 and known.bits == bits):
                    return False
        return True

    def _rename(self, pieces: Sequence[_Piece], units: int) -> None:
        """Have some units in place of those of the pieces, and in use between them."""
        before = self.budget.before
        for piece in pieces:
            for i, k, name in self._new_names(piece, units):
                self.names.setdefault(i, {})[k] = name
                if self.kernel.registers.resolve(name, i) is None:
                    self.declared[name] = self.kernel.registers[k].bits
            first, last = piece.instructions[0], piece.instructions[-1]
            for i in range(first, last + 1):
                self._busy[i] &= ~piece.units
            for i in range(first + 1, last + 1):
                before[i] &= ~piece.units
        first, last = pieces[0].instructions[0], pieces[-1].instructions[-1]
        for i in range(first, last + 1):
            self._busy[i] |= units
        for i in range(first + 1, last + 1):
            before[i] |= units

    def edits(self) -> Iterator[TextEdit]:
        """The instructions with the new names, and declarations of those that the kernel does not have."""
        kernel = self.kernel
        place = after_declarations(kernel)
        for bits in sorted(set(self.declared.values())):
            names = ", ".join(sorted(name for name, width in self.declared.items() if width == bits))
            yield TextEdit(place, place, f"\n\t.reg .b{bits} {names};")
        for i, new in sorted(self.names.items()):
            node, text = kernel.instructions[i], InstructionText(kernel, i)
            yield TextEdit(node.start, node.end, text.head + text.body_with(new.get))


def _tuples(kernel: Function, i: int) -> Iterator[int]:
    """PTXPlus: the units that an instruction wants side by side, declared or not."""
    for names, _ in adjacent_words(kernel, i):
        numbers = (name.removeprefix("$r") for name in names)
        yield reduce(or_, (1 << int(digits) for digits in numbers if digits.isdecimal()), 0)
