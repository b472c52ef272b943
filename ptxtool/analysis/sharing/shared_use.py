"""The shared variables of a kernel in order of first access, and the first access that scratchpad sharing stops.

For the report `first-use --space shared`. Per variable: its place, the number of instructions that may access it, the
first and the last of them as written, and its span (`shared_span.py`). An instruction that may access several
variables counts for each. Accesses of unknown address have a row of their own, "(any)"; in PTXPlus, where shared
memory is named by number, the numbers of the parameters count for "(parameters)", and those after all variables for
"(dynamic)". Variables that are never accessed come last, by address.

Reference: V. Jatala, J. Anantpur, A. Karkare, "Scratchpad sharing in GPUs", TACO 14(2), 2017.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from ptxtool.analysis.sharing.shared_access import SharedAccess, may_reach, shared_accesses
from ptxtool.analysis.sharing.shared_layout import HEADER_BYTES, SharedLayout, shared_layout
from ptxtool.analysis.sharing.shared_span import SharedSpans
from ptxtool.ir.nodes import Function

ANY, PARAMETERS, DYNAMIC = "(any)", "(parameters)", "(dynamic)"


@dataclass(frozen=True)
class AccessAt:
    """An instruction that accesses shared memory."""

    instruction: int
    line: int
    text: str

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return asdict(self)


@dataclass(frozen=True)
class VariableUse:
    """One variable, or "(any)" and the like. `offset` is None and `size` 0 where it has none of its own; `first` and
    `last` are None, `span` 0 where it is never accessed, `span` None for what is no variable."""

    name: str
    offset: int | None
    size: int
    accesses: int
    first: AccessAt | None
    last: AccessAt | None
    span: float | None

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return {"bytes" if key == "size" else key: value for key, value in asdict(self).items()}


@dataclass(frozen=True)
class SharedStop:
    """The first access, as written, that may need the shared part, and to what."""

    at: AccessAt
    variable: str


@dataclass(frozen=True)
class SharedUse:
    """The shared memory of one kernel: `layout` has the addresses of the variables and the bytes of a CTA."""

    kernel: Function = field(repr=False, compare=False)
    layout: SharedLayout
    variables: tuple[VariableUse, ...]

    def first_stop(self, boundary: int) -> SharedStop | None:
        """The first access, as written, that may go to bytes from a boundary on; None if there is none."""
        for i, found in enumerate(shared_accesses(self.kernel)):
            for access in found:
                if may_reach(self.layout, access, boundary):
                    return SharedStop(_at(self.kernel, i), _names(self.layout, access))
        return None

    def __str__(self) -> str:
        width = max((len(v.name) for v in self.variables), default=0)
        return "\n".join(
            f"{v.name:<{width}}  {v.size:>6} bytes at {'?' if v.offset is None else v.offset}: "
            + (f"lines {v.first.line} to {v.last.line}" if v.first and v.last else "never accessed")
            for v in self.variables
        )


def shared_use(kernel: Function) -> SharedUse:
    """The shared variables of a kernel in order of first access: offset, first and last access, span.

    Raises E202 on an undeclared label.
    """
    layout, spans = shared_layout(kernel), SharedSpans(kernel)
    accesses: dict[str, list[int]] = {v.name: [] for v in layout.variables}
    for i, found in enumerate(shared_accesses(kernel)):
        for name in dict.fromkeys(_names(layout, access) for access in found):
            accesses.setdefault(name, []).append(i)

    def use(name: str) -> VariableUse:
        at, variable = accesses[name], layout.variable(name)
        offset = {PARAMETERS: HEADER_BYTES, DYNAMIC: layout.bytes}.get(name)
        if variable is not None and layout.exact:
            offset = variable.offset
        return VariableUse(
            name,
            offset,
            variable.size if variable else layout.start - HEADER_BYTES if name == PARAMETERS else 0,
            len(at),
            _at(kernel, at[0]) if at else None,
            _at(kernel, at[-1]) if at else None,
            spans.span([name]) if variable else None,
        )

    order = sorted(accesses, key=lambda name: (not accesses[name], accesses[name][:1]))
    return SharedUse(kernel, layout, tuple(use(name) for name in order))


def _at(kernel: Function, instruction: int) -> AccessAt:
    return AccessAt(instruction, kernel.line(instruction), kernel.text(instruction))


def _names(layout: SharedLayout, access: SharedAccess) -> str:
    """The name of what an access reaches."""
    if access.variable:
        return access.variable
    if access.variable is None or access.offset is None:
        return ANY
    return next(_holders(layout, access.offset))


def _holders(layout: SharedLayout, offset: int) -> Iterator[str]:
    yield from (v.name for v in layout.variables if v.offset <= offset < v.end)
    if offset < layout.start:
        yield PARAMETERS
    yield DYNAMIC
