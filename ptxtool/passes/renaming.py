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

_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"]*\"|(?<![.\w$%])[%$A-Za-z_][\w$]*", re.DOTALL)
_MARKED = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"]*\"|[%$][\w$]+", re.DOTALL)
_HEAD = re.compile(r"(?:@\s*!?\s*[%$\w]+(?:\.\w+)?\s*)?[\w.:]+")


@dataclass(frozen=True)
class Renamed:
    """The edits of one function, and per instruction of the new text the index of the old one, -1 for none."""

    edits: tuple[TextEdit, ...]
    origins: tuple[int, ...]
    n_copies: int


def rename(module: Module, function: Function, assignment: Assignment) -> Renamed:
    """The edits that give a function the registers of an assignment."""
    return _Renamer(module, function, assignment).run()


class _Renamer:
    def __init__(self, module: Module, function: Function, assignment: Assignment):
        self.function = function
        self.registers = function.registers
        self.assignment = assignment
        self.tenancy = assignment.tenancy
        self.names = PhysicalNames(module, function)
        self.text = function.source.text
        self.edits: list[TextEdit] = []
        self.origins: list[int] = []
        self.used: dict[int, int] = {}  # width -> number of names
        self.n_copies = 0
        self.bits: dict[int, int] = {}
        self.value_names: dict[tuple[int, int], str] = {}

    def run(self) -> Renamed:
        """Stretches of plain instructions are renamed as one text, the others one by one."""
        new_names, unsettled = self._settled()
        word = _MARKED if all(name[0] in "%$" for name in new_names) else _TOKEN
        get = new_names.get

        def one(hit: re.Match[str]) -> str:
            token = hit.group()
            return get(token, token)

        start = end = -1  # of the stretch

        def flush() -> None:
            nonlocal start
            if start >= 0:
                self.edits.append(TextEdit(start, end, word.sub(one, self.text[start:end])))
                start = -1

        i = -1
        for statement in self.function.body or ():
            kind = type(statement)
            if kind is Declaration:
                flush()
            if kind is not Instruction:
                continue
            i += 1
            if self._is_plain(i, statement, unsettled, new_names):  # type: ignore[arg-type]
                self.origins.append(i)
                start = statement.start if start < 0 else start
                end = statement.end
            else:
                flush()
                self._instruction(i, statement)  # type: ignore[arg-type]
        flush()
        self.edits += self._declarations()
        return Renamed(tuple(self.edits), tuple(self.origins), self.n_copies)

    def _settled(self) -> tuple[dict[str, str], set[int]]:
        """The new names of registers that are called the same everywhere; the other registers."""
        unit, values, registers = self.assignment.unit, self.tenancy.values, self.registers
        places: dict[int, int] = {}
        unsettled: set[int] = set()
        for web, k in enumerate(self.assignment.ranges.register):
            value = values[web]
            if value.left is not None or value.file == "head" or places.setdefault(k, unit[web]) != unit[web]:
                unsettled.add(k)
        opcodes = {node.opcode.base for node in self.function.instructions}
        new_names: dict[str, str] = {}
        owner: dict[str, int] = {}
        webs = {k: web for web, k in enumerate(self.assignment.ranges.register)}
        for k, web in webs.items():
            name = registers.names[k]
            if owner.setdefault(name, k) != k:  # blocks that hide names
                unsettled |= {k, owner[name]}
            if name in opcodes:
                unsettled.add(k)
            if k not in unsettled:
                new_names[name] = self._name(web, self._bits(k))
        for name, k in owner.items():
            if k in unsettled:
                new_names.pop(name, None)
        return new_names, unsettled

    def _is_plain(self, i: int, node: Instruction, unsettled: set[int], new_names: Mapping[str, str]) -> bool:
        """Whether an instruction only changes its registers' names, each to the same everywhere."""
        step = self.assignment.ranges.def_uses[i]
        if not unsettled.isdisjoint(step.touched):
            return False
        if i in self.tenancy.before or i in self.tenancy.after or i in self.tenancy.dropped:
            return False
        if node.opcode.base != "mov" or len(step.defs) != 1 or len(step.uses) != 1:
            return True
        names = [new_names.get(self.registers.names[k]) for k in (*step.defs, *step.uses)]
        return names[0] != names[1]

    # ---- names

    def _bits(self, register: int) -> int:
        declaration = self.registers.declaration_of(register).start
        found = self.bits.get(declaration)
        if found is None:
            one = self.registers[register]
            found = self.bits[declaration] = 1 if one.is_predicate else one.bits
        return found

    def _name(self, value: int, bits: int) -> str:
        """The name of a value's place, spelled for a width."""
        name = self.value_names.get((value, bits))
        if name is None:
            unit = self.assignment.unit[value]
            name = self.names.of(self.tenancy.values[value].file, bits, unit)
            self.value_names[value, bits] = name
            n = unit // (bits // 32) + 1 if bits > 32 else unit + 1
            self.used[bits] = max(self.used.get(bits, 0), n)
        return name

    def _web_name(self, web: int, register: int, i: int) -> str | None:
        """The new name of a register at an instruction, None if it keeps its own."""
        value = self.tenancy.at(web, i)
        if self.tenancy.values[value].file == "head":
            return None
        return self._name(value, self._bits(register))

    # ---- instructions

    def _instruction(self, i: int, node: Instruction) -> None:
        before = self.tenancy.before.get(i, ())
        after = self.tenancy.after.get(i, ())
        ranges = self.assignment.ranges
        step = ranges.def_uses[i]
        if i in self.tenancy.dropped:
            self._delete(node)
            return
        read = {k: self._web_name(w, k, i) for k, w in zip(step.uses, ranges.reads[i], strict=True)}
        written = {k: self._web_name(w, k, i) for k, w in zip(step.defs, ranges.writes[i], strict=True)}
        is_plain = not before and not after and len(read) == len(written) == 1
        if is_plain and is_copy(self.function, i) and [*read.values()] == [*written.values()] != [None]:
            self.n_copies += 1
            self._delete(node)
            return
        indent = self._indent(node.start)
        lines = [line for s in before for line in self._lines(s, i)]
        if lines:
            self.edits.append(
                TextEdit(node.start, node.start, "".join(f"{line}\n{indent}" for line in lines))
            )
        self.origins += [-1] * len(lines) + [i]
        self._rename(i, node, read, written)
        lines = [line for s in after for line in self._lines(s, i)]
        if lines:
            self.edits.append(TextEdit(node.end, node.end, "".join(f"\n{indent}{line}" for line in lines)))
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
        resolve = self.registers.resolve_index
        differs = any(read.get(k, new) != new for k, new in written.items())

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

    def _lines(self, step: Step, i: int) -> Iterator[str]:
        temporary, value = step.temporary, step.value
        if step.kind == "compute":
            yield from self._computed(step, i)
            return
        ranges = self.assignment.ranges
        bits = self._bits(ranges.register[value]) if value < len(ranges) else 32  # beyond the webs are words
        name = self._name(temporary, bits)
        if step.kind in ("restore", "save"):
            word = self._name(self.tenancy.at(self.tenancy.word[value], i), 32)
            if self.names.is_ptxplus:
                yield f"mov.pred {name}, {word};" if step.kind == "restore" else f"mov.u32 {word}, {name};"
            elif step.kind == "restore":
                yield f"setp.ne.b32 {name}, {word}, 0;"
            else:
                yield f"selp.b32 {word}, 1, 0, {name};"
            return
        offset = self.assignment.slot[value]
        if self.names.is_ptxplus:
            address, type_ = f"[0x{offset:04x}]", "u32"
        else:
            address, type_ = f"[{SPILLS}+{offset}]" if offset else f"[{SPILLS}]", f"b{bits}"
        if step.kind == "load":
            yield f"ld.local.{type_} {name}, {address};"
        else:
            yield f"st.local.{type_} {address}, {name};"

    def _computed(self, step: Step, i: int) -> Iterator[str]:
        """The recipe of a constant, every instruction of it with the temporary as result and source."""
        for index in self.tenancy.recipe(step.value):
            node = self.function.instructions[index]
            text = self.text[node.start : node.end]

            def one(hit: re.Match[str], index: int = index) -> str:
                k = self.registers.resolve_index(hit.group(), index) if hit.group()[0] not in '/"' else -1
                return hit.group() if k < 0 else self._name(step.temporary, self._bits(k))

            head = _HEAD.match(text)
            assert head is not None, "a recipe has no guards and no comments before its opcode"
            yield " ".join((head.group() + _TOKEN.sub(one, text[head.end() :])).split())

    # ---- declarations

    def _declarations(self) -> Iterator[TextEdit]:
        """The old declarations go, the new ones take the place of the first, or stand at the head of the body."""
        body = self.function.body or ()
        old = [s for s in body if isinstance(s, Declaration) and s.space == "reg"]
        new = self._new_declarations()
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

    def _new_declarations(self) -> Sequence[str]:
        frame = self.assignment.frame_bytes
        if not self.names.is_ptxplus:
            lines = self.names.declarations(self.used)
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
