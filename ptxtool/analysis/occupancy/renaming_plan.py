"""The renaming plan: the resident CTAs of an SM, and its physical registers, where registers are released by name.

The names of a CTA's registers take no room in the register file, only entries of a table of names. CTAs are resident as
far as names reach, which are `switching.named_percent` of the registers of an SM; the physical registers are
`switching.physical_registers`, or those of the SM (0). One CTA must fit whatever it needs at a time.

    CTAs      floor(names / (padded threads * registers)), unless threads, warps, CTAs or scratchpad admit fewer
    needed    padded threads * the most 32-bit registers that a warp needs at an instruction

Reference: H. Jeon et al., "GPU register file virtualization", MICRO 2015: names as in the file without renaming, half
of the physical registers.
"""

from dataclasses import dataclass

import msgspec

from ptxtool.analysis.occupancy.occupancy import Occupancy, occupancy
from ptxtool.analysis.occupancy.switching_plan import HasSwitching, Restricted
from ptxtool.base.diag import error
from ptxtool.ir.variables import round_up


@dataclass(frozen=True)
class RenamingPlan:
    """The CTAs of an SM by their names (`occupancy`). `physical_registers` are of 32 bits, and so are `most_of_cta`,
    those that a CTA can need at a time and that are kept for the `reserving_ctas` oldest ones."""

    occupancy: Occupancy
    physical_registers: int
    most_of_cta: int
    reserving_ctas: int


def renaming_plan(
    gpu: HasSwitching, threads: int, registers: int, needed: int, scratchpad: int = 0
) -> RenamingPlan:
    """Plan the CTAs of an SM: `registers` per thread by name, of which a warp needs `needed` at a time at most;
    `scratchpad` bytes per CTA. Raises E402 where one CTA does not fit, by its names or by its needs."""
    sm, options = gpu.sm, gpu.switching
    names = sm.registers * options.named_percent // 100
    physical = options.physical_registers or sm.registers
    named = Restricted(
        f"{gpu.name} with {names} names of registers (switching.named_percent)",
        msgspec.structs.replace(sm, registers=names),
    )
    most = round_up(threads, sm.warp_size) * needed
    if most > physical:
        what = f"{threads} threads that need {needed} registers at a time, of {physical} physical ones on {gpu.name}"
        raise error("E402", what, help="raise switching.physical_registers, or lower the threads of a CTA")
    return RenamingPlan(
        occupancy(named, threads, registers, scratchpad), physical, most, options.reserving_ctas
    )
