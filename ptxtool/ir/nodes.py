"""The nodes of a module: frozen values that point into their source text.

A `Module` keeps its `Source`; a statement keeps the offsets of its own text. A function body is a flat tuple of
statements in textual order, nested `{ }` blocks marked by `ScopeOpen` and `ScopeClose`, so that an instruction's
index is its place in the text. Operands carry no offsets: equal operand texts share one node.

Names are not resolved here: `Name("%r1")` may be a register, a variable, a label, a function or a special register.
`Function.scopes` resolves registers (`ptxtool.ir.symbols`), the rest is looked up where its meaning is needed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Union

import msgspec

from ptxtool.base.phrases import counted, one_line
from ptxtool.base.source import Source

if TYPE_CHECKING:
    from ptxtool.base.cuda_places import CudaPlace
    from ptxtool.ir.defuse import DefUse
    from ptxtool.ir.symbols import LabelTable, RegisterTable

_VERSION = re.compile(r"(\d+)\.(\d+)")


class Node(msgspec.Struct, frozen=True, gc=False):
    """Base of statements and operands."""

    def __repr__(self) -> str:
        return one_line(msgspec.Struct.__repr__(self), 160)


# ---- operands


class Name(Node, frozen=True, gc=False):
    """An identifier, with the part of it that is meant: `$r1.lo` is ("$r1", "lo"), `%tid.x` is ("%tid", "x")."""

    text: str
    part: str = ""


class Immediate(Node, frozen=True, gc=False):
    """A literal as written: `0x10`, `-4`, `0f3f800000`, `1.5`, `8U`. `ptxtool.isa.literals` gives its value."""

    text: str


class String(Node, frozen=True, gc=False):
    """A quoted string, without its quotes."""

    text: str


class Unary(Node, frozen=True, gc=False):
    """`-x`, `!p`, `~x`, `+x`."""

    operator: str
    operand: "Operand"


class Binary(Node, frozen=True, gc=False):
    """`a op b`, precedence resolved (C's); `p|q` and PTXPlus `$p0/$o127` as destinations are `Dual` instead."""

    operator: str
    left: "Operand"
    right: "Operand"


class Conditional(Node, frozen=True, gc=False):
    """`c ? a : b` in a constant expression."""

    condition: "Operand"
    then: "Operand"
    otherwise: "Operand"


class Dual(Node, frozen=True, gc=False):
    """Two destinations: PTX `%p|%q`, PTXPlus `$p0/$o127` and `$p0|$r1` (separator "|" or "/")."""

    first: "Operand"
    second: "Operand"
    separator: str


class Memory(Node, frozen=True, gc=False):
    """A memory operand or address.

    `[%r1+4]` is Memory("", Name("%r1"), Immediate("4")), `s[$ofs1+=0x4]` is Memory("s", Name("$ofs1"),
    Immediate("0x4"), post_increment=True), `constant0[0x10]` is Memory("constant0", None, Immediate("0x10")),
    `[tex, {%f1, %f2}]` has its further items in `coordinates`. `base` and `offset` may be any operand.
    """

    symbol: str
    base: "Operand | None"
    offset: "Operand | None" = None
    post_increment: bool = False
    coordinates: "tuple[Operand, ...]" = ()


class Vector(Node, frozen=True, gc=False):
    """`{a, b, c, d}`: vector operands, PTXPlus register pairs, initialiser lists (may nest, may be empty)."""

    items: "tuple[Operand, ...]"


class Group(Node, frozen=True, gc=False):
    """`(a, b)`: the argument and result lists of a call; a parenthesised constant expression of one item."""

    items: "tuple[Operand, ...]"


class Apply(Node, frozen=True, gc=False):
    """`generic(x)` and the byte masks `0xff(x)` in initializers: the function's name or mask, and its arguments."""

    function: str
    arguments: "tuple[Group, ...]"


class Cast(Node, frozen=True, gc=False):
    """`(.s64) x` in a constant expression."""

    type: str
    operand: "Operand"


Operand = Union[  # noqa: UP007  (a runtime alias of forward references)
    Name, Immediate, String, Unary, Binary, Conditional, Dual, Memory, Vector, Group, Apply, Cast
]


# ---- statements


class Opcode(Node, frozen=True, gc=False):
    """`ld.global.v4.u32`: the text as one dotted word (blanks removed), its base and its modifiers in order."""

    text: str
    base: str
    modifiers: tuple[str, ...]


class Guard(Node, frozen=True, gc=False):
    """`@p`, `@!p`, PTXPlus `@$p0.ne` (condition "ne")."""

    name: str
    negated: bool = False
    condition: str = ""


class Instruction(Node, frozen=True, gc=False):
    """One instruction of `source`.

    `start` and `end` are offsets into `source.text`: the first character of its guard or opcode, and the one after its
    semicolon. `operands` are in the order of the text, destinations first; a vector operand counts as one. Two
    instructions are equal where everything but their sources is.
    """

    start: int
    end: int
    guard: Guard | None
    opcode: Opcode
    operands: tuple[Operand, ...]
    source: Source

    @property
    def text(self) -> str:
        """Its own text, from its guard or opcode to its semicolon, line ends and comments inside it included."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line of its guard or opcode, from 1."""
        return self.source.line(self.start)

    def _parts(self) -> tuple[int, int, Guard | None, Opcode, tuple[Operand, ...]]:
        return self.start, self.end, self.guard, self.opcode, self.operands

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instruction) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"<Instruction at line {self.line}: {one_line(self.text, 120)}>"


class Label(Node, frozen=True, gc=False):
    """`name:`."""

    start: int
    end: int
    name: str


class Declarator(Node, frozen=True, gc=False):
    """One name of a declaration: `%r<10>` has count 10, `a[2][3]` has dimensions (None for `[]`), `= ...` a value."""

    name: str
    count: int | None = None
    dimensions: tuple[int | None, ...] = ()
    value: Operand | None = None


class Declaration(Node, frozen=True, gc=False):
    """A register or variable declaration, or a parameter.

    `space` has no dot ("reg", "shared", "const", "param", "tex", ...; `.const[2]` is "const[2]"); `qualifiers` are the
    remaining dotted words in order without dots ("v4", "f32", "ptr", ...); `align` is None where absent.
    """

    start: int
    end: int
    linkage: tuple[str, ...]
    space: str
    qualifiers: tuple[str, ...]
    align: int | None
    declarators: tuple[Declarator, ...]

    @property
    def type(self) -> str:
        """The element type, without a dot: "u32", "pred", "b8"; "" where none is given."""
        for word in reversed(self.qualifiers):
            if word not in _NOT_TYPES:
                return word
        return ""

    @property
    def vector(self) -> int:
        """Elements per register or variable: 2 or 4 for `.v2` and `.v4`, otherwise 1."""
        return next((int(w[1:]) for w in self.qualifiers if w in ("v2", "v4", "v8")), 1)


_NOT_TYPES = frozenset({
    "v2", "v4", "v8", "ptr", "global", "shared", "local", "const", "param", "generic",
    "visible", "extern", "weak", "common", "unified", "managed",
})  # fmt: skip


class Directive(Node, frozen=True, gc=False):
    """Any other directive: `.version`, `.target`, `.loc`, `.pragma`, `.constptr`, `.maxntid`, `.section`, ...

    `name` has no dot; `text` is what follows it, outer blanks and the semicolon removed.
    """

    start: int
    end: int
    name: str
    text: str


class ScopeOpen(Node, frozen=True, gc=False):
    """`{` of a nested block."""

    start: int
    end: int


class ScopeClose(Node, frozen=True, gc=False):
    """`}` of a nested block."""

    start: int
    end: int


Statement = Union[Instruction, Label, Declaration, Directive, ScopeOpen, ScopeClose]  # noqa: UP007


@dataclass(frozen=True, repr=False)
class Function:
    """An `.entry` (a kernel) or a `.func`.

    `body` are its statements in textual order, None for a declaration without a body; `instructions` are those that
    are instructions, and an instruction's number, from 0, is its index there. Offsets are into `source.text`: `start`
    is the first linkage word or the keyword, `end` is after the closing brace or semicolon, `body_start` is the
    opening brace.
    """

    start: int
    end: int
    kind: str  # "entry" or "func"
    name: str
    linkage: tuple[str, ...]
    params: tuple[Declaration, ...]
    returns: tuple[Declaration, ...]
    directives: tuple[Directive, ...]  # performance directives: maxntid, reqntid, minnctapersm, ...
    body: tuple[Statement, ...] | None
    body_start: int
    module: "Module" = field(repr=False, compare=False, default=None)  # type: ignore[assignment]  # set by Module

    def __repr__(self) -> str:
        return (
            f"<Function .{self.kind} {one_line(self.name, 80)}, {counted(len(self.params), 'parameter')}, "
            f"{counted(len(self.instructions), 'instruction')}>"
        )

    def _repr_html_(self) -> str:
        from ptxtool.base.html import MOST_ROWS, table

        n = len(self.instructions)
        rows = [(i, self.line(i), self.text(i)) for i in range(min(n, MOST_ROWS))]
        note = f"and {n - MOST_ROWS} more" if n > MOST_ROWS else ""
        return table(repr(self)[1:-1], ("instruction", "line", "text"), rows, note)

    @property
    def source(self) -> Source:
        """The text that all offsets of its nodes are into."""
        return self.module.source

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions in textual order; analyses and the simulator index into this."""
        return tuple([s for s in self.body or () if type(s) is Instruction])

    @cached_property
    def other_statements(
        self,
    ) -> tuple[tuple[int, "Label | Declaration | Directive | ScopeOpen | ScopeClose"], ...]:
        """The statements that are no instructions in textual order, each with the number of instructions before it."""
        body = self.body or ()
        places = [k for k, s in enumerate(body) if type(s) is not Instruction]
        return tuple([(k - n, body[k]) for n, k in enumerate(places)])  # type: ignore[misc]

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """The first words of the instructions' opcodes."""
        return tuple([node.opcode.base for node in self.instructions])

    @cached_property
    def _known_bases(self) -> frozenset[str]:
        return frozenset(self.bases)

    def at_bases(self, *bases: str) -> list[int]:
        """The indices of the instructions whose opcodes begin with one of these words, in textual order."""
        wanted = self._known_bases.intersection(bases)
        return [i for i, base in enumerate(self.bases) if base in wanted] if wanted else []

    @cached_property
    def parameters(self) -> tuple[Declaration, ...]:
        """What a launch or a call passes: `params`, or the `.param`s in the body of a kernel from before PTX 1.4."""
        if self.params or self.kind != "entry" or self.module.version >= (1, 4):
            return self.params
        return tuple(s for s in self.body or () if type(s) is Declaration and s.space == "param")

    @cached_property
    def labels(self) -> Mapping[str, int]:
        """Label name -> index of the instruction it stands before (len(instructions) at the end)."""
        labels: dict[str, int] = {}
        for n, statement in self.other_statements:
            if type(statement) is Label:
                labels.setdefault(statement.name, n)
        return MappingProxyType(labels)

    @cached_property
    def registers(self) -> "RegisterTable":
        """The declared registers in declaration order; a register's index is its sequence number - 1."""
        from ptxtool.ir.symbols import RegisterTable

        return RegisterTable(self)

    @cached_property
    def def_uses(self) -> "tuple[DefUse, ...]":
        """What the instructions do to registers, as `ptxtool.ir.defuse` finds it; kept because it is needed often."""
        from ptxtool.ir.defuse import def_use

        return def_use(self)

    @cached_property
    def label_table(self) -> "LabelTable":
        """The labels, by the blocks they stand in."""
        from ptxtool.ir.symbols import LabelTable

        return LabelTable(self)

    def line(self, instruction: Instruction | int) -> int:
        """Source line, from 1, of an instruction or of its index."""
        node = self.instructions[instruction] if isinstance(instruction, int) else instruction
        return self.source.line(node.start)

    def cuda_place(self, instruction: int) -> "CudaPlace | None":
        """The place in a CUDA source that an instruction comes from, by `.loc`."""
        return self.source.cuda.at(self.instructions[instruction].start)

    def text(self, instruction: Instruction | int) -> str:
        """An instruction's source text, on one line."""
        node = self.instructions[instruction] if isinstance(instruction, int) else instruction
        return " ".join(self.source.text[node.start : node.end].split())


Item = Union[Directive, Declaration, Function]  # noqa: UP007


@dataclass(frozen=True, repr=False)
class Module:
    """One file: its source and its items (directives, variables, functions) in textual order.

    `kernels`, `functions` and `variables` find them by name.
    """

    source: Source
    items: tuple[Item, ...]

    def __repr__(self) -> str:
        return (
            f"<Module {one_line(self.source.name, 80)}, {counted(len(self.kernels), 'kernel')}, "
            f"{counted(len(self.functions) - len(self.kernels), 'other function')}, "
            f"{counted(len(self.source.text), 'character')}>"
        )

    def _repr_html_(self) -> str:
        from ptxtool.base.html import table

        found = self.functions.values()
        rows = [(f".{f.kind}", f.name, len(f.params), len(f.instructions)) for f in found]
        return table(repr(self)[1:-1], ("kind", "name", "parameters", "instructions"), rows)

    def __post_init__(self) -> None:
        for item in self.items:
            if isinstance(item, Function):
                object.__setattr__(item, "module", self)

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """Every function by name, in file order; a definition wins over its declarations."""
        found: dict[str, Function] = {}
        for item in self.items:
            if isinstance(item, Function) and (item.name not in found or found[item.name].body is None):
                found[item.name] = item
        return MappingProxyType(found)

    @cached_property
    def kernels(self) -> Mapping[str, Function]:
        """The `.entry` functions by name, in file order."""
        return MappingProxyType({n: f for n, f in self.functions.items() if f.kind == "entry"})

    @cached_property
    def variables(self) -> Mapping[str, Declaration]:
        """Module-scope variables: name -> its declaration; one without `.extern` wins over those with."""
        found: dict[str, Declaration] = {}
        for item in self.declarations():
            for declarator in item.declarators:
                if declarator.name not in found or "extern" not in item.linkage:
                    found[declarator.name] = item
        return MappingProxyType(found)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its variables and functions."""
        return frozenset((*self.variables, *self.functions))

    @cached_property
    def number_prefixes(self) -> frozenset[str]:
        """Of the names that end in a number, what stands before it."""
        return frozenset(
            name.rstrip("0123456789") for name in self.names if name[-1].isdecimal() and name.isascii()
        )

    def declarations(self) -> Iterator[Declaration]:
        return (item for item in self.items if isinstance(item, Declaration))

    def storage(self) -> Iterator[Declaration]:
        """Its declarations without the `.extern` variables that another of them defines: each variable once."""
        return iter(self._storage)

    @cached_property
    def _storage(self) -> tuple[Declaration, ...]:
        found: list[Declaration] = []
        for item in self.declarations():
            if "extern" in item.linkage and any(self.variables[d.name] is not item for d in item.declarators):
                own = tuple(d for d in item.declarators if self.variables[d.name] is item)
                item = msgspec.structs.replace(item, declarators=own)
            found.append(item)
        return tuple(found)

    def directive(self, name: str) -> str | None:
        """The text of the first module-level directive of that name."""
        return next((i.text for i in self.items if isinstance(i, Directive) and i.name == name), None)

    @cached_property
    def version(self) -> tuple[int, int]:
        """The PTX version that `.version` names; (1, 0) where there is none."""
        found = _VERSION.match(self.directive("version") or "")
        return (int(found[1]), int(found[2])) if found else (1, 0)

    @cached_property
    def target(self) -> str:
        """The first architecture that `.target` names, "" where there is none."""
        words = [word.strip() for word in (self.directive("target") or "").split(",")]
        return next((word for word in words if word.startswith(("sm_", "compute_"))), "")

    @cached_property
    def is_ptxplus(self) -> bool:
        """True for PTXPlus: `+` after the version number."""
        return (self.directive("version") or "").rstrip().endswith("+")
