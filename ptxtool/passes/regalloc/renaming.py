"""The text of a function whose registers have an assignment: for `allocate`, `compact` and `split-tail-ranges`.

Every instruction keeps its text but for the names of registers (`new_names.py`). Inserted instructions
(`inserted_code.py`) stand on lines of their own before or after the one they belong to, or before it on its line where
it shares that with a label. The declarations of registers are deleted, the new ones take the place of the first.
Copies of a unit to itself are deleted, as are definitions of constants that are computed anew where they are read.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, repeat
from operator import eq

from ptxtool.analysis.flow.copies import is_copy
from ptxtool.analysis.regalloc.assignment import Assignment
from ptxtool.base.bits import indices
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Declaration, Function, Instruction, Label, ScopeOpen
from ptxtool.passes.regalloc.inserted_code import InsertedCode
from ptxtool.passes.regalloc.instruction_text import InstructionText
from ptxtool.passes.regalloc.new_names import NewNames
from ptxtool.passes.regalloc.physical_names import DeclaredNames, PhysicalNames
from ptxtool.passes.regalloc.register_words import MARKED, TOKEN, Words
from ptxtool.passes.regalloc.shared_slots import SharedSlots

_AT_ONCE = 256
"""The most instructions whose text is split into words at a time."""
_MARK = ".pragma"
_BLANKS = re.compile(r"[^\S\n]*")


@dataclass(frozen=True)
class Renamed:
    """The edits of one function, and per instruction of the new text the index of the old one, -1 for none."""

    edits: tuple[TextEdit, ...]
    origins: Sequence[int]
    n_copies: int


def rename(function: Function, assignment: Assignment, slots: SharedSlots | None = None) -> Renamed:
    """The edits that give a function the registers of an assignment, whose slots are in shared memory if `slots`."""
    physical = PhysicalNames(function)
    names = NewNames(function, assignment, physical)
    changes = _InstructionChanges(names, slots)
    if slots is None:
        new = _declarations(physical, names)
        edits = [*changes.edits(), *_declaration_edits(function, new)]
        return Renamed(tuple(edits), array("i", changes.origins()), changes.n_copies)
    words = names.general(32)
    code = slots.code(words[slots.unit])
    entry = [*code.entry(words[0])]
    new = [code.declaration(slots.n_words), *physical.declarations(names.n_used()), *entry]
    edits = [*code.head_edits(), *changes.edits(), *_declaration_edits(function, new)]
    origins = array("i", chain(repeat(-1, len(entry)), changes.origins()))
    return Renamed(tuple(edits), origins, changes.n_copies)


def rename_among_declared(function: Function, assignment: Assignment) -> Renamed:
    """The same where the units of the assignment are the indices of registers that are declared already."""
    changes = _InstructionChanges(NewNames(function, assignment, DeclaredNames(function)))
    return Renamed(tuple(changes.edits()), array("i", changes.origins()), changes.n_copies)


class _InstructionChanges:
    """What changes besides the names that registers have everywhere.

    By instruction: `names_at` names that differ from one to another, `texts` whole texts, `before` and `after` the
    inserted lines; `deleted` instructions have neither.
    """

    def __init__(self, names: NewNames, slots: SharedSlots | None = None):
        assignment = names.assignment
        self._function, self._names = names.function, names
        self.everywhere, others, temporaries = names.everywhere()
        self.names_at = names.of_temporaries(temporaries) if names.are_marked else {}
        self.texts: dict[int, str] = {}
        self.deleted: set[int] = {*assignment.spills.dropped}
        self.before: dict[int, list[str]] = {}
        self.after: dict[int, list[str]] = {}
        self._rename(others)
        inserted = InsertedCode(names, slots)
        for i, is_after, kind, temporary, value, is_guarded in assignment.spills.insertions:
            if i not in self.deleted:
                lines = self.after if is_after else self.before
                lines.setdefault(i, []).extend(inserted.lines(i, kind, temporary, value, is_guarded))
        copies = [*self._copies()]
        self.n_copies = len(copies)
        self.deleted.update(copies)
        self._changed = sorted({*self.before, *self.after, *self.texts, *self.deleted})

    def _rename(self, others: AbstractSet[int]) -> None:
        """Find the names of all registers at every instruction that names one of these."""
        for i, step in enumerate(self._names.assignment.ranges.def_uses) if others else ():
            if others.isdisjoint(step.touched) or i in self.deleted:
                continue
            old, found = [*map(self._names.old.__getitem__, step.uses + step.defs)], self._names.at(i)
            names = dict(zip(old, found, strict=True))
            # whether a register that is read and written keeps its unit
            is_simple = len(names) == len(found) or all(map(eq, map(names.get, old), found))
            if is_simple and self._names.are_marked:
                self.names_at.update({(i, name): new for name, new in names.items()})
            else:
                self.texts[i] = InstructionText(self._function, i).renamed(step, found)

    def _copies(self) -> Iterator[int]:
        """Instructions that would copy a unit to itself."""
        for i in self._function.at_bases("mov"):
            step = self._names.assignment.ranges.def_uses[i]
            if not len(step.uses) == len(step.defs) == 1 or i in self.deleted:
                continue
            if i in self.before or i in self.after or self._names.spelling[step.uses[0]] is None:
                continue
            source, target = self._names.at(i)
            if source == target and is_copy(self._function, i):
                yield i

    def edits(self) -> Iterator[TextEdit]:
        """One edit for the instructions between two declarations, or for a part of them: words take much memory."""
        instructions, changed = self._function.instructions, self._changed
        declared = [n for n, s in self._function.other_statements if type(s) is Declaration]
        first = 0
        for end in sorted({*declared, *range(0, len(instructions), _AT_ONCE), len(instructions)}):
            if end <= first:
                continue
            start, _ = _line(self._function, instructions[first])
            _, stop = _line(self._function, instructions[end - 1])
            pattern = MARKED if self._names.are_marked else TOKEN
            words = Words(self._function.source.text, start, stop, pattern, self.everywhere)
            if self.names_at:
                words.rename(first, [node.start for node in instructions[first:end]], self.names_at)
            self._change(words, changed[bisect_left(changed, first) : bisect_left(changed, end)])
            yield TextEdit(start, stop, words.text())
            first = end

    def _change(self, words: Words, changed: Sequence[int]) -> None:
        """Change these instructions, the last first, so that the text before them keeps its offsets."""
        nodes = [self._function.instructions[i] for i in changed]
        places = words.places([node.start for node in nodes], [node.end for node in nodes])
        function, deleted = self._function, self.deleted
        before, after, texts = self.before, self.after, self.texts
        for i, node, (first, last) in zip(reversed(changed), reversed(nodes), reversed(places), strict=True):
            if i in deleted:
                words.replace(first, last, *_line(function, node), "")
                continue
            newline = f"\n{indent_at(function, node.start)}" if i in before or i in after else ""
            if i in after:
                words.insert(last, node.end, newline + newline.join(after[i]))
            if i in texts:
                words.replace(first, last, node.start, node.end, texts[i])
            if i in before:
                words.insert(first, node.start, newline.join(before[i]) + newline)

    def origins(self) -> Iterator[int]:
        """Per instruction of the new text the index of the old one."""
        done = 0
        for i in self._changed:
            yield from range(done, i)
            if i not in self.deleted:
                yield from repeat(-1, sum(not line.startswith(_MARK) for line in self.before.get(i, ())))
                yield i
                yield from repeat(-1, len(self.after.get(i, ())))
            done = i + 1
        yield from range(done, len(self._function.instructions))


def indent_at(function: Function, offset: int) -> str:
    """The blanks before a new line beside the statement at an offset."""
    text = function.source.text
    if text.startswith("\n\t", offset - 2):  # as compilers write it
        return "\t"
    start = function.source.line_starts[function.source.line(offset) - 1]
    return text[start : _BLANKS.match(text, start, offset).end()] or "\t"  # type: ignore[union-attr]  # matches ""


def _line(function: Function, node: Instruction | Declaration) -> tuple[int, int]:
    """The start and end of a statement's line, or of the statement if it shares its line."""
    text, start = function.source.text, node.start
    while start and text[start - 1].isspace() and text[start - 1] != "\n":
        start -= 1
    stop = _BLANKS.match(text, node.end).end()  # type: ignore[union-attr]  # matches ""
    is_alone = text.startswith("\n", stop) and (not start or text[start - 1] == "\n")
    return (start, stop + 1) if is_alone else (node.start, node.end)


# ---- declarations


def _declaration_edits(function: Function, new: Sequence[str]) -> Iterator[TextEdit]:
    """Delete the old declarations of registers; put new ones in the place of the first, or at the head of the body."""
    others = function.other_statements
    old = [s for _, s in others if type(s) is Declaration and s.space == "reg"]
    # the first of declarations, blocks, labels and instructions
    n_before, first = next(
        ((n, s) for n, s in others if type(s) in (Declaration, Label, ScopeOpen)), (0, None)
    )
    place = old[0].start if old and not n_before and first is old[0] else -1
    for declaration in old:
        if declaration.start == place and new:
            indent = indent_at(function, place)
            yield TextEdit(declaration.start, declaration.end, f"\n{indent}".join(new))
        else:
            yield TextEdit(*_line(function, declaration), "")
    if place < 0 and new:
        start = function.body_start + 1
        yield TextEdit(start, start, "".join(f"\n\t{line}" for line in new))


def _declarations(physical: PhysicalNames, names: NewNames) -> list[str]:
    """The new declarations; in PTXPlus as the converter prints them: general, address and condition registers, the
    zero register, the sink."""
    frame, used = names.assignment.frame_bytes, names.assignment.used
    if not physical.is_ptxplus:
        lines = physical.declarations(names.n_used())
        return [f".local .align 16 .b8 {physical.spills}[{frame}];", *lines] if frame else lines
    lines = [f".local .b8 l0[{frame}];"] if frame else []
    lines.append(f".reg .u32 $r<{max(used['general'], 1)}>;")
    if used["address"]:
        lines.append(f".reg .u32 $ofs<{used['address']}>;")
    lines.append(f".reg .pred $p<{max(used['predicate'], 4)}>;")
    registers = names.function.registers
    declared = {registers.name_of(k) for k in indices(registers.special_bits)}
    return lines + [f".reg .u32 {name};" for name in ("$r124", "$o127") if name in declared]
