"""What callers of a run may give wrong: extents, whole numbers, the list of arguments, the kernel, names of choices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean
from ptxtool.ir.nodes import Function, Module

Extent = int | Sequence[int]
"""A number, or up to three: x, y, z."""

PTXPLUS_SEMANTICS = ("hardware", "gpgpu-sim")
"""Whose meaning PTXPlus instructions have, by name."""

STACK_BYTES = 16 << 10
"""Local memory of a thread beyond its longest chain of different functions, for recursion; and for `alloca`."""
MOST_STACK_BYTES = 512 << 10
"""All local memory that a thread can have (CUDA C++ Programming Guide, compute capabilities)."""
HEAP_BYTES = 8 << 20
"""The heap of `malloc`, as large as CUDA's."""
MOST_HEAP_BYTES = 1 << 31
MAX_SHARED = 227 * 1024
"""Bytes of shared memory that a CTA may have on any machine so far (sm_90)."""


def extent(name: str, given: Extent) -> tuple[int, int, int]:
    """Three sizes. Raises E401 for what is not one to three positive whole numbers."""
    values = tuple(given) if isinstance(given, Sequence | np.ndarray) else (given,)
    if not 1 <= len(values) <= 3 or any(not isinstance(v, int | np.integer) or v < 1 for v in values):
        help_text = f"such as {name}=128 or {name}=(16, 16)"
        raise error("E401", f"{name} {given!r} is not one to three positive whole numbers", help=help_text)
    padded = (*(int(v) for v in values), 1, 1)
    return padded[0], padded[1], padded[2]


def whole(name: str, given: object, least: int) -> None:
    """Raise E401 for an option that is no whole number, or too small."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise error("E401", f"{name} = {given!r}", help=f"give a whole number of at least {least}")


def check_limits(stack_bytes: object, heap_bytes: object) -> None:
    """Raise E401 for sizes of stack and heap that cannot be."""
    for name, given, least, most in (
        ("stack_bytes", stack_bytes, 0, MOST_STACK_BYTES),
        ("heap_bytes", heap_bytes, 64, MOST_HEAP_BYTES),
    ):
        whole(name, given, least)
        if int(given) > most:  # type: ignore[call-overload]
            raise error("E401", f"{name} = {given}", help=f"at most {most} is possible")


def is_as_gpgpu_sim(ptxplus_semantics: object) -> bool:
    """Whether PTXPlus means what GPGPU-Sim makes of it. Raises E502 for a name that is none of PTXPLUS_SEMANTICS."""
    if ptxplus_semantics not in PTXPLUS_SEMANTICS:
        known = " and ".join(f"'{name}'" for name in PTXPLUS_SEMANTICS)
        there = f"there are {known}; docs/ptxplus-semantics.md has the differences"
        help = did_you_mean(str(ptxplus_semantics), PTXPLUS_SEMANTICS, then=there)
        raise error("E502", f"PTXPlus has no semantics '{ptxplus_semantics}'", help=help)
    return ptxplus_semantics == "gpgpu-sim"


def check_kernel(kernel: object) -> None:
    """Raise E401 for what is no parsed kernel."""
    if isinstance(kernel, Module):
        names = ", ".join(kernel.kernels) or "none"
        raise error(
            "E401", "kernel is a whole module", help=f'give module.kernels["NAME"]; its kernels are {names}'
        )
    if not isinstance(kernel, Function):
        what = repr(kernel) if isinstance(kernel, str) else f"of type {type(kernel).__name__}"
        raise error(
            "E401", f"kernel is {what}", help='give a parsed one: ptxtool.load("FILE").kernels["NAME"]'
        )


def check_sequence(args: Any) -> None:
    """Raise E401 for arguments that are no list."""
    if not isinstance(args, Sequence | np.ndarray) or isinstance(args, str | bytes):
        raise error(
            "E401", f"args is {args!r}", help="give a list with one value per parameter of the kernel"
        )


def check_names(names: Sequence[str], args: Any) -> None:
    """Raise E401 for names that are not one for each argument."""
    if names and len(names) != len(args):
        raise error(
            "E401", f"{len(names)} names for {len(args)} arguments", help="give one for each, or none"
        )
