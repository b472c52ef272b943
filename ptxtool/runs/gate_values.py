"""The values of a kernel that `ptxtool gate` holds to limits."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ptxtool.analysis.compare.figures import MeasuredKernel
from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Function
from ptxtool.results.register_counts import RegisterCounts

if TYPE_CHECKING:
    from ptxtool.results.simulation import SimResult


def static_values(
    kernel: Function, counts: RegisterCounts, machine: Gpu, threads: int | None
) -> dict[str, int]:
    """Values of the text: those of `diff`, registers, spills of ptxas, and resident CTAs for `threads` per CTA.

    Registers are those that ptxas allocated, where it ran, else those that the allocator needs; a CTA that does not fit
    has no occupancy.
    """
    figures = MeasuredKernel(kernel).figures
    values = {
        "pressure": figures.live_registers,
        "instructions": figures.instructions,
        "shared": figures.shared_bytes,
        "local": figures.local_bytes,
        "barriers": figures.barriers,
    }
    if counts.used is not None:
        values |= {"registers": counts.used.registers, "spills": counts.used.spill_bytes}
    elif counts.need is not None:
        values["registers"] = counts.need.registers
    if threads is not None and "registers" in values:
        try:
            found = occupancy(machine, threads, values["registers"], figures.shared_bytes)
        except PtxError:
            return values | {"occupancy": 0}
        values["occupancy"] = found.resident_ctas
    return values


def simulated_values(result: "SimResult") -> Mapping[str, int]:
    """Values of a simulated launch: cycles, and cycles that accesses to shared memory waited for a bank."""
    return {"cycles": result.cycles, "conflicts": result.core["bank_conflict_cycles"]}
