"""The text of a function whose registers have found their places: what `allocate` and `compact` have in common.

Every instruction keeps its text but for the names of registers; inserted instructions stand on lines of their own in
front of or behind the one they belong to, or before it on its line where it shares one with a label. Declarations of
registers go, new ones stand where the first stood. Copies of a place to itself and definitions of constants that are
computed anew where they are read go as well.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import eq
from typing import NamedTuple

from ptxtool.analysis.assignment import Assignment
from ptxtool.analysis.copies import is_copy
from ptxtool.analysis.spills import Step
from ptxtool.ir.defuse import roles
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Declaration, Function, Instruction, Memory, Module, ScopeOpen
from ptxtool.isa.table import table
from ptxtool.passes.physical_names import DeclaredNames, PhysicalNames, Spelling
from ptxtool.passes.register_words import HEAD, MARKED, TOKEN, operands, replaced

SPILLS = "__ptxtool_spill"
"""The variable in local memory that spilled values of PTX live in."""


@dataclass(frozen=True)
class Renamed:
    """The edits of one function, and per instruction of the new text the index of the old one, -1 for none."""

    edits: tuple[TextEdit, ...]
    origins: tuple[int, ...]
    n_copies: int


def rename(module: Module, function: Function, assignment: Assignment) -> Renamed:
    """The edits that give a function the registers of an assignment."""
    return _Renamer(function, assignment, PhysicalNames(module, function)).run()


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
        self.tenancy = assignment.tenancy
        self.names = names
        self.text = function.source.text
        self.edits: list[TextEdit] = []
        self.origins: list[int] = []
        self.n_copies = 0
        self.old_names: dict[int, str] = {}  # of the registers that have webs
        self.spellings: dict[tuple[str, int], Spelling] = {}  # by file and width
        # by register that has webs; None for those of the head
        self.spelling: dict[int, Spelling | None] = {}
        self.web_names: list[str | None] = []  # by web, None where temporaries stand for it
        self.slots: dict[int, _Slot] = {}  # by spilled value
        self.stretch: list[
            str
        ] = []  # the new text from `start` to `end` of the old one: statements side by side
        self.start = self.end = -1
        self.words = TOKEN  # what finds the names of registers, `MARKED` where all have a mark

    def run(self) -> Renamed:
        """Plain instructions that follow each other are renamed as one text, the others one by one."""
        new_names, unsettled = self._settled()
        start = end = -1  # of plain instructions

        def flush() -> None:
            nonlocal start
            if start >= 0:
                self._put(start, end, replaced(self.text[start:end], self.words, new_names))
                start = -1

        tenancy, def_uses = self.tenancy, self.assignment.ranges.def_uses
        changed = {*tenancy.before, *tenancy.after, *tenancy.dropped}
        origins = self.origins
        i = -1
        for statement in self.function.body or ():
            if type(statement) is Instruction:
                i += 1
                # whether it only changes its registers' names, each to the same everywhere
                is_plain = i not in changed and unsettled.isdisjoint(def_uses[i].touched)
                if is_plain and (statement.opcode.base != "mov" or not self._is_superfluous(i, new_names)):
                    origins.append(i)
                    start = statement.start if start < 0 else start
                    end = statement.end
                else:
                    flush()
                    self._instruction(i, statement)
            elif type(statement) is Declaration:
                flush()
                self._close()
        flush()
        self._close()
        if isinstance(self.names, PhysicalNames):
            self.edits += self._declarations(self.names)
        return Renamed(tuple(self.edits), tuple(self.origins), self.n_copies)

    def _put(self, start: int, end: int, text: str) -> None:
        """Replace a part of the text behind what is replaced so far. What is between them stays."""
        if self.stretch:
            self.stretch.append(self.text[self.end : start])
        else:
            self.start = start
        self.stretch.append(text)
        self.end = end

    def _close(self) -> None:
        """Edits of one stretch are one edit: a text that spills changes nearly everywhere."""
        if self.stretch:
            self.edits.append(TextEdit(self.start, self.end, "".join(self.stretch)))
            self.stretch.clear()

    def _settled(self) -> tuple[dict[str, str], set[int]]:
        """The new names of registers that are called the same everywhere; the other registers."""
        registers, temporary = self.assignment.ranges.register, self.tenancy.temporary
        place, values, names = self.assignment.unit.get, self.tenancy.values, self.old_names
        webs = dict(
            zip(reversed(registers), reversed(range(len(registers))), strict=True)
        )  # the first of each
        for indices in self.registers.by_declarator(sorted(webs)):
            names.update(zip(indices, self.registers.names_of(indices), strict=True))
            first = self.registers[indices[0]]
            file = values[webs[indices[0]]].file
            bits = 1 if first.is_predicate else first.bits
            spelling = None if file == "head" else self._spelling(file, bits)
            self.spelling.update(dict.fromkeys(indices, spelling))
        changing = {web for web, _ in temporary}
        for web, k in enumerate(registers):
            spelling = self.spelling[k]
            unit = None if web in changing else place(web)  # none of what has left its file
            self.web_names.append(names[k] if spelling is None else None if unit is None else spelling[unit])
        unsettled = {k for k, name in zip(registers, self.web_names, strict=True) if name is None}
        unsettled.update(
            k for web, k in enumerate(registers) if self.web_names[web] != self.web_names[webs[k]]
        )
        unsettled.update(k for k in webs if self.spelling[k] is None)
        owner = {name: k for k, name in names.items()}
        if len(owner) < len(names):  # blocks that hide names
            hidden = [k for k, name in names.items() if owner[name] != k]
            unsettled.update(hidden, [owner[names[k]] for k in hidden])
        unsettled.update(owner[base] for base in owner.keys() & {*self.function.bases})
        if all(name[0] in "%$" for name in owner):
            self.words = MARKED
        new_names = {
            names[k]: name
            for k, web in webs.items()
            if k not in unsettled and (name := self.web_names[web]) is not None
        }
        return new_names, unsettled

    def _is_superfluous(self, i: int, new_names: Mapping[str, str]) -> bool:
        """Whether a `mov` may become one of a register to itself."""
        step = self.assignment.ranges.def_uses[i]
        names = [new_names.get(self.old_names[k]) for k in (*step.defs, *step.uses)]
        return len(step.defs) == len(step.uses) == 1 and names[0] == names[1]

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
        return self._spelling(self.tenancy.values[value].file, bits)[self.assignment.unit[value]]

    def _new_name(self, register: int, web: int, i: int) -> str:
        """The new name of a register at an instruction; its own if it is one of the head."""
        spelling = self.spelling[register]
        if spelling is None:
            return self.old_names[register]
        return spelling[self.assignment.unit[self.tenancy.at(web, i)]]

    # ---- instructions

    def _instruction(self, i: int, node: Instruction) -> None:
        tenancy, ranges = self.tenancy, self.assignment.ranges
        if i in tenancy.dropped:
            self._delete(node)
            return
        before, after = tenancy.before.get(i, ()), tenancy.after.get(i, ())
        step = ranges.def_uses[i]
        registers, webs = step.uses + step.defs, ranges.reads[i] + ranges.writes[i]
        names, spelling, temporary, unit = (
            self.web_names,
            self.spelling,
            tenancy.temporary,
            self.assignment.unit,
        )
        # `_new_name` of each, written out: a text that spills has ten thousand of them
        found = [
            names[web] or spelling[k][unit[temporary.get((web, i), web)]]  # type: ignore[index]  # none of the head
            for k, web in zip(registers, webs, strict=True)
        ]
        is_alone = not before and not after and node.opcode.base == "mov"
        is_same = is_alone and len(step.uses) == len(step.defs) == 1 and found[0] == found[1]
        if is_same and is_copy(self.function, i) and self.spelling[registers[0]] is not None:
            self.n_copies += 1
            self._delete(node)
            return
        text = self.text[node.start : node.end]
        if registers:
            text = self._renamed(text, i, node, registers, found)
        if before or after:
            first = self._lines(before, i) if before else []
            last = self._lines(after, i) if after else []
            self.origins += [-1] * len(first)
            self.origins.append(i)
            self.origins += [-1] * len(last)
            text = f"\n{self._indent(node.start)}".join((*first, text, *last))
        else:
            self.origins.append(i)
        self._put(node.start, node.end, text)

    def _indent(self, offset: int) -> str:
        if self.text.startswith("\n\t", offset - 2):  # as compilers write it
            return "\t"
        start = self.text.rfind("\n", 0, offset) + 1
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip())] or "\t"

    def _renamed(
        self, text: str, i: int, node: Instruction, registers: Sequence[int], found: Sequence[str]
    ) -> str:
        """An instruction's text with the new names of the registers that it reads and then of those that it writes."""
        old = [*map(self.old_names.__getitem__, registers)]
        names = dict(zip(old, found))  # noqa: B905  (of one length; every instruction comes by here)
        # whether a register that is read and written keeps its place
        is_simple = len(names) == len(found) or all(map(eq, map(names.get, old), found))
        if is_simple and self.words is MARKED:
            return replaced(text, MARKED, names)
        n_read = len(self.assignment.ranges.def_uses[i].uses)
        read = dict(zip(registers[:n_read], found, strict=False))
        written = dict(zip(registers[n_read:], found[n_read:], strict=True))
        return self._renamed_by_role(text, i, node, read, written)

    def _renamed_by_role(
        self,
        text: str,
        i: int,
        node: Instruction,
        read: Mapping[int, str],
        written: Mapping[int, str],
    ) -> str:
        """The same where names have no marks, or mean one place where they are read and another where written."""
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

    def _delete(self, node: Instruction) -> None:
        """Take an instruction out, with its line where it stands alone there."""
        start, end = node.start, node.end
        line = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", end)
        if stop >= 0 and not self.text[line:start].strip() and not self.text[end:stop].strip():
            start, end = line, stop + 1
        self._close()
        self.edits.append(TextEdit(start, end, ""))

    # ---- what is inserted

    def _lines(self, steps: Sequence[Step], i: int) -> list[str]:
        """The instructions that stand before or behind instruction i, a line each."""
        lines: list[str] = []
        for step in steps:
            kind = step.kind
            if kind == "load" or kind == "store":
                slot = self.slots.get(step.value) or self._slot(step.value)
                name = slot.spelling[self.assignment.unit[step.temporary]]
                guard = self._guard(i) if step.is_guarded else ""
                line = f"{slot.load}{name}{slot.address}" if kind == "load" else f"{slot.store}{name};"
                lines.append(guard + line)
            elif kind == "compute":
                lines += self._computed(step)
            elif kind == "copy":
                name, source = (self._name(v, self._bits(step.value)) for v in (step.temporary, step.value))
                type_ = "u32" if self.names.is_ptxplus else f"b{self._bits(step.value)}"
                lines.append(f"mov.{type_} {name}, {source};")
            else:
                lines.append(self._moved(step, i))
        return lines

    def _moved(self, step: Step, i: int) -> str:
        """Between a predicate and its word."""
        name = self._name(step.temporary, self._bits(step.value))
        word = self._name(self.tenancy.at(self.tenancy.word[step.value], i), 32)
        if self.names.is_ptxplus:
            return f"mov.pred {name}, {word};" if step.kind == "restore" else f"mov.u32 {word}, {name};"
        return (
            f"setp.ne.b32 {name}, {word}, 0;" if step.kind == "restore" else f"selp.b32 {word}, 1, 0, {name};"
        )

    def _slot(self, value: int) -> "_Slot":
        offset, bits = self.assignment.slot[value], self._bits(value)
        if self.names.is_ptxplus:
            address, type_ = f"[0x{offset:04x}]", "u32"
        else:
            address, type_ = f"[{SPILLS}+{offset}]" if offset else f"[{SPILLS}]", f"b{bits}"
        spelling = self._spelling(self.tenancy.values[value].file, bits)
        load, store = f"ld.local.{type_} ", f"st.local.{type_} {address}, "
        found = self.slots[value] = _Slot(spelling, load, f", {address};", store)
        return found

    def _guard(self, i: int) -> str:
        """The guard of an instruction of PTX, in front of another one."""
        guard = self.function.instructions[i].guard
        assert guard is not None, "of an instruction that has one"
        k = self.registers.resolve_index(guard.name, i)
        web = self.assignment.ranges.reads[i][self.assignment.ranges.def_uses[i].uses.index(k)]
        name = self._new_name(k, web, i)
        return f"@{'!' if guard.negated else ''}{name} "

    def _computed(self, step: Step) -> list[str]:
        """The recipe of a constant, every instruction of it with the temporary as result and source."""
        lines: list[str] = []
        for index in self.tenancy.recipe(step.value):
            node = self.function.instructions[index]
            text = self.text[node.start : node.end]

            def one(hit: re.Match[str], index: int = index) -> str:
                k = self.registers.resolve_index(hit.group(), index) if hit.group()[0] not in '/"' else -1
                spelling = self.spelling[k] if k >= 0 else None
                return hit.group() if spelling is None else spelling[self.assignment.unit[step.temporary]]

            head = HEAD.match(text)
            assert head is not None, "a recipe has no guards and no comments before its opcode"
            lines.append(" ".join((head.group() + TOKEN.sub(one, text[head.end() :])).split()))
        return lines

    # ---- declarations

    def _declarations(self, names: PhysicalNames) -> Iterator[TextEdit]:
        """The old declarations go, the new ones take the place of the first, or stand at the head of the body."""
        body = self.function.body or ()
        old = [s for s in body if isinstance(s, Declaration) and s.space == "reg"]
        new = self._new_declarations(names)
        first = next((s for s in body if isinstance(s, (Declaration, Instruction))), None)
        at_head = bool(old) and first is not None and old[0].start <= first.start
        depth = sum(isinstance(s, ScopeOpen) for s in body[: body.index(old[0])]) if old else 0
        place = old[0].start if old and at_head and not depth else -1
        for declaration in old:
            if declaration.start == place and new:
                indent = self._indent(place)
                yield TextEdit(declaration.start, declaration.end, f"\n{indent}".join(new))
            else:
                yield from self._without(declaration)
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
            return [f".local .align 16 .b8 {SPILLS}[{frame}];", *lines] if frame else lines
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

    def _without(self, declaration: Declaration) -> Iterator[TextEdit]:
        start, end = declaration.start, declaration.end
        line = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", end)
        if stop >= 0 and not self.text[line:start].strip() and not self.text[end:stop].strip():
            start, end = line, stop + 1
        yield TextEdit(start, end, "")
