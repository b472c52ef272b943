"""Compare every instruction of a function with the instruction table: a form, and operands that fit it.

For `ptxtool check`; the base class checks names, labels and guards. An instruction without a form is E203, an operand
that does not fit E206 to E210. Each operand becomes an `OperandShape`, once per scope; verdicts are cached for all
functions by opcode and operand shapes, so that a file of a hundred thousand instructions needs some hundred of them.

PTXPlus: only forms are checked. Its registers have no types, and almost every operand may be memory, half or pair.
"""

from functools import cache
from typing import NamedTuple

from ptxtool.base.diag import Diagnostic, Fix
from ptxtool.ir import nodes
from ptxtool.ir.defuse import accessed
from ptxtool.ir.symbols import NAMES_PER_STATEMENT
from ptxtool.isa.literals import literal
from ptxtool.isa.special import special
from ptxtool.isa.table import table
from ptxtool.isa.types import TYPES
from ptxtool.parse.operands import number_of
from ptxtool.sema.operands.operand_spans import operand_spans, word_span
from ptxtool.sema.operands.shapes import UNDECLARED, OperandShape, shape
from ptxtool.sema.operands.type_fit import BITS, INTEGERS
from ptxtool.sema.operands.verdict import Verdict, WrittenInstruction, takes_bounded
from ptxtool.sema.upward_exposed import AccessedOperands, Region, accessed_operands
from ptxtool.sema.variables import OPAQUE
from ptxtool.sema.verify import FunctionCheck

_ELEMENTS = frozenset("xyzwrgba")
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})
_SHORT = frozenset({"%tid", "%ntid", "%ctaid", "%nctaid"})


_Seen = tuple[OperandShape, tuple[int, ...]]
_BY_VALUE = Verdict(False, ())
"""Stands for the verdict where the values of constants decide it."""


class _Known(NamedTuple):
    """What is known of an opcode with operands of certain shapes; `accessed` is None where their values matter."""

    verdict: Verdict | None
    accessed: AccessedOperands | None


_known: dict[tuple[object, ...], _Known] = {}
_registers: dict[tuple[str, ...], OperandShape] = {}  # by the qualifiers of their declaration
_verdicts: dict[tuple[object, ...], Verdict | None] = {}  # by the values of constants too


class InstructionCheck(FunctionCheck):
    """The checks of one function, its instructions held against the table."""

    def __init__(self, function: nodes.Function):
        super().__init__(function)
        # by identity, for equal operand texts share their node: what an operand is, and the registers in it
        self._seen: dict[int, _Seen] = {}
        self._by_name: dict[str, _Seen] = {}
        # names that mean the same at every instruction: those of ranges that the text may mention most of at once
        self._everywhere: dict[str, _Seen] = {}
        ranges = () if self.is_ptxplus else self.registers.ranges_everywhere()
        for declaration, prefix, numbers, first in ranges:
            if len(numbers) <= NAMES_PER_STATEMENT * len(function.instructions):
                whole, shift = _whole(declaration), first - numbers.start
                self._everywhere.update({f"{prefix}{k}": (whole, (k + shift,)) for k in numbers})
        self.regions: list[Region] = [Region(0, set(), {})]
        """Straight-line code, from one label or jump to the next, with its upward-exposed uses."""
        self._is_64_bit = self.module.directive("address_size") == "64"

    def _operands(self, node: nodes.Instruction, n: int) -> None:
        if self.is_ptxplus:
            super()._operands(node, n)
            return
        text, operands, seen = node.opcode.text, node.operands, self._seen
        entries = [seen.get(id(operand)) or self._see(operand, n) for operand in operands]
        key = (text, self._is_64_bit, *[entry[0] for entry in entries])
        known = _known.get(key)
        if known is None:
            known = _known[key] = self._learn(node, [entry[0] for entry in entries])
        verdict = known.verdict
        if verdict is _BY_VALUE:
            verdict = self._judge_values(node, key, [entry[0] for entry in entries])
        if verdict is not None:
            self._report_verdict(node, verdict, n)
        self._note_accesses(node, n, entries, known.accessed or accessed_operands(node))

    def _learn(self, node: nodes.Instruction, shapes: list[OperandShape]) -> _Known:
        text, operands = node.opcode.text, node.operands
        by_value = takes_bounded(text, len(operands)) and any(found.kind != "register" for found in shapes)
        verdict = _BY_VALUE if by_value else self._judge(node, shapes)
        match = table().match(text, len(operands), ptxplus=False)
        by_operands = node.opcode.base == "wgmma" or (match is not None and "call" in match.form.effects)
        return _Known(verdict, None if by_operands else accessed_operands(node))

    def _judge(self, node: nodes.Instruction, shapes: list[OperandShape]) -> Verdict | None:
        return WrittenInstruction(node.opcode.text, node.operands, shapes, self._is_64_bit).judge()

    def _judge_values(
        self, node: nodes.Instruction, key: tuple[object, ...], shapes: list[OperandShape]
    ) -> Verdict | None:
        """The verdict where the values of constants decide too."""
        known = (*key, *map(number_of, node.operands))
        verdict = _verdicts.get(known, _BY_VALUE)
        if verdict is _BY_VALUE:
            verdict = _verdicts[known] = self._judge(node, shapes)
        return verdict

    def _see(self, operand: nodes.Operand, n: int) -> _Seen:
        if type(operand) is nodes.Name:
            entry = self._register(operand.text, n)
            if operand.part or not entry[1]:
                entry = self._name_shape(operand, n), entry[1]
        else:
            entry = self._shape(operand, n), self._registers_in(operand, n)
        self._seen[id(operand)] = entry
        return entry

    def _registers_in(self, operand: nodes.Operand, n: int) -> tuple[int, ...]:
        """The registers that an operand names."""
        if type(operand) is nodes.Immediate:
            return ()
        if _is_plain(operand):
            return self._register(operand.base.text, n)[1]  # type: ignore[union-attr]
        return tuple([k for name in accessed(operand, "r").reads for k in self._register(name, n)[1]])

    def _register(self, text: str, n: int) -> _Seen:
        """What the register of a name is, and its index; no index if it is none."""
        entry = self._everywhere.get(text) or self._by_name.get(text)
        if entry is None:
            index = self.registers.resolve_index(text, n)
            if index < 0:
                entry = self._by_name[text] = UNDECLARED, ()
                return entry
            entry = _whole(self.registers.declaration_of(index)), (index,)
            known = self._everywhere if self.registers.everywhere[text] else self._by_name
            known[text] = entry
        return entry

    def _note_accesses(
        self, node: nodes.Instruction, n: int, entries: list[_Seen], accessed: AccessedOperands
    ) -> None:
        """Note the registers that an instruction reads before this region writes them, and those that it writes."""
        _, written, exposed = self.regions[-1]
        if node.guard is not None:
            for register in self._register(node.guard.name, n)[1]:
                if register not in written and register not in exposed:
                    exposed[register] = n
        for k in accessed.read:
            for register in entries[k][1]:
                if register not in written and register not in exposed:
                    exposed[register] = n
        for k in accessed.written:
            if type(node.operands[k]) is not nodes.Memory:
                written.update(entries[k][1])
            else:  # its registers are an address
                for register in entries[k][1]:
                    if register not in written and register not in exposed:
                        exposed[register] = n
        if accessed.ends:
            self.regions.append(Region(n + 1, set(), {}))

    def _report_verdict(self, node: nodes.Instruction, verdict: Verdict, n: int) -> None:
        super()._operands(node, n)
        source = self.function.source
        spans = operand_spans(node, source.text)
        written = [" ".join(source.text[start:end].split()) for start, end in spans]
        if verdict.follows:
            self._follow(node, n)
        if verdict.swapped is not None and verdict.swapped[1] < len(spans):
            i, j = verdict.swapped
            (a, b), (c, d) = spans[i], spans[j]
            fix = Fix(a, d, source.text[c:d] + source.text[b:c] + source.text[a:b])
            message = f"'{written[i]}' and '{written[j]}' stand in each other's place"
            written[i], written[j] = written[j], written[i]
            help = f"write '{node.opcode.text} {', '.join(written)}'"
            self.found.append(Diagnostic("E206", message, source, a, d, help, None, fix))
        elif verdict.better:  # several operands are of another type than the opcode says: the opcode is wrong
            words = zip(node.opcode.text.split("."), verdict.better.split("."), strict=True)
            wrong = next(old for old, new in words if old != new)
            message = f"'{node.opcode.text}' takes '.{wrong}', its operands are of another type"
            help = f"did you mean '{verdict.better}'?"
            self.found.append(Diagnostic("E207", message, source, *word_span(node, source.text, wrong), help))
        else:
            for k, problem in verdict.problems:
                start, end = spans[k] if k < len(spans) else (node.start, node.end)
                operand = written[k] if k < len(spans) else " ".join(source.text[start:end].split())
                message = f"'{operand}' {problem.message}"
                fix = None
                if problem.opcode:
                    fix = Fix(*word_span(node, source.text, ""), problem.opcode)
                elif problem.around:
                    fix = Fix(start, end, source.text[start:end].join(problem.around))
                found = Diagnostic(problem.code, message, source, start, end, problem.help, None, fix)
                self.found.append(found)

    def _fits(self, role: str, operand: nodes.Operand, node: nodes.Instruction) -> None:
        if self.is_ptxplus:
            super()._fits(role, operand, node)

    def _unknown(self, node: nodes.Instruction) -> None:
        found = self._explain(node)
        source = self.function.source
        start, end = word_span(node, source.text, found.word)
        if self.is_newer:
            message = f"{found.message}, passed through"
            self.found.append(Diagnostic("W201", message, source, start, end, found.help))
            return
        help = found.help
        if "." not in node.opcode.text and source.text[end : node.end].lstrip(" \t\r")[:1] == "\n":
            help = f"write '{node.opcode.text}:' if it is a label"
        indexed = (o.symbol for o in node.operands if type(o) is nodes.Memory)
        if not self.is_ptxplus and (register := next((s for s in indexed if s.startswith(("%", "$"))), "")):
            help = f"is a ',' missing after '{register}'?"
        fix = (
            Fix(*word_span(node, source.text, ""), found.better)
            if found.better and help == found.help
            else None
        )
        self.found.append(Diagnostic("E203", found.message, source, start, end, help, None, fix))

    def _indexed(self, operand: nodes.Memory, n: int, node: nodes.Instruction) -> None:
        """The operand's shape says it already, or the form that lacks an operand."""

    def _no_label(self, node: nodes.Instruction, operand: nodes.Operand) -> None:
        if self.is_ptxplus:
            super()._no_label(node, operand)

    def _scope_changed(self) -> None:
        super()._scope_changed()
        self._seen.clear()
        self._by_name.clear()

    def _statement(self, statement: nodes.Statement, n: int) -> None:
        super()._statement(statement, n)
        if type(statement) is nodes.Label and self.regions[-1].start != n:
            self.regions.append(Region(n, set(), {}))

    def _label(self, text: str, n: int, node: nodes.Instruction | nodes.Directive) -> None:
        if (
            self.is_ptxplus
            or isinstance(node, nodes.Directive)
            or self._name_shape(nodes.Name(text), n) is UNDECLARED
        ):
            super()._label(text, n, node)  # anything else is no label, which is reported already

    def _follow(self, node: nodes.Instruction, n: int) -> None:
        """Look up the names of an instruction that lead to others: functions, prototypes, lists of targets."""

    # ---- what an operand is

    def _shape(self, operand: nodes.Operand, n: int) -> OperandShape:
        match operand:
            case nodes.Name():
                return self._name_shape(operand, n)
            case nodes.Immediate():
                return _constant(operand.text)
            case nodes.Memory():
                return self._memory_shape(operand, n)
            case nodes.Vector():
                return shape("vector", "", tuple(self._shape(i, n) for i in operand.items))
            case nodes.Dual():
                return shape("pair", "", (self._shape(operand.first, n), self._shape(operand.second, n)))
            case nodes.Group(items=(item,)):
                inner = self._shape(item, n)
                return inner if inner.kind == "constant" else shape("list")
            case nodes.String():
                return shape("text")
            case nodes.Unary(operator=sign):
                inner = self._shape(operand.operand, n)
                if inner.kind == "constant":
                    return shape("constant", "int") if sign in "!~" else inner
                return shape({"!": "negated", "-": "minus"}.get(sign, "sum"), "", (inner,))
            case nodes.Binary():
                return self._expression_shape(operand, n)
            case nodes.Cast() | nodes.Conditional():
                return shape("constant", "int")
            case _:
                return shape("list")

    def _expression_shape(self, operand: nodes.Binary, n: int) -> OperandShape:
        left, right = self._shape(operand.left, n), self._shape(operand.right, n)
        if left.kind == "constant" and right.kind == "constant":
            is_integer = operand.operator in _COMPARISONS or (left.type == "int" and right.type == "int")
            return shape("constant", "int" if is_integer else "f64")
        is_whole_offset = (right.kind, right.type) == ("constant", "int")
        return shape("sum", "" if is_whole_offset else "offset", (left, right))

    def _memory_shape(self, operand: nodes.Memory, n: int) -> OperandShape:
        if _is_plain(operand):
            offset = operand.offset
            is_integer = offset is None or _constant(offset.text).type == "int"  # type: ignore[union-attr]
            return shape("memory", "" if is_integer else "offset", (self._name_shape(operand.base, n),))  # type: ignore[arg-type]
        inside = [i for i in (operand.base, operand.offset) if i is not None]
        if operand.symbol:
            inside.insert(0, nodes.Name(operand.symbol))
            if not self._is_array(operand.symbol, n):
                return shape("memory", "index", (UNDECLARED,))
        base = self._shape(inside[0], n) if inside else shape("constant", "int")
        if isinstance(operand.base, nodes.Name) and operand.base.part and not operand.symbol:
            base = shape("selected", operand.base.part)
        rest = [self._shape(i, n) for i in inside[1:]]
        is_integer = all(
            (s.kind, s.type) == ("constant", "int")
            or s is UNDECLARED
            or (operand.symbol and s.kind == "register" and s.length == 1 and s.type in INTEGERS | BITS)
            for s in rest
        )
        coordinates = tuple(self._shape(i, n) for i in operand.coordinates)
        return shape("memory", "" if is_integer else "offset", (base, *coordinates))

    def _is_array(self, name: str, n: int) -> bool:
        """Whether a name is that of an array, or of nothing."""
        variable = self.variable(name)
        if variable is None or self.registers.resolve_index(name, n) >= 0:
            return self._name_shape(nodes.Name(name), n) is UNDECLARED
        return any(d.name == name and d.dimensions for d in variable.declarators)

    def _name_shape(self, name: nodes.Name, n: int) -> OperandShape:
        text, part = name.text, name.part
        whole, index = self._register(text, n)
        if index:
            if not part or whole is UNDECLARED:
                return whole
            if whole.length > 1 and part in _ELEMENTS:
                return shape("register", whole.type)
            return shape("selected", part, (shape("register", whole.type),))
        if text == "_":
            return shape("sink")
        variable = self.variables.get(text)
        if variable is not None:
            return self._variable_shape(variable)
        if not part and self.labels.resolve(text, n) is not None:
            return shape("label")
        if text in self.module.variables:
            return self._variable_shape(self.module.variables[text])
        function = self.module.functions.get(text)
        if function is not None:
            return shape("function", function.kind)
        if text == "WARP_SZ":
            return shape("constant", "int")
        found = special(text)
        if found is not None and found.has_part(part) and not part.isdigit():
            older = (shape("register", "u16"),) if text in _SHORT and part else ()
            return shape("special", found.type, older, 4 if found.parts and not part else 1)
        return UNDECLARED

    def _variable_shape(self, declaration: nodes.Declaration) -> OperandShape:
        if declaration.type in OPAQUE:
            return shape("opaque", declaration.type)
        if declaration in self.function.params:
            return shape("variable", "param::in")
        if declaration in self.function.returns:
            return shape("variable", "param::out")
        return shape("variable", declaration.space)

    def variable(self, text: str) -> nodes.Declaration | None:
        """The variable or parameter of that name that is in force here."""
        return self.variables.get(text) or self.module.variables.get(text)


def _whole(declaration: nodes.Declaration) -> OperandShape:
    """What a register of a declaration is; of an unknown type (`sema/hints/newer.py`), anything."""
    found = _registers.get(declaration.qualifiers)
    if found is None and declaration.type not in TYPES:
        found = _registers[declaration.qualifiers] = UNDECLARED
    if found is None:
        found = shape("register", declaration.type, (), declaration.vector)
        _registers[declaration.qualifiers] = found
    return found


def _is_plain(operand: nodes.Operand) -> bool:
    """Whether an operand is `[name]` or `[name+number]`, as most memory operands are."""
    return (
        type(operand) is nodes.Memory
        and type(operand.base) is nodes.Name
        and not operand.base.part
        and not operand.symbol
        and not operand.coordinates
        and (operand.offset is None or type(operand.offset) is nodes.Immediate)
    )


@cache
def _constant(text: str) -> OperandShape:
    try:
        return shape("constant", literal(text).kind)
    except ValueError:
        return shape("constant", "int")
