"""What ptxas spills at given register counts, without and with NVIDIA's own spilling to shared memory.

The pragma `enable_smem_spilling` moves spills to shared memory in the register count that the user asks for. It chooses
no count and raises no occupancy by itself: its figures stand beside the variants of `ptxtool tune`, as the text that
ptxas makes is not simulated.

Reference: PTX ISA, section 12 (descriptions of `.pragma` strings).
"""

from ptxtool.external.ptxas import find_ptxas, ptxas_usage
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Directive, Function, Module
from ptxtool.isa.targets import is_older
from ptxtool.parse import parse
from ptxtool.results.register_counts import PtxasRun
from ptxtool.results.tuning import AssembledSpills
from ptxtool.sema.shared_spilling import SINCE, WORD

PRAGMA = f'.pragma "{WORD}";'
_TARGET = "sm_75"
"""The first target that has it."""
NO_PTXAS = "no ptxas here: what its own spilling to shared memory gives is not shown"


def assembled_spills(
    kernel: Function, targets: tuple[int, ...], threads: int
) -> tuple[str, tuple[AssembledSpills, ...]]:
    """The figures of ptxas for register counts, and its name; () and why where there is none. Runs it twice each.

    `threads` are those of a CTA, at most, where the kernel does not say so.
    """
    if kernel.module.is_ptxplus:
        return "ptxas does not read PTXPlus", ()
    if find_ptxas() is None:
        return NO_PTXAS, ()
    found: list[AssembledSpills] = []
    name = ""
    for target in targets:
        plain, moved = (ptxas_usage(_bounded(kernel, target, threads, pragma)) for pragma in ("", PRAGMA))
        if plain is None or moved is None:
            return NO_PTXAS, ()
        problem = plain.problem or moved.problem
        name = f"{plain}: {problem}" if problem else f"{plain}"
        found.append(AssembledSpills(target, *_figures(plain, kernel), *_figures(moved, kernel)))
    return name, tuple(found)


def _figures(run: PtxasRun, kernel: Function) -> tuple[int | None, int | None]:
    used = run.kernels.get(kernel.name)
    return (used.registers, used.spill_bytes) if used else (None, None)


def _bounded(kernel: Function, registers: int, threads: int, pragma: str) -> Module:
    """The module with a bound on a kernel's registers, and with the pragma if that is not "".

    In the first version and for the first target that have the pragma, or its own. A bound in the text holds where
    ptxas ignores its option: in kernels that bound their CTAs.
    """
    module = kernel.module
    head = f".maxnreg {registers}\n" + ("" if block_bound(kernel) else f".maxntid {threads}\n")
    start = kernel.body_start
    edits = [TextEdit(start, start, head), TextEdit(start + 1, start + 1, f"\n\t{pragma}")]
    edits += [
        TextEdit(d.start, d.end, "") for d in kernel.directives if d.name in ("maxnreg", "minnctapersm")
    ]
    newer = {"version": f"{SINCE[0]}.{SINCE[1]}"} if module.version < SINCE else {}
    if is_older(module.target, _TARGET):
        newer["target"] = _TARGET
    for item in module.items:
        if isinstance(item, Directive) and item.name in newer:
            edits.append(TextEdit(item.start, item.end, f".{item.name} {newer[item.name]}"))
    return parse(splice(module.source.text, edits), module.source.name)
