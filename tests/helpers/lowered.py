"""Kernels lowered to PTXPlus by the pass, for the tests that run them beside their originals."""

from functools import cache

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.pipeline import run
from ptxtool.passes.ptxplus.lower_ptxplus import LowerPtxplus


@cache
def _lowered(module: int, name: str) -> "Function | PtxError":
    try:
        return run(_MODULES[module], [LowerPtxplus(kernel=name)]).module.kernels[name]
    except PtxError as problem:
        if {d.code for d in problem.diagnostics} != {"E301"}:
            raise
        return problem


_MODULES: dict[int, Module] = {}


def lowered(kernel: Function) -> Function:
    """The kernel in PTXPlus, proved by the pipeline. Raises `PtxError` E301 for one that the pass refuses."""
    _MODULES[id(kernel.module)] = kernel.module  # keeps it alive, and so its number its own
    found = _lowered(id(kernel.module), kernel.name)
    if isinstance(found, PtxError):
        raise found
    return found
