"""Where the parameters and variables of a function lie in its frame of local memory.

A frame is a piece of every thread's local memory, as large for all calls of the function:

    results | parameters | `.local` variables and `.param` variables of the body

Results and parameters come first, each by its alignment, so that a caller, which lays out its callee's frame after its
own, knows their offsets from the prototype alone. Variables of the body live as long as the block `{ }` they are
declared in; the blocks of calls that follow one another share their bytes. `.reg` parameters and results have
offsets too: results are passed there from the callee's registers to the caller's.

Reference: NVIDIA, "Parallel Thread Execution ISA", section 5.1.6 (parameter state space), 7.1 (functions).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ptxtool.ir.nodes import Declaration, Directive, Function, Instruction, ScopeClose, ScopeOpen
from ptxtool.ir.variables import alignment_of, declared_size, round_up
from ptxtool.isa.types import TYPES

FRAME_ALIGNMENT = 16
PREDICATE_BYTES = 4
"""A predicate parameter or result in a frame."""

_FORMAL = re.compile(r"\.(param|reg)\s+(?:\.align\s+(\d+)\s+)?((?:\.\w+\s*)+)[\w$%]*\s*(?:\[\s*(\d*)\s*\])?")
_PROTOTYPE = re.compile(r"(\([^)]*\))?\s*_?\s*(\([^)]*\))?")


@dataclass(frozen=True)
class FrameVariable:
    """A variable, parameter or result in a frame; instructions `first` to `last` (exclusive) see it."""

    name: str
    offset: int
    size: int
    type: str
    alignment: int
    is_register: bool = False
    first: int = 0
    last: int = 1 << 62


@dataclass(frozen=True)
class Formals:
    """The results and parameters of a function or prototype, and the bytes they take."""

    returns: tuple[FrameVariable, ...]
    params: tuple[FrameVariable, ...]
    size: int

    @cached_property
    def shape(self) -> tuple[tuple[int, int], ...]:
        """Offsets and sizes, which must be equal for a call and its callee."""
        return tuple((p.offset, p.size) for p in (*self.returns, *self.params))


@dataclass(frozen=True)
class FunctionFrame:
    """One function's frame: `size` bytes at a multiple of `alignment`."""

    formals: Formals
    variables: dict[str, tuple[FrameVariable, ...]]
    size: int
    alignment: int

    def find(self, name: str, position: int) -> FrameVariable | None:
        """The innermost variable of a name that an instruction sees; a parameter or result, where there is none."""
        places = self.variables.get(name, ())
        return next((p for p in reversed(places) if p.first <= position < p.last), None)


class VariableSpace:
    """Lays variables out one after the other."""

    def __init__(self, start: int = 0):
        self.end = self.size = start
        self.alignment = FRAME_ALIGNMENT

    def place(self, size: int, alignment: int) -> int:
        """The offset of the next variable; `size` and `alignment` of the space grow with it."""
        offset = round_up(self.end, alignment)
        self.end = offset + size
        self.size = max(self.size, self.end)
        self.alignment = max(self.alignment, alignment)
        return offset


def formals_of(function: Function) -> Formals:
    """The results and parameters of a function."""

    def listed(declarations: Sequence[Declaration]) -> Iterator[tuple[str, int, int, str, bool]]:
        for declaration in declarations:
            for declarator in declaration.declarators:
                size, alignment = PREDICATE_BYTES, PREDICATE_BYTES
                if declaration.type != "pred":
                    size, alignment = declared_size(declaration, declarator), alignment_of(declaration)
                yield declarator.name, size, alignment, declaration.type, declaration.space == "reg"

    return _formals(listed(function.returns), listed(function.params))


def prototype(directive: Directive) -> Formals:
    """The formals of a `.callprototype`: `(results) _ (parameters)`."""

    def listed(text: str) -> Iterator[tuple[str, int, int, str, bool]]:
        for space, align, words, count in _FORMAL.findall(text):
            kind = next((w for w in re.findall(r"\w+", words) if w in TYPES), "b32")
            width = PREDICATE_BYTES if kind == "pred" else TYPES[kind].bytes
            yield "_", width * int(count or 1), int(align or width), kind, space == "reg"

    found = _PROTOTYPE.match(directive.text)
    assert found is not None
    return _formals(listed(found[1] or ""), listed(found[2] or ""))


def _formals(*lists: Iterable[tuple[str, int, int, str, bool]]) -> Formals:
    """Lay out results and parameters: name, size, alignment, type, and whether it is a register."""
    space = VariableSpace()
    returns, params = (
        tuple(
            FrameVariable(name, space.place(size, alignment), size, kind, alignment, is_register)
            for name, size, alignment, kind, is_register in formals
        )
        for formals in lists
    )
    return Formals(returns, params, space.end)


def frame_of(function: Function, start: int | None = None) -> FunctionFrame:
    """The frame of a function; of a kernel the `.param` variables, above the `start` bytes of its `.local` ones."""
    formals = formals_of(function) if start is None else Formals((), (), 0)
    layout = VariableSpace(formals.size if start is None else start)
    spaces = ("local", "param") if start is None else ("param",)
    found: dict[str, list[FrameVariable]] = {p.name: [p] for p in (*formals.returns, *formals.params)}
    # of each open block: where it began, and what was declared inside
    open_blocks: list[tuple[int, list[tuple[str, int]]]] = [(layout.end, [])]
    position = 0
    for statement in function.body or ():
        if isinstance(statement, Instruction):
            position += 1
        elif isinstance(statement, ScopeOpen):
            open_blocks.append((layout.end, []))
        elif isinstance(statement, ScopeClose) and len(open_blocks) > 1:
            layout.end, declared = open_blocks.pop()
            for name, k in declared:
                found[name][k] = replace(found[name][k], last=position)
        elif (
            isinstance(statement, Declaration)
            and statement.space.partition("::")[0] in spaces
            and statement not in function.parameters
        ):
            for declarator in statement.declarators:
                size, alignment = declared_size(statement, declarator), alignment_of(statement)
                offset = layout.place(size, alignment)
                name = declarator.name
                places = found.setdefault(name, [])
                open_blocks[-1][1].append((name, len(places)))
                places.append(FrameVariable(name, offset, size, statement.type, alignment, False, position))
    variables = {name: tuple(places) for name, places in found.items()}
    return FunctionFrame(formals, variables, round_up(layout.size, layout.alignment), layout.alignment)
