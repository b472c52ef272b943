"""Remarks of a run: what the reader of its counters should know, a sentence each.

The registers that were shared where the text's are virtual; `setmaxnreg` that does nothing; a pool of registers for a
text without marks; a machine older than the GPU that the text is for; issue slots lost to the instruction cache, which
says more about the machine's file than about the kernel.
"""

from collections.abc import Iterator

from ptxsim.timing.simulation import Simulation
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Function
from ptxtool.isa.targets import is_older
from ptxtool.results.simulation import SimResult

MISS_SHARE = 0.1
"""Of the issue slots: from here on misses of the instruction cache are worth a remark."""


def remarks(kernel: Function, simulation: Simulation, result: SimResult) -> Iterator[str]:
    """The remarks of a run."""
    gpu, program = simulation.gpu, simulation.program
    if is_older(gpu.target, kernel.module.target):
        yield f"compiled for {kernel.module.target}, a newer GPU than the machine ({gpu.target})"
    if program.adjusts_registers and not simulation.plan.entry_registers:
        yield "'setmaxnreg' is ignored: the registers at the kernel's entry are unknown (W212)"
    if simulation.plan.scheme.extended and simulation.plan.sections is None:
        name = simulation.plan.scheme.name
        yield f"no marks of extended registers: {name} needs the text of 'rewrite -p split-registers'"
    if program.sharing_note:
        yield program.sharing_note
    lost = result.core["instruction_miss_slots"] / max(1, sum(result.slots.values()))
    addresses = program.instructions["address"]
    code = int(addresses.max() - addresses.min()) + 8
    if lost >= MISS_SHARE and code > _cache_bytes(gpu):  # less code is missed once, by a cache of any size
        yield (
            f"{lost:.0%} of the issue slots are lost to instruction misses: {_cache_bytes(gpu)} bytes of cache, {code} "
            "of code (--set fetch.ways=N)"
        )


def _cache_bytes(gpu: Gpu) -> int:
    return gpu.fetch.sets * gpu.fetch.ways * gpu.fetch.line_bytes
