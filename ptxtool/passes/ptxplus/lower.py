"""The steps of `lower-ptxplus`, from a PTX module to the final text: selection, registers, encodings, addresses.

Only `ptxtool.passes.ptxplus.lower_ptxplus` imports this, and only when it runs, to keep other commands fast.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ptxtool.base.diag import Diagnostic, PtxError, by_place, error
from ptxtool.ir.edit import splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse
from ptxtool.passes.base import PassResult, chosen_kernels
from ptxtool.passes.ptxplus.code import KernelCode
from ptxtool.passes.ptxplus.layout import final_text, module_text
from ptxtool.passes.ptxplus.places import ModuleVariables
from ptxtool.passes.ptxplus.select import select
from ptxtool.passes.regalloc.claim import AssignmentClaim
from ptxtool.passes.regalloc.placement import Bounds, place_registers

_NAME = "lower-ptxplus"
_FLUSHING = frozenset(["10", "11", "12", "13"])
"""Targets that had no subnormal numbers of 32 bits."""


def selected(module: Module, kernel: str = "") -> tuple[ModuleVariables, tuple[KernelCode, ...]]:
    """Code over virtual registers for all kernels of a PTX module, or for one. Raises `PtxError` E301."""
    if module.target.rpartition("_")[2] in _FLUSHING:
        what = f"f32 instructions for '{module.target}' take subnormal numbers for zero, those of PTXPlus here do not"
        raise error("E301", f"lower-ptxplus: {what}", module.source, help="compile for sm_20 or newer")
    variables = ModuleVariables(module)
    codes: list[KernelCode] = []
    problems: dict[Diagnostic, None] = {}  # once each: kernels may call the same function
    refused: list[str] = []
    for function in _kernels(module, kernel):
        code, found = select(function, variables)
        codes.append(code)
        problems |= dict.fromkeys(found)
        if found:
            refused.append(function.name)
    if problems:
        lowered = [code.name for code in codes if code.name not in refused]
        raise PtxError(by_place([*_lowered_alone(refused, lowered), *problems]))
    return variables, tuple(codes)


def _lowered_alone(refused: Sequence[str], lowered: Sequence[str]) -> Iterator[Diagnostic]:
    """Of a file in which some kernels can be lowered and others not: which."""
    if lowered:
        n = f"{len(refused)} of {len(refused) + len(lowered)} kernels"
        message = f"lower-ptxplus: {n} cannot be lowered: {', '.join(refused)}"
        help = f"'kernel=NAME' lowers one alone; these can be: {', '.join(lowered)}"
        yield Diagnostic("E301", message, help=help)


def _kernels(module: Module, name: str) -> list[Function]:
    """The kernels to lower. Raises E301 where there is none."""
    chosen = chosen_kernels(module, name)
    if not chosen:
        raise error("E301", "lower-ptxplus: no kernel in this file", help="give a file with one")
    return chosen


def allocate(
    variables: ModuleVariables, codes: Sequence[KernelCode], bounds: Bounds
) -> tuple[str, Module, PassResult]:
    """The final text, the module over virtual registers, and its allocation. Raises E301 for too few registers."""
    with_locals = next((code.name for code in codes if code.local_bytes), "")
    # the file has one 'l0', and local memory is addressed by numbers from 0 on
    if with_locals and bounds.spill:
        advice = f"nothing can spill beside the local variables of '{with_locals}'"
        if not all(code.local_bytes for code in codes):
            advice += ": lower the other kernels alone ('kernel=NAME')"
        bounds = replace(bounds, spill=False, advice=advice)
    virtual = parse(module_text(variables, codes), variables.module.source.name)
    try:
        result = place_registers(virtual, _NAME, bounds, "first-use")
    except PtxError as problem:
        raise PtxError([_in_source(variables.module, virtual, d) for d in problem.diagnostics]) from None
    assert isinstance(result.claim, AssignmentClaim), "of an assignment of registers"
    origins = [result.claim.origins[code.name] for code in codes]
    text = final_text(splice(virtual.source.text, result.edits), origins)
    return text, virtual, replace(result, claim=replace(result.claim, encoded=True))


def _in_source(module: Module, virtual: Module, problem: Diagnostic) -> Diagnostic:
    """A diagnostic about a kernel over virtual registers, placed at the kernel in the source."""
    name = next(f.name for f in virtual.kernels.values() if f.start <= problem.start <= f.end)
    kernel = module.kernels[name]
    return replace(problem, source=module.source, start=kernel.start, end=kernel.body_start)
