"""The text of a function whose registers have found their places: what `allocate` and `compact` have in common.

Every instruction keeps its text but for the names of registers; inserted instructions stand on lines of their own in
front of or behind the one they belong to, or before it on its line where it shares one with a label. Declarations of
registers go, new ones stand where the first stood. Copies of a place to itself and definitions of constants that are
computed anew where they are read go as well.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ptxtool.analysis.assignment import Assignment
from ptxtool.analysis.copies import is_copy
from ptxtool.analysis.spills import Step
from ptxtool.ir.defuse import roles
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Declaration, Function, Instruction, Memory, Module, ScopeOpen
from ptxtool.isa.table import table
from ptxtool.passes.physical_names import PhysicalNames

SPILLS = "__ptxtool_spill"
"""The variable in local memory that spilled values of PTX live in."""

# a word, or what words have no meaning in
_TOKEN = re.compile(r"(//[^\n]*|/\*.*?\*/|\"[^\"]*\"|(?<![.\w$%])[%$A-Za-z_][\w$]*)", re.DOTALL)
_MARKED = re.compile(r"(//[^\n]*|/\*.*?\*/|\"[^\"]*\"|(?<![\w$%])[%$][\w$]+)", re.DOTALL)
_HEAD = re.compile(r"(?:@\s*!?\s*[%$\w]+(?:\.\w+)?\s*)?[\w.:]+")


@dataclass(frozen=True)
class Renamed:
    """The edits of one function, and per instruction of the new text the index of the old one, -1 for none."""

    edits: tuple[TextEdit, ...]
    origins: tuple[int, ...]
    n_copies: int


def rename(module: Module, function: Function, assignment: Assignment) -> Renamed:
    """The edits that give a function the registers of an assignment."""
    return _Renamer(function, assignment, PhysicalNames(module, function)).run()


class _DeclaredNames:
    """Places are a function's own registers, by index, and stay declared as they are."""

    def __init__(self, function: Function):
        self._registers = function.registers
        self.is_ptxplus = function.registers.is_ptxplus

    def of(self, file: str, bits: int, unit: int) -> str:
        return self._registers.name_of(unit)


def rename_among_declared(function: Function, assignment: Assignment) -> Renamed:
    """The same where the units of the assignment are the indices of registers that are declared already."""
    return _Renamer(function, assignment, _DeclaredNames(function)).run()


class _Renamer:
    def __init__(self, function: Function, assignment: Assignment, names: PhysicalNames | _DeclaredNames):
        self.function = function
        self.registers = function.registers
        self.assignment = assignment
        self.tenancy = assignment.tenancy
        self.names = names
        self.text = function.source.text
        self.edits: list[TextEdit] = []
        self.origins: list[int] = []
        self.used: dict[int, int] = {}  # width -> number of names
        self.n_copies = 0
        self.old_names: dict[int, str] = {}  # of the registers that have webs
        self.bits: dict[int, int] = {}  # by declarator
        self.place_names: dict[tuple[str, int, int], str] = {}  # file, width, unit
        self.web_names: dict[int, str | None] = {}  # of webs, and of temporaries in their place
        self.words = _TOKEN  # what finds the names of registers, `_MARKED` where all have a mark

    def run(self) -> Renamed:
        """Stretches of plain instructions are renamed as one text, the others one by one."""
        new_names, unsettled = self._settled()
        start = end = -1  # of the stretch

        def flush() -> None:
            nonlocal start
            if start >= 0:
                self.edits.append(
                    TextEdit(start, end, _replaced(self.text[start:end], self.words, new_names))
                )
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
        flush()
        if isinstance(self.names, PhysicalNames):
            self.edits += self._declarations(self.names)
        return Renamed(tuple(self.edits), tuple(self.origins), self.n_copies)

    def _settled(self) -> tuple[dict[str, str], set[int]]:
        """The new names of registers that are called the same everywhere; the other registers."""
        unit, values, names = self.assignment.unit, self.tenancy.values, self.old_names
        registers = self.assignment.ranges.register
        webs: dict[int, int] = {}  # register -> one of its webs
        changing = {web for web, _ in self.tenancy.temporary}
        unsettled: set[int] = set()
        for web, k in enumerate(registers):
            value = values[web]
            apart = value.left is not None or value.file == "head" or web in changing
            if apart or unit[webs.setdefault(k, web)] != unit[web]:
                unsettled.add(k)
        opcodes = {node.opcode.base for node in self.function.instructions}
        owner: dict[str, int] = {}
        for k in dict.fromkeys(registers):
            name = names[k] = self.registers.name_of(k)
            if owner.setdefault(name, k) != k:  # blocks that hide names
                unsettled |= {k, owner[name]}
            if name in opcodes:
                unsettled.add(k)
        if all(name[0] in "%$" for name in owner):
            self.words = _MARKED
        new_names = {
            names[k]: self._name(web, self._bits(k)) for k, web in webs.items() if k not in unsettled
        }
        return new_names, unsettled

    def _is_superfluous(self, i: int, new_names: Mapping[str, str]) -> bool:
        """Whether a `mov` may become one of a register to itself."""
        step = self.assignment.ranges.def_uses[i]
        names = [new_names.get(self.old_names[k]) for k in (*step.defs, *step.uses)]
        return len(step.defs) == len(step.uses) == 1 and names[0] == names[1]

    # ---- names

    def _bits(self, register: int) -> int:
        declarator = self.registers.declarator_of(register)
        found = self.bits.get(declarator)
        if found is None:
            one = self.registers[register]
            found = self.bits[declarator] = 1 if one.is_predicate else one.bits
        return found

    def _name(self, value: int, bits: int) -> str:
        """The name of a value's place, spelled for a width."""
        file, unit = self.tenancy.values[value].file, self.assignment.unit[value]
        name = self.place_names.get((file, bits, unit))
        if name is None:
            name = self.place_names[file, bits, unit] = self.names.of(file, bits, unit)
            n = unit // (bits // 32) + 1 if bits > 32 else unit + 1
            self.used[bits] = max(self.used.get(bits, 0), n)
        return name

    def _new_names(self, registers: Sequence[int], webs: Sequence[int], i: int) -> dict[int, str | None]:
        """The new names of registers, given with their webs, at an instruction; None for those that keep their own."""
        found: dict[int, str | None] = {}
        known, temporary = self.web_names, self.tenancy.temporary
        for k, web in zip(registers, webs, strict=True):
            value = temporary.get((web, i), web)
            if value not in known:
                is_head = self.tenancy.values[value].file == "head"
                known[value] = None if is_head else self._name(value, self._bits(k))
            found[k] = known[value]
        return found

    # ---- instructions

    def _instruction(self, i: int, node: Instruction) -> None:
        tenancy = self.tenancy
        if i in tenancy.dropped:
            self._delete(node)
            return
        before, after = tenancy.before.get(i, ()), tenancy.after.get(i, ())
        ranges = self.assignment.ranges
        step = ranges.def_uses[i]
        read = self._new_names(step.uses, ranges.reads[i], i)
        written = self._new_names(step.defs, ranges.writes[i], i)
        if node.opcode.base == "mov" and not before and not after and len(read) == len(written) == 1:
            is_same = [*read.values()] == [*written.values()] != [None]
            if is_same and is_copy(self.function, i):
                self.n_copies += 1
                self._delete(node)
                return
        if not before and not after:
            self.origins.append(i)
            self._rename(i, node, read, written)
            return
        indent = self._indent(node.start)
        lines = [line for s in before for line in self._lines(s, i)]
        if lines:
            self.edits.append(
                TextEdit(node.start, node.start, "".join([f"{line}\n{indent}" for line in lines]))
            )
        self.origins += [-1] * len(lines) + [i]
        self._rename(i, node, read, written)
        lines = [line for s in after for line in self._lines(s, i)]
        if lines:
            self.edits.append(TextEdit(node.end, node.end, "".join([f"\n{indent}{line}" for line in lines])))
            self.origins += [-1] * len(lines)

    def _indent(self, offset: int) -> str:
        start = self.text.rfind("\n", 0, offset) + 1
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip())] or "\t"

    def _rename(
        self, i: int, node: Instruction, read: Mapping[int, str | None], written: Mapping[int, str | None]
    ) -> None:
        """Replace the registers' names in an instruction's text."""
        if not read and not written:
            return
        text = self.text[node.start : node.end]
        differs = any(read.get(k, new) != new for k, new in written.items())
        if self.words is _MARKED and not differs:
            changes = (*read.items(), *written.items())
            new_text = _replaced(
                text, _MARKED, {self.old_names[k]: new for k, new in changes if new is not None}
            )
            if new_text != text:
                self.edits.append(TextEdit(node.start, node.end, new_text))
            return
        resolve = self.registers.resolve_index

        def replace(names: Callable[[int], str | None]) -> Callable[[re.Match[str]], str]:
            def one(hit: re.Match[str]) -> str:
                token = hit.group()
                k = resolve(token, i) if token[0] not in '/"' else -1
                return (names(k) if k >= 0 else None) or token

            return one

        def either(k: int) -> str | None:
            return written[k] if k in written else read.get(k)

        head_hit = _HEAD.match(text)
        if head_hit is None:  # a comment inside the head: no register can be mistaken for an opcode there
            head_end = 0
        else:
            head_end = head_hit.end()
        head = text[:head_end]
        if node.guard is not None:
            head = re.sub(r"[%$A-Za-z_][\w$]*", replace(read.get), head, count=1)
        if not differs:
            body = _TOKEN.sub(replace(either), text[head_end:])
        else:
            match = table().match(node.opcode.text, len(node.operands), self.registers.is_ptxplus)
            kinds = roles(node, match)
            pieces = _operands(text[head_end:])
            body = ""
            for number, piece in enumerate(pieces):
                operand = node.operands[number] if number < len(node.operands) else None
                is_result = number < len(kinds) and kinds[number] == "w" and not isinstance(operand, Memory)
                names = written.get if is_result else read.get
                body += _TOKEN.sub(replace(lambda k, names=names: names(k) or either(k)), piece)  # type: ignore[misc]
        if head + body != text:
            self.edits.append(TextEdit(node.start, node.end, head + body))

    def _delete(self, node: Instruction) -> None:
        """Take an instruction out, with its line where it stands alone there."""
        start, end = node.start, node.end
        line = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", end)
        if stop >= 0 and not self.text[line:start].strip() and not self.text[end:stop].strip():
            start, end = line, stop + 1
        self.edits.append(TextEdit(start, end, ""))

    # ---- what is inserted

    def _lines(self, step: Step, i: int) -> list[str]:
        temporary, value = step.temporary, step.value
        if step.kind == "compute":
            return self._computed(step)
        ranges = self.assignment.ranges
        bits = self._bits(ranges.register[value]) if value < len(ranges) else 32  # beyond the webs are words
        name = self._name(temporary, bits)
        if step.kind == "copy":
            type_ = "u32" if self.names.is_ptxplus else f"b{bits}"
            return [f"mov.{type_} {name}, {self._name(value, bits)};"]
        if step.kind in ("restore", "save"):
            word = self._name(self.tenancy.at(self.tenancy.word[value], i), 32)
            if self.names.is_ptxplus:
                return [f"mov.pred {name}, {word};" if step.kind == "restore" else f"mov.u32 {word}, {name};"]
            if step.kind == "restore":
                return [f"setp.ne.b32 {name}, {word}, 0;"]
            return [f"selp.b32 {word}, 1, 0, {name};"]
        offset = self.assignment.slot[value]
        if self.names.is_ptxplus:
            address, type_ = f"[0x{offset:04x}]", "u32"
        else:
            address, type_ = f"[{SPILLS}+{offset}]" if offset else f"[{SPILLS}]", f"b{bits}"
        guard = self._guard(i) if step.is_guarded else ""
        if step.kind == "load":
            return [f"{guard}ld.local.{type_} {name}, {address};"]
        return [f"{guard}st.local.{type_} {address}, {name};"]

    def _guard(self, i: int) -> str:
        """The guard of an instruction of PTX, in front of another one."""
        guard = self.function.instructions[i].guard
        assert guard is not None, "of an instruction that has one"
        k = self.registers.resolve_index(guard.name, i)
        web = self.assignment.ranges.reads[i][self.assignment.ranges.def_uses[i].uses.index(k)]
        name = self._new_names((k,), (web,), i)[k] or guard.name
        return f"@{'!' if guard.negated else ''}{name} "

    def _computed(self, step: Step) -> list[str]:
        """The recipe of a constant, every instruction of it with the temporary as result and source."""
        lines: list[str] = []
        for index in self.tenancy.recipe(step.value):
            node = self.function.instructions[index]
            text = self.text[node.start : node.end]

            def one(hit: re.Match[str], index: int = index) -> str:
                k = self.registers.resolve_index(hit.group(), index) if hit.group()[0] not in '/"' else -1
                return hit.group() if k < 0 else self._name(step.temporary, self._bits(k))

            head = _HEAD.match(text)
            assert head is not None, "a recipe has no guards and no comments before its opcode"
            lines.append(" ".join((head.group() + _TOKEN.sub(one, text[head.end() :])).split()))
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
            lines = names.declarations(self.used)
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


def _replaced(text: str, words: re.Pattern[str], names: Mapping[str, str]) -> str:
    """A text with other names: half as long as with `sub` and a function (measured), for nothing is called."""
    pieces = words.split(text)  # every other one is a word
    pieces[1::2] = map(names.get, pieces[1::2], pieces[1::2])
    return "".join(pieces)


def _operands(text: str) -> list[str]:
    """An instruction's text behind its opcode, cut in front of the commas between operands."""
    pieces: list[str] = []
    depth = start = position = 0
    while position < len(text):
        character = text[position]
        if text.startswith("//", position):
            position = text.find("\n", position) % (len(text) + 1)
        elif text.startswith("/*", position):
            position = text.find("*/", position) + 1
        elif character == '"':
            position = text.find('"', position + 1)
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and not depth:
            pieces.append(text[start:position])
            start = position
        position += 1
    pieces.append(text[start:])
    return pieces
