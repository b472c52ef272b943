"""The instructions that an assignment inserts: spills, reloads, copies, rematerialised constants, saved predicates,
marks around extended registers.

For `renaming.py`. A spill or reload that is only needed where a guarded instruction runs has the same guard.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ptxtool.analysis.demotion.targets import WORD_BYTES
from ptxtool.analysis.regalloc.spills import InsertionKind
from ptxtool.ir.marks import ACQUIRE_EXTENDED, RELEASE_EXTENDED
from ptxtool.passes.regalloc.instruction_text import InstructionText
from ptxtool.passes.regalloc.new_names import NewNames
from ptxtool.passes.regalloc.physical_names import PhysicalNames, Spelling
from ptxtool.passes.regalloc.shared_slots import SharedSlots


class _SpillAccess(NamedTuple):
    """The text of a spilled value's load and store around the name of its temporary, which ends a store."""

    spelling: Spelling
    load: str
    address: str
    store: str


class InsertedCode:
    """The text of inserted instructions, one or several for each insertion of the assignment."""

    def __init__(self, names: NewNames, slots: SharedSlots | None = None):
        self._slots = slots
        self._names, self._assignment, self._function = names, names.assignment, names.function
        self._accesses: dict[int, _SpillAccess] = {}  # by value

    def lines(
        self, i: int, kind: InsertionKind, temporary: int, value: int, is_guarded: bool
    ) -> Sequence[str]:
        """The instructions of one insertion at instruction i, or its mark."""
        if kind == "acquire" or kind == "release":
            return [f'.pragma "{ACQUIRE_EXTENDED if kind == "acquire" else RELEASE_EXTENDED}";']
        if (kind == "load" or kind == "store") and self._slots is not None:
            guard = self._guard(i) if is_guarded else ""
            return [*self._in_shared(self._slots, kind, temporary, value, guard)]
        if kind == "load" or kind == "store":
            access = self._accesses.get(value) or self._access(value)
            name = access.spelling[self._assignment.unit[temporary]]
            line = f"{access.load}{name}{access.address}" if kind == "load" else f"{access.store}{name};"
            return [self._guard(i) + line if is_guarded else line]
        if kind == "compute":
            return [self._computed(k, temporary) for k in self._assignment.spills.rematerialised[value]]
        bits, is_ptxplus = self._names.bits(value), self._names.spelled.is_ptxplus
        name = self._names.of(temporary, bits)
        if kind == "copy" or kind == "copy-back":
            type_, other = "u32" if is_ptxplus else f"b{bits}", self._names.of(value, bits)
            to, source = (name, other) if kind == "copy" else (other, name)
            return [f"mov.{type_} {to}, {source};"]
        spills = self._assignment.spills
        word = self._names.of(spills.at(spills.word[value], i), 32)
        if kind == "restore":
            return [f"mov.pred {name}, {word};" if is_ptxplus else f"setp.ne.b32 {name}, {word}, 0;"]
        return [f"mov.u32 {word}, {name};" if is_ptxplus else f"selp.b32 {word}, 1, 0, {name};"]

    def _access(self, value: int) -> _SpillAccess:
        offset, bits = self._assignment.slot[value], self._names.bits(value)
        if self._names.spelled.is_ptxplus:
            address, type_ = f"[0x{offset:04x}]", "u32"
        else:
            spelled = self._names.spelled
            assert isinstance(spelled, PhysicalNames), "among declared names nothing is spilled"
            spills = spelled.spills
            address, type_ = f"[{spills}+{offset}]" if offset else f"[{spills}]", f"b{bits}"
        load, store = f"ld.local.{type_} ", f"st.local.{type_} {address}, "
        found = _SpillAccess(self._names.spelling_of(value, bits), load, f", {address};", store)
        self._accesses[value] = found
        return found

    def _in_shared(
        self, slots: SharedSlots, kind: InsertionKind, temporary: int, value: int, guard: str
    ) -> Iterator[str]:
        """The accesses to the words of a slot; of a value of 64 bits through the halves of its register."""
        bits, unit = self._names.bits(value), self._assignment.unit[temporary]
        words = self._names.general(32)
        n_words = max(1, bits // 32)
        parts = (
            [words[unit + k] for k in range(n_words)] if n_words > 1 else [self._names.of(temporary, bits)]
        )
        whole, first = self._names.of(temporary, bits), self._assignment.slot[value] // WORD_BYTES
        code = slots.code(words[slots.unit])
        if kind == "store" and n_words > 1:
            yield f"mov.b{bits} {{{', '.join(parts)}}}, {whole};"
        for word, part in enumerate(parts, first):
            access = code.load if kind == "load" else code.store
            yield guard + access(part, min(bits, 32), word)
        if kind == "load" and n_words > 1:
            yield f"mov.b{bits} {whole}, {{{', '.join(parts)}}};"

    def _guard(self, i: int) -> str:
        """The guard of an instruction of PTX, as text before another one."""
        guard, ranges = self._function.instructions[i].guard, self._assignment.ranges
        assert guard is not None, "of an instruction that has one"
        k = self._function.registers.resolve_index(guard.name, i)
        web = ranges.reads[i][ranges.def_uses[i].uses.index(k)]
        spelling = self._names.spelling[k]
        unit = self._assignment.unit
        name = self._names.old[k] if spelling is None else spelling[unit[self._assignment.spills.at(web, i)]]
        return f"@{'!' if guard.negated else ''}{name} "

    def _computed(self, index: int, temporary: int) -> str:
        """An instruction that computes a constant, with the temporary as result and source."""
        unit = self._assignment.unit[temporary]

        def name(k: int) -> str | None:
            spelling = self._names.spelling[k]
            return None if spelling is None else spelling[unit]

        text = InstructionText(self._function, index)
        return " ".join((text.head + text.body_with(name)).split())
