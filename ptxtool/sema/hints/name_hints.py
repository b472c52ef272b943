"""What to do about a name that nothing in sight declares: the next step of E201.

For `verify`. In the order of what is likeliest: a range of registers that ends too early, a declaration that stands
below or in another block, registers as compilers name them (`%rd4`) none of which is declared, a word of CUDA C++, a
misspelt name, and last the declaration that is missing.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from ptxtool.base.diag import Fix
from ptxtool.base.phrases import did_you_mean
from ptxtool.ir.nodes import Declaration, Declarator, Function, Instruction, Memory, Name, Operand
from ptxtool.isa.foreign import NAMES_OF_CUDA

_TYPE_OF_FAMILY = {
    "$r": "u32", "$p": "pred",
    "%p": "pred", "%rs": "b16", "%h": "b16", "%r": "b32", "%rd": "b64", "%rq": "b128", "%f": "f32", "%fd": "f64",
}  # fmt: skip
_FAMILY = re.compile(rf"({'|'.join(map(re.escape, _TYPE_OF_FAMILY))})(\d{{1,6}})")
_LARGEST = 1_000_000


class NameHints:
    """The hints about the names of one function."""

    def __init__(self, function: Function):
        self.function = function
        self._reported: set[str] = set()  # families of registers
        self.fix: Fix | None = None
        """The edit that the last next step asks for, None where it leaves a choice."""

    def is_reported(self, text: str) -> bool:
        """Whether a name is one of a family of registers whose declaration was found missing before."""
        family = _FAMILY.fullmatch(text)
        return family is not None and family[1] in self._reported

    def help(
        self, text: str, node: Instruction, operand: Operand | None, visible: Callable[[], list[str]]
    ) -> str:
        """The next step, and `fix`; `visible` gives the names that a misspelt one may have meant."""
        self.fix = None
        found = self._beyond_its_range(text) or self._out_of_sight(text, node) or self._family(text)
        if found:
            return found
        meant = NAMES_OF_CUDA.get(text, "")
        candidates = () if meant else visible()
        return did_you_mean(text, candidates, _declaration_of(text, node, operand), meant=meant)

    def _beyond_its_range(self, text: str) -> str:
        """`%r8` where `%r<8>` declares `%r0` to `%r7`."""
        for name in (text[:i] for i in range(len(text.rstrip("0123456789")), len(text))):
            declarator, start = self._ranges.get(name, (None, 0))
            number = int(text[len(name) :][:7])
            count = declarator.count if declarator is not None else None
            if count is not None and count <= number < _LARGEST:
                line = self.function.source.line(start)
                ends = f"'{name}<{count}>' in line {line} ends at '{name}{count - 1}'"
                self.fix = self._longer(name, start, number + 1)
                return f"{ends}: raise it to '{name}<{number + 1}>'?"
        return ""

    def _longer(self, name: str, start: int, count: int) -> Fix | None:
        """The edit of a declaration that gives a range another length."""
        length = re.compile(rf"(?<![\w$%]){re.escape(name)}\s*<\s*([0-9]+)\s*>")
        found = length.search(self.function.source.text, start, self.function.end)
        return Fix(*found.span(1), str(count)) if found else None

    def _out_of_sight(self, text: str, node: Instruction) -> str:
        """A name that another block or a later line declares."""
        place = self._declared_at.get(text)
        if place is None:
            return ""
        line = self.function.source.line(place)
        if place > node.start:
            return f"it is declared below, in line {line}: move that before its use"
        return f"its declaration in line {line} stands in a '{{ }}' block that this place is not in"

    def _family(self, text: str) -> str:
        """`%rd4` where no `%rd` with a number is declared: one declaration for all that the function uses."""
        found = _FAMILY.fullmatch(text)
        if found is None:
            return ""
        prefix = found[1]
        if prefix in self._ranges or any(
            name.startswith(prefix) and name[len(prefix) :].isdecimal() for name in self._declared_at
        ):
            return ""
        self._reported.add(prefix)
        source = self.function.source.text
        used = re.compile(rf"(?<![\w$%]){re.escape(prefix)}(\d{{1,6}})(?![\w$])")
        end = self.function.end
        numbers = (int(number[1]) for number in used.finditer(source, self.function.start, end))
        most = max(numbers, default=int(found[2]))
        declaration = f".reg .{_TYPE_OF_FAMILY[prefix]} {prefix}<{most + 1}>;"
        place = source.index("{", self.function.body_start) + 1
        self.fix = Fix(place, place, f"\n\t{declaration}")
        return f"declare it and its like: '{declaration}'"

    def _declarations(self) -> Iterator[tuple[Declarator, Declaration]]:
        for statement in self.function.body or ():
            if type(statement) is Declaration:
                yield from ((declarator, statement) for declarator in statement.declarators)

    @cached_property
    def _declared_at(self) -> dict[str, int]:
        """Where the function's body declares each name first, ranges left out."""
        found: dict[str, int] = {}
        for declarator, statement in self._declarations():
            if declarator.count is None:
                found.setdefault(declarator.name, statement.start)
        return found

    @cached_property
    def _ranges(self) -> dict[str, tuple[Declarator, int]]:
        """The ranges of registers that the function declares, by prefix, and where."""
        return {
            declarator.name: (declarator, statement.start)
            for declarator, statement in self._declarations()
            if statement.space == "reg" and declarator.count is not None
        }


def _declaration_of(text: str, node: Instruction, operand: Operand | None) -> str:
    """The declaration that an undeclared name may lack."""
    if node.opcode.base == "brx":
        return f"write '{text}: .branchtargets label, ...;' before it"
    if node.opcode.base == "call":
        called = next((each for each in node.operands if type(each) is Name), None)
        if called is not None and operand is not called:
            return f"write '{text}: .callprototype (...) _ (...);' before it"
        return f"declare the function before it, such as '.extern .func {text};'"
    if type(operand) is Memory and "param" in node.opcode.modifiers:
        return f"add it to the parameters of the function: '.param .b32 {text}'"
    if type(operand) is Memory and text[0] not in "%$":
        spaces = [w for w in ("global", "shared", "local", "const") if w in node.opcode.modifiers]
        return f"add a declaration, such as '.{(spaces or ['global'])[0]} .b32 {text}[64];'"
    return f"add a declaration, such as '.reg .u32 {text};'"
