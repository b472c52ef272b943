"""What a register scheme needs of a kernel's text: the passes that make it.

Most schemes run any text. Those with extended registers (RegMutex) need marks around the regions in which a warp holds
these; `allocate,split-registers` makes them where a text has none.
"""

from collections.abc import Sequence

from ptxtool.analysis.occupancy.register_schemes import SCHEMES
from ptxtool.ir.marks import EXTENDED, marks
from ptxtool.ir.nodes import Function

SPLIT = "split-registers"


def scheme_passes(kernels: Sequence[Function], scheme: str) -> str:
    """The passes that a scheme needs before the kernels of a module run: "" for a scheme that runs any text."""
    if not any(each.extended for each in SCHEMES if each.name == scheme):
        return ""
    unmarked = [kernel for kernel in kernels if not any(marks(kernel, EXTENDED))]
    if len(unmarked) == len(kernels[0].module.kernels) == 1:
        return f"allocate,{SPLIT}"
    return ",".join(["allocate", *(f"{SPLIT}:kernel={k.name}" for k in unmarked)]) if unmarked else ""
