"""Checks of what callers pass to a launch: the kernel, extents, arguments and numbers; and limits of the numbers."""

from collections.abc import Sequence
from math import prod
from operator import gt
from typing import Any

import numpy as np

from ptxtool.base.cpus import available_cpus
from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean
from ptxtool.ir.nodes import Function, Module

Extent = int | Sequence[int]
"""A number, or up to three: x, y, z."""


class RawParameters(bytes):
    """The parameters of a launch as one piece of memory, as CUDA passes them; instead of arguments."""


PTXPLUS_SEMANTICS = ("hardware", "gpgpu-sim")
"""The semantics of PTXPlus instructions, by name."""

STACK_BYTES = 16 << 10
"""Local memory of a thread beyond its longest chain of different functions, for recursion; and for `alloca`."""
MOST_STACK_BYTES = 512 << 10
"""All local memory that a thread can have (CUDA C++ Programming Guide, compute capabilities)."""
HEAP_BYTES = 8 << 20
"""The heap of `malloc`, as large as CUDA's."""
MOST_HEAP_BYTES = 1 << 31
SLICE = 64
"""Warp instructions of a run without time before the next warp of the CTA runs: longer slices are not faster."""
MOST_SLICE = 1 << 16
MOST_THREADS = 32
"""Of one simulation."""
MAX_SHARED = 227 * 1024
"""Bytes of shared memory that a CTA may have on any machine so far (sm_90)."""


MOST_CTAS = (2**31 - 1, 65535, 65535)
"""Of a grid: x, y, z (CUDA C++ Programming Guide, compute capabilities)."""
MOST_COUNT = 2**62
"""Of cycles, instructions and the like: what compiled code counts with has 63 bits."""


def all_threads() -> int:
    """The threads of one run that has the processors to itself."""
    return min(MOST_THREADS, available_cpus())


def simulating_threads(n_sms: int) -> int:
    """Those of one simulation of so many SMs: each thread has four at least (a choice), as with fewer they mostly wait
    for one another."""
    return max(1, min(all_threads(), n_sms // 4))


def extent(name: str, value: Extent) -> tuple[int, int, int]:
    """Three sizes, x, y, z. Raises E401 unless there are one to three positive whole numbers, and for a grid that is
    too large for any GPU."""
    values = tuple(value) if isinstance(value, Sequence | np.ndarray) else (value,)
    if not 1 <= len(values) <= 3 or any(not isinstance(v, int | np.integer) or v < 1 for v in values):
        help_text = f"such as {name}=128 or {name}=(16, 16)"
        raise error("E401", f"{name} {value!r} is not one to three positive whole numbers", help=help_text)
    padded = (*(int(v) for v in values), 1, 1)
    found = padded[0], padded[1], padded[2]
    if name == "grid" and (any(map(gt, found, MOST_CTAS)) or prod(found) > MOST_COUNT):
        x, y, z = MOST_CTAS
        raise error("E401", f"grid {value!r} is too large", help=f"at most {x} x {y} x {z} CTAs are possible")
    return found


def whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raise E401 for an option that is not a whole number, or too small or too large."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise error("E401", f"{name} = {value!r}", help=f"give a whole number of at least {least}")
    if most is not None and value > most:
        raise error("E401", f"{name} = {value}", help=f"at most {most} is possible")


def is_as_gpgpu_sim(ptxplus_semantics: object) -> bool:
    """Whether PTXPlus has GPGPU-Sim's semantics. Raises E502 for a name that is not one of PTXPLUS_SEMANTICS."""
    if ptxplus_semantics not in PTXPLUS_SEMANTICS:
        known = " and ".join(f"'{name}'" for name in PTXPLUS_SEMANTICS)
        there = f"there are {known}; docs/ptxplus-semantics.md has the differences"
        help = did_you_mean(str(ptxplus_semantics), PTXPLUS_SEMANTICS, then=there)
        raise error("E502", f"PTXPlus has no semantics '{ptxplus_semantics}'", help=help)
    return ptxplus_semantics == "gpgpu-sim"


def check_call(kernel: object, args: Any, names: Sequence[str]) -> None:
    """Raise E401 unless the kernel is a parsed one, the arguments a sequence, and the names one for each argument."""
    if isinstance(kernel, Module):
        known = ", ".join(kernel.kernels) or "none"
        help = f'give module.kernels["NAME"]; its kernels are {known}'
        raise error("E401", "kernel is a whole module", help=help)
    if not isinstance(kernel, Function):
        what = repr(kernel) if isinstance(kernel, str) else f"of type {type(kernel).__name__}"
        help = 'give a parsed one: ptxtool.load("FILE").kernels["NAME"]'
        raise error("E401", f"kernel is {what}", help=help)
    if isinstance(args, RawParameters):
        if names:
            raise error(
                "E401", "names for raw parameters", help="leave them out: raw parameters name no buffers"
            )
        return
    if not isinstance(args, Sequence | np.ndarray) or isinstance(args, str | bytes):
        help = "give a list with one value per parameter of the kernel"
        raise error("E401", f"args is {args!r}", help=help)
    if names and len(names) != len(args):
        help = "give one for each, or none"
        raise error("E401", f"{len(names)} names for {len(args)} arguments", help=help)
