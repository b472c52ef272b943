"""What ptxas spills at given register counts, without and with NVIDIA's own spilling to shared memory.

The pragma `enable_smem_spilling` moves spills to shared memory in the register count that the user asks for. It chooses
no count and raises no occupancy by itself: its figures stand beside the variants of `ptxtool tune`, as the text that
ptxas makes is not simulated.

Reference: PTX ISA, section 12 (descriptions of `.pragma` strings).
"""

from ptxtool.external.ptxas import OPTIMISED, find_ptxas, ptxas_usage
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse
from ptxtool.results.register_counts import PtxasRun
from ptxtool.results.tuning import AssembledSpills

PRAGMA = '.pragma "enable_smem_spilling";'
_SINCE = (8, 7)
"""The PTX version that has it."""
NO_PTXAS = "no ptxas here: what its own spilling to shared memory gives is not shown"


def assembled_spills(kernel: Function, targets: tuple[int, ...]) -> tuple[str, tuple[AssembledSpills, ...]]:
    """The figures of ptxas for register counts, and its name; () and why where there is none. Runs it twice each."""
    if kernel.module.is_ptxplus:
        return "ptxas does not read PTXPlus", ()
    if find_ptxas() is None:
        return NO_PTXAS, ()
    found: list[AssembledSpills] = []
    name = ""
    with_pragma = _with_pragma(kernel)
    for target in targets:
        plain, moved = (
            ptxas_usage(module, OPTIMISED, max_registers=target) for module in (kernel.module, with_pragma)
        )
        if plain is None or moved is None:
            return NO_PTXAS, ()
        name = f"{plain}" + (f": {problem}" if (problem := plain.problem or moved.problem) else "")
        found.append(AssembledSpills(target, *_figures(plain, kernel), *_figures(moved, kernel)))
    return name, tuple(found)


def _figures(run: PtxasRun, kernel: Function) -> tuple[int | None, int | None]:
    used = run.kernels.get(kernel.name)
    return (used.registers, used.spill_bytes) if used else (None, None)


def _with_pragma(kernel: Function) -> Module:
    """The module with the pragma in a kernel, in the first PTX version that has it or its own."""
    module = kernel.module
    start = kernel.body_start + 1
    edits = [TextEdit(start, start, f"\n\t{PRAGMA}")]
    if module.version < _SINCE:
        version = next(item for item in module.items if getattr(item, "name", "") == "version")
        edits.append(TextEdit(version.start, version.end, f".version {_SINCE[0]}.{_SINCE[1]}"))
    return parse(splice(module.source.text, edits), module.source.name)
