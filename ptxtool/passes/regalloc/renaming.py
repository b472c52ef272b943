"""The text of a function whose registers have found their places: what `allocate` and `compact` have in common.

Every instruction keeps its text but for the names of registers; inserted instructions stand on lines of their own in
front of or behind the one they belong to, or before it on its line where it shares one with a label. Declarations of
registers go, new ones stand where the first stood. Copies of a place to itself and definitions of constants that are
computed anew where they are read go as well.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import repeat
from operator import eq
from typing import NamedTuple

from ptxtool.analysis.flow.copies import is_copy
from ptxtool.analysis.regalloc.assignment import Assignment
from ptxtool.analysis.regalloc.spills import InsertionKind
from ptxtool.ir.defuse import roles
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Declaration, Function, Instruction, Memory, ScopeOpen
from ptxtool.isa.table import table
from ptxtool.passes.regalloc.physical_names import DeclaredNames, PhysicalNames, Spelling, other_names
from ptxtool.passes.regalloc.register_words import HEAD, MARKED, TOKEN, Words, operands


@dataclass(frozen=True)
class Renamed:
    """The edits of one function, and per instruction of the new text the index of the old one, -1 for none."""

    edits: tuple[TextEdit, ...]
    origins: tuple[int, ...]
    n_copies: int


def rename(function: Function, assignment: Assignment) -> Renamed:
    """The edits that give a function the registers of an assignment."""
    return _Renamer(function, assignment, PhysicalNames(function)).run()


def rename_among_declared(function: Function, assignment: Assignment) -> Renamed:
    """The same where the units of the assignment are the indices of registers that are declared already."""
    return _Renamer(function, assignment, DeclaredNames(function)).run()


class _Slot(NamedTuple):
    """How a spilled value is loaded and stored: what stands around the name of its temporary, which ends a store."""

    spelling: Spelling
    load: str
    address: str
    store: str


class _Renamer:
    def __init__(self, function: Function, assignment: Assignment, names: PhysicalNames | DeclaredNames):
        self.function = function
        self.registers = function.registers
        self.assignment = assignment
        self.spills = assignment.spills
        self.names = names
        self.text = function.source.text
        self.n_copies = 0
        self.old_names: dict[int, str] = {}  # of the registers that have webs
        self.spellings: dict[tuple[str, int], Spelling] = {}  # by file and width
        # by register that has webs; None for those of the head
        self.spelling: dict[int, Spelling | None] = {}
        self.web_names: list[str | None] = []  # by web, None where temporaries stand for it
        self.slots: dict[int, _Slot] = {}  # by spilled value
        self.words = MARKED  # what finds the names of registers, `TOKEN` where some have no mark
        # what changes by instruction: names that are not the same everywhere, whole texts, and what goes
        self.names_at: dict[tuple[int, str], str] = {}
        self.texts: dict[int, str] = {}
        self.deleted: set[int] = {*self.spills.dropped}
        # the lines inserted before and behind instructions, as they stand in the text, and how many
        self.before: dict[int, str] = {}
        self.behind: dict[int, str] = {}
        self.n_before: dict[int, int] = {}
        self.n_behind: dict[int, int] = {}

    def run(self) -> Renamed:
        """What is between two declarations is one edit: the names that registers have everywhere are put in at once,
        all else by instruction."""
        new_names, others = self._settled()
        self._find_names(others)
        self._find_lines()
        self._find_copies()
        instructions = self.function.instructions
        changed = sorted({*self.before, *self.behind, *self.texts, *self.deleted})
        edits: list[TextEdit] = []
        for first, last in self._runs():
            start, end = self._line(instructions[first])[0], self._line(instructions[last - 1])[1]
            words = Words(self.text, start, end, self.words, new_names)
            if self.names_at:
                words.rename(first, [node.start for node in instructions[first:last]], self.names_at)
            self._change(words, changed[bisect_left(changed, first) : bisect_left(changed, last)])
            edits.append(TextEdit(start, end, words.text()))
        if isinstance(self.names, PhysicalNames):
            edits += self._declarations(self.names)
        return Renamed(tuple(edits), tuple(self._origins(changed)), self.n_copies)

    def _runs(self) -> Iterator[tuple[int, int]]:
        """The instructions between two declarations: the first, and the one behind the last."""
        first = 0
        declared = [n for n, statement in self.function.other_statements if type(statement) is Declaration]
        for end in (*declared, len(self.function.instructions)):
            if end > first:
                yield first, end
                first = end

    def _change(self, words: Words, changed: Sequence[int]) -> None:
        """Change these instructions, the last first, so that what stands before them keeps its place."""
        texts, deleted, before, behind = self.texts, self.deleted, self.before, self.behind
        nodes = [self.function.instructions[i] for i in changed]
        places = words.places([node.start for node in nodes], [node.end for node in nodes])
        for i, node, (first, last) in zip(reversed(changed), reversed(nodes), reversed(places), strict=True):
            if i in deleted:
                words.replace(first, last, *self._line(node), "")
                continue
            if i in behind:
                words.insert(last, node.end, behind[i])
            if i in texts:
                words.replace(first, last, node.start, node.end, texts[i])
            if i in before:
                words.insert(first, node.start, before[i])

    def _origins(self, changed: Sequence[int]) -> Iterator[int]:
        """Per instruction of the new text the index of the old one."""
        done = 0
        n_before, n_behind, deleted = self.n_before, self.n_behind, self.deleted
        for i in changed:
            yield from range(done, i)
            if i not in deleted:
                yield from repeat(-1, n_before.get(i, 0))
                yield i
                yield from repeat(-1, n_behind.get(i, 0))
            done = i + 1
        yield from range(done, len(self.function.instructions))

    def _settled(self) -> tuple[dict[str, str], set[int]]:
        """The new names of registers that are called the same everywhere; the other registers.

        Of these, the ones whose only value has left are a temporary wherever they are named: `names_at` gets it.
        """
        registers, spills, n = self.assignment.ranges.register, self.spills, len(self.assignment.ranges)
        webs = dict(zip(reversed(registers), reversed(range(n)), strict=True))  # the first of each
        self._find_spellings(webs)
        names, spellings, web_names = self.old_names, self.spelling, self.web_names
        left = {web for web in spills.spilled if web < n}
        moved = {web for web, _ in spills.temporary if web < n} - left  # elsewhere at some instructions
        gone, others = {registers[web] for web in left}, {registers[web] for web in moved}
        for web in moved:
            web_names[web] = None
        if len(webs) < n:
            for web, k in enumerate(registers):
                name = web_names[web]
                if webs[k] != web and (name is None or name != web_names[webs[k]]):
                    others.add(k)
        others.update(k for k, spelling in spellings.items() if spelling is None)
        owner = dict(zip(names.values(), names, strict=True))
        if len(owner) < len(names):  # blocks that hide names
            hidden = [k for k, name in names.items() if owner[name] != k]
            others.update(hidden, [owner[names[k]] for k in hidden])
        words = {*self.function.bases, *other_names(self.function)}
        others.update(owner[name] for name in owner.keys() & words)
        if self.words is MARKED:
            self._name_temporaries(gone - others)
        else:
            others |= gone
        new_names = {
            names[k]: name
            for k, web in webs.items()
            if k not in others and (name := web_names[web]) is not None
        }
        return new_names, others

    def _find_spellings(self, webs: Mapping[int, int]) -> None:
        """How registers were called, and how their webs are from now on. `webs` are the first webs of registers."""
        registers, names, spellings = self.assignment.ranges.register, self.old_names, self.spelling
        for indices in self.registers.by_declarator(sorted(webs)):
            names.update(zip(indices, self.registers.names_of(indices), strict=True))
            if names[indices[0]][0] not in "%$":
                self.words = TOKEN
            first = self.registers[indices[0]]
            file = self.spills.file(webs[indices[0]])
            bits = 1 if first.is_predicate else first.bits
            spelling = None if file == "head" else self._spelling(file, bits)
            spellings.update(dict.fromkeys(indices, spelling))
        units = map(self.assignment.unit.get, range(len(registers)))  # none of what has left its file
        self.web_names = [
            names[k] if spelling is None else None if unit is None else spelling[unit]
            for k, spelling, unit in zip(registers, map(spellings.get, registers), units, strict=True)
        ]

    def _name_temporaries(self, gone: Container[int]) -> None:
        """The names of what stands for the values of some registers, which have left."""
        registers, n = self.assignment.ranges.register, len(self.assignment.ranges)
        old_names, spellings, unit = self.old_names, self.spelling, self.assignment.unit
        self.names_at = {
            (i, old_names[k]): spellings[k][unit[temporary]]  # type: ignore[index]  # none of the head
            for (web, i), temporary in self.spills.temporary.items()
            if web < n and (k := registers[web]) in gone
        }

    def _find_names(self, others: Set[int]) -> None:
        """Wherever instructions name these registers, the names of all their registers there, or the whole text."""
        if not others:
            return
        for i, step in enumerate(self.assignment.ranges.def_uses):
            if others.isdisjoint(step.touched) or i in self.deleted:
                continue
            old, found = [*map(self.old_names.__getitem__, step.uses + step.defs)], self._names(i)
            names = dict(zip(old, found, strict=True))
            # whether a register that is read and written keeps its place
            is_simple = len(names) == len(found) or all(map(eq, map(names.get, old), found))
            if is_simple and self.words is MARKED:
                self.names_at.update({(i, name): new for name, new in names.items()})
            else:
                self.texts[i] = self._renamed_by_role(i, found)

    def _find_copies(self) -> None:
        """Instructions that would copy a place to itself."""
        def_uses = self.assignment.ranges.def_uses
        for i in self.function.at_bases("mov"):
            step = def_uses[i]
            if not len(step.uses) == len(step.defs) == 1 or i in self.deleted:
                continue
            if i in self.before or i in self.behind or self.spelling[step.uses[0]] is None:
                continue
            source, target = self._names(i)
            if source == target and is_copy(self.function, i):
                self.n_copies += 1
                self.deleted.add(i)
                self.texts.pop(i, None)

    # ---- names

    def _spelling(self, file: str, bits: int) -> Spelling:
        found = self.spellings.get((file, bits))
        if found is None:
            found = self.spellings[file, bits] = Spelling(self.names, file, bits)
        return found

    def _bits(self, value: int) -> int:
        """The width of a value that is no temporary."""
        ranges = self.assignment.ranges
        spelling = self.spelling[ranges.register[value]] if value < len(ranges) else None
        return spelling.bits if spelling is not None else 32  # beyond the webs are words

    def _name(self, value: int, bits: int) -> str:
        """The name of a value's place, spelled for a width."""
        return self._spelling(self.spills.file(value), bits)[self.assignment.unit[value]]

    def _names(self, i: int) -> list[str]:
        """The new names of the registers that an instruction reads and then of those that it writes."""
        ranges, temporary, unit = self.assignment.ranges, self.spills.temporary, self.assignment.unit
        step, names, spelling = ranges.def_uses[i], self.web_names, self.spelling
        return [
            names[web] or spelling[k][unit[temporary.get((web, i), web)]]  # type: ignore[index]  # none of the head
            for k, web in zip(step.uses + step.defs, ranges.reads[i] + ranges.writes[i], strict=True)
        ]

    # ---- instructions

    def _indent(self, offset: int) -> str:
        if self.text.startswith("\n\t", offset - 2):  # as compilers write it
            return "\t"
        start = self.text.rfind("\n", 0, offset) + 1
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip())] or "\t"

    def _renamed_by_role(self, i: int, found: Sequence[str]) -> str:
        """An instruction's text with these names of the registers that it reads and then of those that it writes, where
        names have no marks, or mean one place where they are read and another where written."""
        node, step = self.function.instructions[i], self.assignment.ranges.def_uses[i]
        text = self.text[node.start : node.end]
        read = dict(zip(step.uses, found, strict=False))
        written = dict(zip(step.defs, found[len(step.uses) :], strict=True))
        resolve = self.registers.resolve_index

        def replace(names: Callable[[int], str | None]) -> Callable[[re.Match[str]], str]:
            def one(hit: re.Match[str]) -> str:
                token = hit.group()
                k = resolve(token, i) if token[0] not in '/"' else -1
                return (names(k) if k >= 0 else None) or token

            return one

        def either(k: int) -> str | None:
            return written[k] if k in written else read.get(k)

        head_hit = HEAD.match(text)
        if head_hit is None:  # a comment inside the head: no register can be mistaken for an opcode there
            head_end = 0
        else:
            head_end = head_hit.end()
        head = text[:head_end]
        if node.guard is not None:
            head = re.sub(r"[%$A-Za-z_][\w$]*", replace(read.get), head, count=1)
        if all(read.get(k, new) == new for k, new in written.items()):
            body = TOKEN.sub(replace(either), text[head_end:])
        else:
            match = table().match(node.opcode.text, len(node.operands), self.registers.is_ptxplus)
            kinds = roles(node, match)
            pieces = operands(text[head_end:])
            body = ""
            for number, piece in enumerate(pieces):
                operand = node.operands[number] if number < len(node.operands) else None
                is_result = number < len(kinds) and kinds[number] == "w" and not isinstance(operand, Memory)
                names = written.get if is_result else read.get
                body += TOKEN.sub(replace(lambda k, names=names: names(k) or either(k)), piece)  # type: ignore[misc]
        return head + body

    def _line(self, node: Instruction | Declaration) -> tuple[int, int]:
        """Where the line of a statement starts and ends, of the statement itself if it does not stand alone there."""
        start, end = node.start, node.end
        line = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", end)
        if stop >= 0 and not self.text[line:start].strip() and not self.text[end:stop].strip():
            return line, stop + 1
        return start, end

    # ---- what is inserted

    def _find_lines(self) -> None:
        """The instructions that stand before or behind others, a line each."""
        instructions, deleted, is_ptxplus = self.function.instructions, self.deleted, self.names.is_ptxplus
        unit, slots = self.assignment.unit, self.slots
        at, indent = -1, ""  # the instruction, and its indent
        for i, is_behind, kind, temporary, value, is_guarded in self.spills.insertions:
            if i in deleted:
                continue
            if i != at:
                at, indent = i, f"\n{self._indent(instructions[i].start)}"
            n_lines = 1
            if kind == "load" or kind == "store":
                slot = slots.get(value) or self._slot(value)
                name = slot.spelling[unit[temporary]]
                line = f"{slot.load}{name}{slot.address}" if kind == "load" else f"{slot.store}{name};"
                if is_guarded:
                    line = self._guard(i) + line
            elif kind == "compute":
                lines = self._computed(value, temporary)
                n_lines, line = len(lines), indent.join(lines)
            elif kind == "copy":
                name, source = (self._name(v, self._bits(value)) for v in (temporary, value))
                line = f"mov.{'u32' if is_ptxplus else f'b{self._bits(value)}'} {name}, {source};"
            else:
                line = self._moved(i, kind, temporary, value)
            if is_behind:
                self.behind[i] = f"{self.behind.get(i, '')}{indent}{line}"
                self.n_behind[i] = self.n_behind.get(i, 0) + n_lines
            else:
                self.before[i] = f"{self.before.get(i, '')}{line}{indent}"
                self.n_before[i] = self.n_before.get(i, 0) + n_lines

    def _moved(self, i: int, kind: InsertionKind, temporary: int, value: int) -> str:
        """Between a predicate and its word."""
        name = self._name(temporary, self._bits(value))
        word = self._name(self.spills.at(self.spills.word[value], i), 32)
        if self.names.is_ptxplus:
            return f"mov.pred {name}, {word};" if kind == "restore" else f"mov.u32 {word}, {name};"
        return f"setp.ne.b32 {name}, {word}, 0;" if kind == "restore" else f"selp.b32 {word}, 1, 0, {name};"

    def _slot(self, value: int) -> "_Slot":
        offset, bits = self.assignment.slot[value], self._bits(value)
        if self.names.is_ptxplus:
            address, type_ = f"[0x{offset:04x}]", "u32"
        else:
            assert isinstance(self.names, PhysicalNames), "among declared names nothing is spilled"
            spills = self.names.spills
            address, type_ = f"[{spills}+{offset}]" if offset else f"[{spills}]", f"b{bits}"
        spelling = self._spelling(self.spills.file(value), bits)
        load, store = f"ld.local.{type_} ", f"st.local.{type_} {address}, "
        found = self.slots[value] = _Slot(spelling, load, f", {address};", store)
        return found

    def _guard(self, i: int) -> str:
        """The guard of an instruction of PTX, in front of another one."""
        guard = self.function.instructions[i].guard
        assert guard is not None, "of an instruction that has one"
        k = self.registers.resolve_index(guard.name, i)
        web = self.assignment.ranges.reads[i][self.assignment.ranges.def_uses[i].uses.index(k)]
        spelling = self.spelling[k]
        name = (
            self.old_names[k] if spelling is None else spelling[self.assignment.unit[self.spills.at(web, i)]]
        )
        return f"@{'!' if guard.negated else ''}{name} "

    def _computed(self, value: int, temporary: int) -> list[str]:
        """The rematerialisation sequence of a constant, with the temporary as result and source throughout."""
        lines: list[str] = []
        for index in self.spills.rematerialised[value]:
            node = self.function.instructions[index]
            text = self.text[node.start : node.end]

            def one(hit: re.Match[str], index: int = index) -> str:
                k = self.registers.resolve_index(hit.group(), index) if hit.group()[0] not in '/"' else -1
                spelling = self.spelling[k] if k >= 0 else None
                return hit.group() if spelling is None else spelling[self.assignment.unit[temporary]]

            head = HEAD.match(text)
            assert head is not None, "a sequence has no guards and no comments before its opcode"
            lines.append(" ".join((head.group() + TOKEN.sub(one, text[head.end() :])).split()))
        return lines

    # ---- declarations

    def _declarations(self, names: PhysicalNames) -> Iterator[TextEdit]:
        """The old declarations go, the new ones take the place of the first, or stand at the head of the body."""
        others = self.function.other_statements
        old = [s for _, s in others if type(s) is Declaration and s.space == "reg"]
        new = self._new_declarations(names)
        # the first of declarations, blocks and instructions
        n_before, first = next(((n, s) for n, s in others if type(s) in (Declaration, ScopeOpen)), (0, None))
        place = old[0].start if old and not n_before and first is old[0] else -1
        for declaration in old:
            if declaration.start == place and new:
                indent = self._indent(place)
                yield TextEdit(declaration.start, declaration.end, f"\n{indent}".join(new))
            else:
                yield TextEdit(*self._line(declaration), "")
        if place < 0 and new:
            start = self.function.body_start + 1
            yield TextEdit(start, start, "".join(f"\n\t{line}" for line in new))

    def _new_declarations(self, names: PhysicalNames) -> Sequence[str]:
        frame = self.assignment.frame_bytes
        if not names.is_ptxplus:
            used: dict[int, int] = {}
            for spelling in self.spellings.values():
                used[spelling.bits] = max(spelling.n_names, used.get(spelling.bits, 0))
            lines = names.declarations(used)
            return [f".local .align 16 .b8 {names.spills}[{frame}];", *lines] if frame else lines
        return self._ptxplus_declarations()

    def _ptxplus_declarations(self) -> list[str]:
        """As the converter prints them: general, address and condition registers, the zero register, the sink."""
        used = self.assignment.used
        named = {r.name: r for r in self.registers}
        lines = [f".local .b8 l0[{self.assignment.frame_bytes}];"] if self.assignment.frame_bytes else []
        lines.append(f".reg .u32 $r<{max(used['general'], 1)}>;")
        if used["address"]:
            lines.append(f".reg .u32 $ofs<{used['address']}>;")
        lines.append(f".reg .pred $p<{max(used['predicate'], 4)}>;")
        return lines + [f".reg .u32 {name};" for name in ("$r124", "$o127") if name in named]
