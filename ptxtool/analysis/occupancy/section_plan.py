"""The section plan: the resident CTAs of an SM, and the sections of the pool, where registers are split into two sets.

A part of the register file, `switching.pool_percent`, is a pool of sections that all warps share. A thread has a base
set of B registers for itself; a section holds the E extended registers of every lane of a warp:

    CTAs      floor((file - pool) / (padded threads * B)), unless threads, warps, CTAs or scratchpad admit fewer
    sections  floor(pool / (warp size * E)), at least 1: the pool takes that much then

Reference: F. Khorasani et al., "RegMutex: inter-warp GPU register time-sharing", ISCA 2018; Y. Oh et al., FineReg,
MICRO 2018, section VI.D: 28.1% of the file on average is best for it (with Virtual Thread).
"""

from dataclasses import dataclass

from ptxtool.analysis.occupancy.occupancy import HasSm, Occupancy, occupancy
from ptxtool.analysis.occupancy.switching_plan import HasSwitching, Switching, with_private_only
from ptxtool.base.diag import error
from ptxtool.base.phrases import counted

POOL_PERCENT = 28.1
"""Of the register file, where a machine does not give it."""


@dataclass(frozen=True)
class SectionPlan:
    """The CTAs of an SM by their base sets (`occupancy`), and the `sections` of the pool, each with the `extended`
    registers of all lanes of a warp. `pool_registers` are of 32 bits."""

    occupancy: Occupancy
    pool_registers: int
    extended: int
    sections: int


def section_plan(
    gpu: HasSm | HasSwitching, threads: int, base: int, extended: int, scratchpad: int = 0
) -> SectionPlan:
    """Plan the CTAs and sections of an SM: `base` and `extended` registers per thread, 1 or more of each; `scratchpad`
    bytes per CTA. Raises E402 where one CTA does not fit beside one section."""
    sm, section = gpu.sm, gpu.sm.warp_size * extended
    switching = getattr(gpu, "switching", None)
    percent = switching.pool_percent if isinstance(switching, Switching) else POOL_PERCENT
    pool = max(int(sm.registers * percent / 100), section)
    if pool >= sm.registers:
        what = f"a pool of {counted(pool, 'register')}, of {sm.registers} on an SM of {gpu.name}"
        help = "make it smaller (switching.pool_percent), or the extended set"
        raise error("E402", what, help=help)
    found = occupancy(with_private_only(gpu, pool), threads, base, scratchpad)
    return SectionPlan(found, pool, extended, pool // section)
