"""The text of a kernel with demoted registers: for `demote`.

Every instruction that names a demoted register is printed again with the value register in its place, the loads before
it and the stores after it. The slots of a register of 64 bits are accessed half by half:

    ld.shared.b32 %r10, [%r8+1024];          mov.b64 {%r10, %r11}, %rd5;
    ld.shared.b32 %r11, [%r8+1536];          st.shared.b32 [%r8+1024], %r10;
    mov.b64 %rd5, {%r10, %r11};              st.shared.b32 [%r8+1536], %r11;

PTXPlus names pairs by their halves, which are registers of their own there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

from ptxtool.analysis.demotion.candidates import Candidate
from ptxtool.analysis.regalloc.physical import UNIT_BITS, units_of
from ptxtool.ir.defuse import OperandAccesses
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function
from ptxtool.passes.lines import after_declarations
from ptxtool.passes.regalloc.instruction_text import InstructionText
from ptxtool.passes.regalloc.physical_names import PhysicalNames, unused_name
from ptxtool.passes.regalloc.renaming import indent_at
from ptxtool.passes.regalloc.slot_code import SlotCode
from ptxtool.validate.assignment.thread_slots import VARIABLE


@dataclass(frozen=True)
class Demotion:
    """The registers of a kernel that get slots, in this order, for CTAs of at most so many threads.

    `start` is the first byte of shared memory that a kernel of PTXPlus does not use.
    """

    kernel: Function
    chosen: tuple[Candidate, ...]
    threads: int
    start: int = 0


def address_unit(kernel: Function) -> int:
    """The unit of the new address register, after all of the kernel's; the value register after it is even."""
    places = filter(None, map(units_of, kernel.registers))
    return max((p.first + p.units for p in places if p.file == "general"), default=0) | 1


class DemotedText:
    """The edits of one kernel, and the origins of its instructions for the proof."""

    def __init__(self, demotion: Demotion):
        self.kernel, self.threads = demotion.kernel, demotion.threads
        self._chosen = demotion.chosen
        self._names, self._operands = PhysicalNames(demotion.kernel), OperandAccesses(demotion.kernel)
        registers = demotion.kernel.registers
        self._address = address_unit(demotion.kernel)
        self._value = self._address + 1
        name = unused_name(demotion.kernel, VARIABLE)
        address = self._name(UNIT_BITS, self._address)
        self._code = SlotCode(demotion.kernel, name, demotion.threads, address, demotion.start)
        self._slot: dict[int, int] = {}  # by unit
        for candidate in demotion.chosen:
            for unit in range(candidate.first, candidate.first + candidate.units):
                self._slot[unit] = len(self._slot)
        self._new_name: dict[int, str] = {}  # by register
        for candidate in demotion.chosen:
            for k in candidate.registers:
                unit = self._value + units_of(registers[k]).first - candidate.first  # type: ignore[union-attr]
                self._new_name[k] = self._names.of("general", registers[k].bits, unit)

    @cached_property
    def _lines(self) -> dict[int, tuple[list[str], str, list[str]]]:
        """Per changed instruction: what is before it, itself, what is after it."""
        changed = sorted({i for candidate in self._chosen for i in candidate.instructions})
        return {i: self._changed(i) for i in changed}

    def edits(self) -> Iterator[TextEdit]:
        kernel = self.kernel
        yield from self._code.head_edits()
        place = after_declarations(kernel)
        slots = self._code.declaration(len(self._slot))
        # after the kernel's own variables, which keep their addresses
        yield TextEdit(
            place, place, "".join(f"\n\t{line}" for line in (slots, *self._declarations(), *self._entry))
        )
        for i, (before, text, after) in self._lines.items():
            node = kernel.instructions[i]
            newline = f"\n{indent_at(kernel, node.start)}"
            yield TextEdit(node.start, node.end, newline.join((*before, text, *after)))

    def origins(self) -> Iterator[int]:
        """Per instruction of the new text the index of the old one, -1 for none."""
        yield from repeat(-1, len(self._entry))
        for i in range(len(self.kernel.instructions)):
            before, _, after = self._lines.get(i, ((), "", ()))
            yield from (*repeat(-1, len(before)), i, *repeat(-1, len(after)))

    def _declarations(self) -> Iterator[str]:
        """The new registers, by width."""
        names = {(32, self._name(32, self._address)), (32, self._name(32, self._value))}
        registers = self.kernel.registers
        names.update((registers[k].bits, name) for k, name in self._new_name.items())
        if any(bits == 64 for bits, _ in names):
            names.add((32, self._name(32, self._value + 1)))
        for bits in sorted({bits for bits, _ in names}):
            declared = ", ".join(sorted(name for width, name in names if width == bits))
            yield f".reg .{'u' if self.kernel.registers.is_ptxplus else 'b'}{bits} {declared};"

    @cached_property
    def _entry(self) -> list[str]:
        return [*self._code.entry(self._name(UNIT_BITS, self._value))]

    def _changed(self, i: int) -> tuple[list[str], str, list[str]]:
        """The lines before an instruction, the instruction, the lines after it."""
        kernel, step, node = self.kernel, self.kernel.def_uses[i], self.kernel.instructions[i]
        text = InstructionText(kernel, i)
        changed = text.head + text.body_with(self._new_name.get)
        read = [k for k in step.uses if k in self._new_name]
        written = [k for k in step.defs if k in self._new_name]
        parts = self._written_in_part(i)
        if node.guard is None:
            return [*self._loads((*read, *parts))], changed, [*self._stores(written)]
        is_wide = any(kernel.registers[k].bits > UNIT_BITS for k in (*read, *written))
        if parts or is_wide or kernel.registers.resolve_index(node.guard.name, i) in step.defs:
            # a result in the place of a source has no other value to keep
            sources = {unit for k in read for unit in self._units(k)}
            kept = [k for k in written if k in read or sources.isdisjoint(self._units(k))]
            return [*self._loads((*read, *kept))], changed, [*self._stores(written)]
        condition = f".{node.guard.condition}" if node.guard.condition else ""
        guard = f"@{'!' if node.guard.negated else ''}{node.guard.name}{condition} "
        return [*self._loads(read, guard)], changed, [*self._stores(written, guard)]

    def _written_in_part(self, i: int) -> list[int]:
        """The demoted registers that an instruction writes, but not all of their bits."""
        writes = [
            w for access in self._operands.of(i, self.kernel.instructions[i]) if access for w in access.writes
        ]
        found = [self.kernel.registers.resolve_index(name, i) for name, is_whole in writes if not is_whole]
        return [k for k in found if k in self._new_name]

    def _loads(self, registers: Iterable[int], guard: str = "") -> Iterator[str]:
        for k in dict.fromkeys(registers):
            bits, halves = self.kernel.registers[k].bits, [*self._halves(k)]
            for name, slot in halves:
                yield guard + self._code.load(name, min(bits, UNIT_BITS), slot)
            if bits > UNIT_BITS:
                yield f"{guard}mov.b64 {self._new_name[k]}, {{{halves[0][0]}, {halves[1][0]}}};"

    def _stores(self, registers: Iterable[int], guard: str = "") -> Iterator[str]:
        for k in registers:
            bits, halves = self.kernel.registers[k].bits, [*self._halves(k)]
            if bits > UNIT_BITS:
                yield f"mov.b64 {{{halves[0][0]}, {halves[1][0]}}}, {self._new_name[k]};"
            for name, slot in halves:
                yield guard + self._code.store(name, min(bits, UNIT_BITS), slot)

    def _halves(self, k: int) -> Iterator[tuple[str, int]]:
        """The new name of a register and its slot; of 64 bits those of its halves."""
        register = self.kernel.registers[k]
        for unit in sorted(self._units(k)):
            is_half = register.bits > UNIT_BITS
            name = self._name(UNIT_BITS, self._value + unit % 2) if is_half else self._new_name[k]
            yield name, self._slot[unit]

    def _units(self, k: int) -> set[int]:
        """The units that a demoted register means."""
        place = units_of(self.kernel.registers[k])
        assert place is not None
        return {*range(place.first, place.first + place.units)}

    def _name(self, bits: int, unit: int) -> str:
        return self._names.of("general", bits, unit)
