"""The checks of one function for `check`: its instructions, and the declarations, calls and labels between them.

Errors E211 (calls) and E212 (declarations) of a body, and names that mean two things in one block; for PTX.
"""

import re
from collections.abc import Iterable

from ptxtool.ir import nodes
from ptxtool.ir.symbols import LABEL_LISTS
from ptxtool.isa.literals import integer
from ptxtool.sema.calls import Signature, call_problem, part_problem, parts, prototype, signature
from ptxtool.sema.instructions import InstructionCheck
from ptxtool.sema.operands.shapes import description
from ptxtool.sema.operands.wording import Problem
from ptxtool.sema.ptxplus import guard_problems, operand_problems
from ptxtool.sema.variables import declaration_problems

_LOC = re.compile(r"[0-9]{1,9}\s+[0-9]{1,9}\s+[0-9]{1,9}(?![\w.])")
_LARGEST_WORD = 2**32 - 1


class _Registers:
    """The names of the registers that one block declares."""

    def __init__(self) -> None:
        self.names: dict[str, nodes.Declaration] = {}
        self.ranges: dict[str, tuple[int, nodes.Declaration]] = {}
        self.lowest: dict[str, tuple[int, nodes.Declaration]] = {}

    def add_variable(self, name: str, declaration: nodes.Declaration) -> None:
        """Note a variable whose name a later range may repeat: for each prefix the lowest number."""
        prefix = name.rstrip("0123456789")
        number = name[len(prefix) :]
        if number and len(number) < 10 and number == str(int(number)):
            lowest = self.lowest.get(prefix)
            if lowest is None or int(number) < lowest[0]:
                self.lowest[prefix] = int(number), declaration

    def find(self, name: str) -> nodes.Declaration | None:
        """The declaration of a register in this block, None if there is none."""
        if name in self.names:
            return self.names[name]
        prefix = name.rstrip("0123456789")
        count, declaration = self.ranges.get(prefix, (0, None))
        number = name[len(prefix) :]
        return declaration if number and len(number) < 10 and int(number) < count else None


class BodyCheck(InstructionCheck):
    """Everything that is checked statement by statement."""

    def __init__(self, function: nodes.Function):
        super().__init__(function)
        self._registers = [_Registers()]
        # a `.callprototype`, `.branchtargets` or `.calltargets`, by its label
        self._lists: dict[str, nodes.Directive] = {}
        label: nodes.Label | None = None
        for statement in function.body or ():
            if type(statement) is nodes.Directive and label is not None and statement.name in LABEL_LISTS:
                self._lists[label.name] = statement
            label = statement if type(statement) is nodes.Label else None

    def _statement(self, statement: nodes.Statement, n: int) -> None:
        super()._statement(statement, n)
        if self.is_ptxplus:
            return
        match statement:
            case nodes.ScopeOpen():
                self._registers.append(_Registers())
            case nodes.ScopeClose():
                self._registers.pop()
            case nodes.Label(name=name):
                other = self.variables.here(name) or self._registers[-1].names.get(name)
                if other is not None:
                    self._twice(name, statement, other)
            case nodes.Directive(name="loc"):
                self._loc(statement)
            case nodes.Declaration():
                self.found += declaration_problems(self.module, statement, "body")
            case _:
                pass

    def _loc(self, node: nodes.Directive) -> None:
        """A line directive: whole numbers of 32 bits."""
        if _LOC.match(node.text):  # nearly all
            return
        for word in node.text.partition(",")[0].split():
            if not _is_word(word):
                help = "'.loc' takes the number of a '.file', a line and a column"
                self._report("E213", f"'{word}' is no whole number of 32 bits", node, word, help)

    def _declare(self, declaration: nodes.Declaration) -> None:
        super()._declare(declaration)
        if self.is_ptxplus:
            return
        registers = self._registers[-1]
        for declarator in declaration.declarators:
            name = declarator.name
            if declaration.space == "reg":
                other = self.variables.here(name) or self.block_labels[-1].get(name)
                if declarator.count is None:
                    registers.names[name] = declaration
                else:
                    registers.ranges[name] = declarator.count, declaration
                    number, other = registers.lowest.get(name, (declarator.count, None))
                    name, other = f"{name}{number}", other if number < declarator.count else None
            else:
                other = registers.find(name) or self.block_labels[-1].get(name)
                registers.add_variable(name, declaration)
            if other is not None:
                self._twice(name, declaration, other)

    def _guard(self, node: nodes.Instruction, n: int) -> None:
        super()._guard(node, n)
        if self.is_ptxplus and node.guard is not None:
            self._report_problems(node, guard_problems(node.guard))

    def _operands(self, node: nodes.Instruction, n: int) -> None:
        super()._operands(node, n)
        if self.is_ptxplus:
            self._report_problems(node, operand_problems(node, self.registers, n))

    def _follow(self, node: nodes.Instruction, n: int) -> None:
        if node.opcode.base == "call":
            self._call(node, n)
            return
        for operand in node.operands:
            text = operand.text if isinstance(operand, nodes.Name) else ""
            if text and isinstance(operand, nodes.Name) and operand.part:
                word = f"{text}.{operand.part}"
                self._report(
                    "E206", f"'{word}' is no list of branch targets", node, word, "a label has no parts"
                )
            elif text and text in self.label_names and self._lists.get(text) is None:
                help = "write 'name: .branchtargets label, ...;' before it, and name that"
                self._report("E206", f"'{text}' is no list of branch targets", node, text, help)

    def _call(self, node: nodes.Instruction, n: int) -> None:
        called = parts(node)
        if called is None:
            help = "write 'call f, (arguments);'"
            self._report("E211", "a call names a function", node, node.opcode.text, help)
            return
        part = part_problem(called)
        if part is not None:
            self._report_problems(node, [part])
            return
        target = called.target.text
        found = self._shape(called.target, n)
        expected: list[Signature] = []
        if found.kind == "function":
            if found.type == "entry":
                help = "kernels are launched by the host; move its code into a '.func'"
                self._report("E211", f"'{target}' is a kernel, which cannot be called", node, target, help)
            else:
                expected = [signature(self.module.functions[target])]
        elif found.kind == "register":
            expected = self._listed(node, called.prototype, target)
        elif found.kind != "undeclared":
            message = f"'{target}' is {description(found)}, which cannot be called"
            help = "name a function, or a register that holds its address"
            self._report("E211", message, node, target, help)
        problems = [call_problem(called, one, lambda o: self._shape(o, n), self.variable) for one in expected]
        if problems and None not in problems:
            self._report_problems(node, filter(None, problems[:1]))

    def _listed(self, node: nodes.Instruction, name: object, target: str) -> list[Signature]:
        """What the functions of an indirect call may take, by its prototype or list of targets."""
        if not isinstance(name, nodes.Name):
            message = f"the call through '{target}' has no prototype"
            help = "write 'name: .callprototype (...) _ (...);' before it, and ', name' at its end"
            self._report("E211", message, node, target, help)
            return []
        directive = self._lists.get(name.text)
        if directive is None:
            text = name.text
            if text in self.label_names or self.variable(text) or text in self.module.functions:
                help = "write 'name: .callprototype (...) _ (...);' before it, and name that"
                self._report("E211", f"'{name.text}' is no prototype", node, name.text, help)
            return []
        if directive.name == "callprototype":
            return [prototype(directive)]
        found: list[Signature] = []
        for word in map(str.strip, directive.text.split(",")):
            function = self.module.functions.get(word)
            if function is None or function.kind == "entry":
                what = "is a kernel, which cannot be called" if function else "is no function"
                help = "name device functions ('.func')"
                self._report("E211", f"'{word}' {what}", directive, word, help)
                return []
            found.append(signature(function))
        return found

    def _report_problems(self, node: nodes.Instruction, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self._report(problem.code, problem.message, node, problem.word, problem.help)


def _is_word(text: str) -> bool:
    """Whether a number is whole and fits 32 bits."""
    try:
        return integer(text) <= _LARGEST_WORD
    except ValueError:
        return False
