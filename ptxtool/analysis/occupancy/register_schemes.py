"""The register schemes by name: what a machine does with the registers of CTAs that wait.

A scheme is composed of four parts, and another scheme is another row of `SCHEMES`:

    switching   which CTAs give their place in the pipeline to others, and where the registers of these are meanwhile
                (`switching_plan.py`); "none": a CTA keeps its place until it ends
    extended    the registers of a warp above a base set come from a pool that all warps share
    unified     one memory serves registers, shared memory and L1 (`unified_plan.py`)
    renamed     a register is occupied from a write to the last use of the value (`renaming_plan.py`)
"""

import re
from dataclasses import dataclass
from typing import Literal

from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean

SchemeName = Literal[
    "none",
    "virtual-thread",
    "reg-dram",
    "regmutex",
    "virtual-thread-regmutex",
    "finereg",
    "unified",
    "virtual-thread-unified",
    "finereg-unified",
    "release-by-name",
]
SwitchingKind = Literal["none", "virtual-thread", "reg-dram", "finereg"]


@dataclass(frozen=True)
class RegisterScheme:
    """A scheme and its parts."""

    name: str
    """One of `SchemeName`, or `FILE.py:FUNCTION` for one of the user's own, with the parts of another."""
    switching: SwitchingKind = "none"
    extended: bool = False
    unified: bool = False
    renamed: bool = False


SCHEMES: tuple[RegisterScheme, ...] = (
    RegisterScheme("none"),
    RegisterScheme("virtual-thread", switching="virtual-thread"),
    RegisterScheme("reg-dram", switching="reg-dram"),
    RegisterScheme("regmutex", extended=True),
    RegisterScheme("virtual-thread-regmutex", switching="virtual-thread", extended=True),
    RegisterScheme("finereg", switching="finereg"),
    RegisterScheme("unified", unified=True),
    RegisterScheme("virtual-thread-unified", switching="virtual-thread", unified=True),
    RegisterScheme("finereg-unified", switching="finereg", unified=True),
    RegisterScheme("release-by-name", renamed=True),
)


def own_parts(name: str) -> tuple[str, str] | None:
    """File and function of a scheme of the user's own, `FILE.py:FUNCTION`; None for another name. Raises E502."""
    found = re.fullmatch(r"(.+\.py)(?::(.*))?", name, re.DOTALL)
    if found is None:
        return None
    if not found[2]:
        help = f"write '{found[1]}:FUNCTION', such as '{found[1]}:decide'"
        raise error("E502", f"register scheme '{name}' names no function", help=help)
    return found[1], found[2]


def scheme_named(name: object) -> RegisterScheme:
    """The scheme of a name. Raises E502."""
    for scheme in SCHEMES:
        if scheme.name == name:
            return scheme
    names = [scheme.name for scheme in SCHEMES]
    known = ", ".join(f"'{known}'" for known in names)
    help = did_you_mean(str(name), names, then=f"there are {known}; one of your own is FILE.py:FUNCTION")
    raise error("E502", f"no register scheme named '{name}'", help=help)
