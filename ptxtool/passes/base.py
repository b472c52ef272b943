"""What a pass is and what it returns: for the passes, and for the pipeline that runs them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from ptxtool.base.cuda_places import CudaPlace
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.mangled import shown_name
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module

Claim = Callable[[Module, Module], tuple[Diagnostic, ...]]
"""A check in `ptxtool.validate` that re-proves a pass's result from the modules before and after; () if it holds."""


@dataclass(frozen=True)
class Remark:
    """One remark of a pass for the user. `line` is in the module that the pass read, 0 for none.

    The pipeline adds `cuda`, the line of the CUDA source, where the module's text has a `.loc` for that line.
    """

    pass_name: str
    message: str
    function: str = ""
    line: int = 0
    cuda: CudaPlace | None = None

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        data = {"pass": self.pass_name, "message": self.message, "function": self.function, "line": self.line}
        shown = {name: value for name, value in data.items() if value or name in ("pass", "message")}
        return {**shown, **(self.cuda.to_dict() if self.cuda else {})}

    def __str__(self) -> str:
        where = f"{shown_name(self.function)}: " if self.function else ""
        at = f" (line {self.line}{f', {self.cuda}' if self.cuda else ''})" if self.line else ""
        return f"{self.pass_name}: {where}{self.message}{at}"


def no_claim(before: Module, after: Module) -> tuple[Diagnostic, ...]:
    """The claim of a pass that claims nothing: only its text is checked, and runs compare the results."""
    return ()


@dataclass(frozen=True)
class PassResult:
    """The text edits of a pass, its remarks, and the check that must hold between the modules before and after."""

    edits: tuple[TextEdit, ...]
    remarks: tuple[Remark, ...] = ()
    claim: Claim = no_claim


class WrongOption(PtxError):
    """The value of an option is wrong for every module. The pipeline adds the place where it is written."""

    def __init__(self, option: str, diagnostic: Diagnostic):
        super().__init__(diagnostic)
        self.option = option


class Shown(NamedTuple):
    """The values and the default of an option in the list of passes, where its type does not give them."""

    values: str
    default: str


class Pass(Protocol):
    """A pass: a frozen dataclass whose fields are its options, for the command line, the API and sweeps alike.

    Contract. In: a module without errors (`ptxtool.sema.verify`). Out: edits of its text; spliced and parsed again they
    give a module without errors for which the claim holds. The pipeline verifies both after every pass, always.
    A pass with nothing to do returns no edits and a remark saying why. A pass that cannot apply its options raises
    `PtxError` E301 and never guesses; an option that is wrong for every module is a `WrongOption` when the pass is
    constructed. `run` is pure: same module, same options, same edits.

    An option is `str`, `int`, `bool` or a `Literal` of texts, perhaps `Annotated` with `Shown`, and has a default.
    """

    name: ClassVar[str]

    def run(self, module: Module) -> PassResult: ...


def chosen_kernels(module: Module, name: str) -> list[Function]:
    """The kernels with a body, or the one of that name. Raises E301 where there is none of the name."""
    kernels = [k for k in module.kernels.values() if k.body is not None and name in ("", k.name)]
    if name and not kernels:
        names = ", ".join(module.kernels) or "none"
        raise error("E301", f"no kernel named '{name}'", help=f"there are: {names}")
    return kernels
