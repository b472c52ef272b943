"""The registers of a thread at a kernel's entry, as its launch bounds fix them: what `setmaxnreg` starts from.

`.maxnreg N` fixes N; a CTA's threads (`.maxntid`, `.reqntid`) and `.minnctapersm` fix what one thread has if so many
CTAs share an SM. With both it is the smaller number. For the check of `setmaxnreg`, the default of a launch, and the
simulator's pool of registers.

Reference: PTX ISA, sections 9.7.19.5 (setmaxnreg) and 11.4 (performance-tuning directives); the numbers as ptxas 13.0
prints them ("Used N registers") for kernels with `setmaxnreg`.
"""

from collections.abc import Iterator

from ptxtool.analysis.occupancy.cuda_limits import MOST_REGISTERS, known_target
from ptxtool.ir.blocks import BlockBound, block_bound, numbers
from ptxtool.ir.nodes import Directive, Function
from ptxtool.ir.variables import round_up

_SM_REGISTERS = 1 << 16
"""Of a target whose limits are not known."""
_UNIT = 8
"""Registers are allocated to a thread in units of 8, and `setmaxnreg` counts in them."""
_WARP = 32


def ignored_ctas(kernel: Function, item: Directive, bound: BlockBound | None) -> tuple[str, str] | None:
    """Why ptxas ignores a `.minnctapersm`, and what to do; None where it does not."""
    if bound is None:
        return "the number of threads of a CTA is unknown", "write '.maxntid' or '.reqntid' beside it"
    target = known_target(kernel.module.target.replace("compute_", "sm_"))
    ctas = numbers(item)[0]
    if target is None:
        return None
    if ctas > target.sm.ctas:
        what = f"an SM of '{kernel.module.target}' has at most {target.sm.ctas} CTAs"
    elif ctas * bound.threads > target.sm.threads:
        what = f"{ctas} CTAs of {bound.threads} threads exceed the {target.sm.threads} of an SM"
    else:
        return None
    return what, "lower it, or the threads of a CTA"


def entry_registers(kernel: Function) -> int | None:
    """The registers per thread at a kernel's entry, None where its launch bounds do not fix them."""
    found = [*_bounds(kernel)]
    return max(1, min(*found, MOST_REGISTERS)) if found else None


def _bounds(kernel: Function) -> Iterator[int]:
    bounds = {directive.name: directive for directive in kernel.directives}
    if (registers := bounds.get("maxnreg")) is not None:
        yield numbers(registers)[0]
    ctas, block = bounds.get("minnctapersm"), block_bound(kernel)
    if ctas is not None and block is not None and not ignored_ctas(kernel, ctas, block):
        target = known_target(kernel.module.target.replace("compute_", "sm_"))
        of_sm = _SM_REGISTERS if target is None else target.sm.registers
        threads = numbers(ctas)[0] * round_up(block.threads, _WARP)
        yield of_sm // max(1, threads) // _UNIT * _UNIT


def adjusts_registers(kernel: Function) -> bool:
    """Whether a kernel, or a function of its module that it may call, executes `setmaxnreg`."""
    functions = (kernel, *(f for f in kernel.module.functions.values() if f.kind != "entry"))
    return any(function.at_bases("setmaxnreg") for function in functions)


def launched_registers(kernel: Function, given: int | None = None) -> int:
    """The registers per thread with which `setmaxnreg` finds a CTA launched, in whole units of 8; 0: it is ignored.

    `given`: those that the launch gives, as `ptxas -maxrregcount` does, whatever the kernel's bounds; 0: none.
    """
    return round_up(given or entry_registers(kernel) or 0, _UNIT)
