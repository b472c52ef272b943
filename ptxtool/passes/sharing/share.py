"""What the passes for resource sharing have in common: their options, and the loop over a module's kernels."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

from ptxtool.analysis.occupancy.sharing_plan import percentage, private_part
from ptxtool.analysis.sharing.shared_registers import is_virtual
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.phrases import counted
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import Claim, PassResult, Remark, Shown, WrongOption

Share = Annotated[str, Shown("P", "required")]
Registers = Annotated[int, Shown("N", "default: the kernel's own")]
Scratchpad = Annotated[int, Shown("BYTES", "default: the kernel's static bytes")]


def required_share(name: str, share: str, others: str = "") -> Fraction:
    """The sharing percentage of a pass, whose other options are `others`.

    Raises `WrongOption`: E301 where it is missing, E502 for a wrong one.
    """
    if not share:
        shown = ":".join(filter(None, (name, others)))
        help = f"say how much is shared, as the run will: {shown}:share=90"
        raise WrongOption("share", Diagnostic("E301", f"{shown} needs the sharing percentage", help=help))
    try:
        return percentage(share, f"{name}: share")
    except PtxError as problem:
        raise WrongOption("share", problem.diagnostics[0]) from None


def virtual_remark(name: str, kernel: Function, percent: Fraction, registers: int) -> Iterator[Remark]:
    """A remark for a kernel whose registers are not physical: most of them count as shared."""
    if not percent:
        return
    from ptxtool.analysis.regalloc.register_need import registers_per_thread  # loads numpy

    taken = registers or registers_per_thread(kernel)
    if is_virtual(kernel, taken):
        message = (
            f"its registers are not physical: {counted(len(kernel.registers), 'is', 'are')} declared, a thread takes "
            f"{taken}, and {private_part(taken, percent)} of these count as private; run allocate or compact before"
        )
        yield Remark(name, message, kernel.name)


def check_options(name: str, share: str, others: str = "", /, **counts: int) -> None:
    """Check that the sharing percentage is there and no count is less than 0. Raises as `required_share` does."""
    required_share(name, share, others)
    for option, n in counts.items():
        if n < 0:
            help = f"give the {'bytes per CTA' if option == 'scratchpad' else 'registers per thread'}"
            raise WrongOption(option, Diagnostic("E502", f"{option} = {n} is less than 0", help=help))


@dataclass(frozen=True)
class SharingPass:
    """A pass with the option `share`, and perhaps `registers` and `scratchpad`, which transforms kernel by kernel."""

    share: Share = ""
    name: ClassVar[str]

    def __post_init__(self) -> None:
        counts = ("registers", "scratchpad")
        check_options(self.name, self.share, **{c: getattr(self, c) for c in counts if hasattr(self, c)})

    @property
    def percent(self) -> Fraction:
        """The sharing percentage."""
        return required_share(self.name, self.share)

    def remark(self, kernel: Function, message: str) -> Remark:
        """A remark about a kernel, at its first line."""
        return Remark(self.name, message, kernel.name, kernel.source.line(kernel.start))


Transformed = tuple[Iterable[TextEdit], Iterable[Remark]]
"""The edits of one kernel, and the remarks about it."""


def transform_kernels(
    module: Module, claim: Claim, transform: Callable[[Function], Transformed]
) -> PassResult:
    """The result of a pass that transforms every kernel by itself."""
    edits: list[TextEdit] = []
    remarks: list[Remark] = []
    for kernel in module.kernels.values():
        of_kernel, about_kernel = transform(kernel)
        edits += of_kernel
        remarks += about_kernel
    return PassResult(tuple(edits), tuple(remarks), claim)
