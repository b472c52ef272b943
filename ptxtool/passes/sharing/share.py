"""The options `share`, `registers` and `scratchpad` of the passes for resource sharing."""

from fractions import Fraction
from typing import Annotated

from ptxtool.analysis.occupancy.sharing_plan import percentage, private_part
from ptxtool.analysis.sharing.shared_registers import is_virtual
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.phrases import counted
from ptxtool.ir.nodes import Function
from ptxtool.passes.base import Remark, Shown, WrongOption

Share = Annotated[str, Shown("P", "required")]
Registers = Annotated[int, Shown("N", "default: the kernel's own")]
Scratchpad = Annotated[int, Shown("BYTES", "default: the kernel's static bytes")]


def required_share(name: str, share: str, others: str = "") -> Fraction:
    """The sharing percentage that a pass was given, `others` being its options beside it.

    Raises `WrongOption`: E301 where it was given none, E502 for a wrong one.
    """
    if not share:
        given = f"{name}{{{others}}}" if others else name
        help = f"say how much is shared, as the run will: {name}{{{','.join(filter(None, (others, 'share=90')))}}}"
        raise WrongOption("share", Diagnostic("E301", f"{given} needs the sharing percentage", help=help))
    try:
        return percentage(share, f"{name}: share")
    except PtxError as problem:
        raise WrongOption("share", problem.diagnostics[0]) from None


def virtual_remark(name: str, kernel: Function, percent: Fraction, registers: int) -> tuple[Remark, ...]:
    """What to say where sequence numbers are no places of a register file: then most count as shared."""
    if not percent:
        return ()
    from ptxtool.analysis.regalloc.register_need import registers_per_thread  # loads numpy

    taken = registers or registers_per_thread(kernel)
    if not is_virtual(kernel, taken):
        return ()
    said = (
        f"its registers are not physical: {counted(len(kernel.registers), 'is', 'are')} declared, a thread "
        f"takes {taken}, and {private_part(taken, percent)} of these count as private; run allocate or compact before"
    )
    return (Remark(name, said, kernel.name),)


def check_options(name: str, share: str, others: str = "", /, **counts: int) -> None:
    """See that a pass has its sharing percentage, and no count less than 0. Raises as `required_share` does."""
    required_share(name, share, others)
    for option, n in counts.items():
        if n < 0:
            help = f"give the {'bytes per CTA' if option == 'scratchpad' else 'registers per thread'}"
            raise WrongOption(option, Diagnostic("E502", f"{option} = {n} is less than 0", help=help))
