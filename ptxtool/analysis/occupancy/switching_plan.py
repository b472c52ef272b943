"""The switching plan: the active and the resident CTAs of an SM that switches CTAs.

*Active* CTAs have a place in the pipeline: as many as the SM's threads, warps and CTAs, its scratchpad and the
registers for active CTAs admit. The other resident ones wait in shared memory for a place:

    virtual-thread   the whole register file is for active and waiting CTAs: until registers or scratchpad are full, or
                     `ctas` or `warps` reached
    reg-dram         the same, and `dram_ctas` more, with all of their registers in DRAM
    finereg          one part of the file, the ACRF, has registers of whole CTAs; the other, the PCRF, an entry for each
                     live register of a warp. With v of them live in each of w warps

                         ACRF CTAs + floor(entries / (w * v))     until scratchpad, `ctas` or `warps`

Reference: Y. Oh et al., "FineReg: fine-grained register file management for augmenting GPU throughput", MICRO 2018,
section IV; M. K. Yoon et al., "Virtual Thread: maximizing thread-level parallelism beyond GPU scheduling limit", ISCA
2016; timing-model section 6.1.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

import msgspec

from ptxtool.analysis.occupancy.occupancy import Amount, Count, HasSm, Occupancy, SmLimits, occupancy
from ptxtool.analysis.occupancy.register_schemes import RegisterScheme, SchemeName
from ptxtool.base.diag import error

ENTRY_LANES = 32
"""32-bit registers in an entry of the PCRF: one register of a warp."""
ENTRY_BYTES = 4 * ENTRY_LANES
"""Of an entry, and of a line of DRAM that a register of a warp takes."""


class Switching(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[switching]` table of a GPU file; the file's comments say what its keys mean."""

    scheme: SchemeName
    order: Literal["launch-first", "ready-first"]
    dram_ctas: Amount
    ctas: Count
    warps: Count
    acrf_registers: Count
    pcrf_entries: Count
    unified_bytes: Amount
    unified_l1_ways: Count
    swap_cycles: Amount
    concurrent_switches: Count
    registers_per_cycle: Count
    overlap: bool
    restore_first_cycles: Count
    vector_entries: Count
    vector_hit_cycles: Amount
    stalled_cycles: Amount
    refused_is_stalled: bool
    pool_percent: Annotated[float, msgspec.Meta(ge=0, le=100)]
    physical_registers: Amount
    named_percent: Count
    reserving_ctas: Count


class HasSwitching(HasSm, Protocol):
    """A machine with options of CTA switching, such as `ptxtool.formats.gpu.Gpu`."""

    @property
    def switching(self) -> Switching: ...


@dataclass(frozen=True)
class Restricted:
    """A part of a machine, for `occupancy`."""

    name: str
    sm: SmLimits


def with_acrf_only(gpu: HasSwitching) -> Restricted:
    """A machine with FineReg's registers for active CTAs only."""
    registers = gpu.switching.acrf_registers
    name = f"{gpu.name} with {registers} registers for active CTAs (switching.acrf_registers)"
    return Restricted(name, msgspec.structs.replace(gpu.sm, registers=registers))


def with_private_only(gpu: HasSm, pool_registers: int) -> Restricted:
    """A machine with the registers for base sets only, so many being a pool."""
    registers = gpu.sm.registers - pool_registers
    name = f"{gpu.name} with {registers} registers for base sets (switching.pool_percent)"
    return Restricted(name, msgspec.structs.replace(gpu.sm, registers=registers))


@dataclass(frozen=True)
class SwitchingPlan:
    """The CTAs of an SM. `active` is their occupancy of the pipeline and of the registers for active CTAs.

    `acrf_ctas` are those with registers there, in the pipeline or not; `ctas` bounds the resident ones, whatever the
    PCRF holds. `lines` are the lines of DRAM that the registers of a CTA take there: one for each register of a warp; 0
    where none move to DRAM.
    """

    scheme: RegisterScheme
    active: Occupancy
    warps: int
    acrf_ctas: int
    pcrf_entries: int
    lines: int
    ctas: int

    def resident_ctas(self, live: int) -> int:
        """The resident CTAs if every waiting one has so many 32-bit registers live in each of its warps."""
        waiting = self.ctas
        if self.scheme.switching == "virtual-thread":
            waiting = 0
        elif self.scheme.switching == "finereg" and live:
            waiting = self.pcrf_entries // (self.warps * live)
        return min(self.ctas, self.acrf_ctas + waiting)

    @property
    def by_live(self) -> tuple[tuple[int, int], ...]:
        """The resident CTAs by live registers of a warp; of successive counts with as many CTAs only the last."""
        most = max(1, self.active.needs.registers_per_thread)
        counts = [(live, self.resident_ctas(live)) for live in range(1, most + 1)]
        return tuple({ctas: (live, ctas) for live, ctas in counts}.values())

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`: the occupancy of the pipeline, and what switching adds."""
        return {
            **self.active.to_dict(),
            "switching": self.scheme.name,
            "acrf_ctas": self.acrf_ctas,
            "pcrf_entries": self.pcrf_entries,
            "most_resident_ctas": self.ctas,
            "resident_by_live": [list(pair) for pair in self.by_live],
            "dram_bytes_of_a_cta": self.lines * ENTRY_BYTES,
        }


def switching_plan(
    gpu: HasSwitching,
    scheme: RegisterScheme,
    threads: int,
    registers: int,
    scratchpad: int = 0,
    pool_registers: int = 0,
) -> SwitchingPlan:
    """Plan the CTAs of an SM under a scheme that switches them: `registers` per thread, `scratchpad` bytes per CTA. So
    many registers of the file are a pool of sections (`section_plan.py`), and `registers` those of the base set.

    Raises E402 where one CTA does not fit, E502 for a division of the register file that cannot be.
    """
    options, sm = gpu.switching, gpu.sm
    machine = Restricted(gpu.name, sm)
    if pool_registers:
        machine = with_private_only(gpu, pool_registers)
    if scheme.switching == "finereg":
        parts = options.acrf_registers + options.pcrf_entries * ENTRY_LANES
        if parts > sm.registers:
            what = f"switching.acrf_registers and switching.pcrf_entries are {parts} registers, of {sm.registers}"
            help = f"a PCRF entry is {ENTRY_LANES} registers: make one of the two smaller"
            raise error("E502", f"{gpu.name}: {what}", help=help)
        machine = with_acrf_only(gpu)
    active = occupancy(machine, threads, registers, scratchpad)
    warps = active.needs.padded_threads // sm.warp_size
    limits = [options.ctas, options.warps // warps]
    if scratchpad:
        limits.append(sm.scratchpad_bytes // scratchpad)
    in_file = active.limits["registers"]
    if scheme.switching != "finereg" and in_file is not None:
        limits.append(in_file + (options.dram_ctas if scheme.switching == "reg-dram" else 0))
    ctas = min(limits)
    if ctas == 0:
        what = f"a CTA of {warps} warps where {options.warps} may be resident (switching.warps)"
        raise error("E402", what, help="use fewer threads per CTA, or allow more warps")
    return SwitchingPlan(
        scheme=scheme,
        active=active,
        warps=warps,
        acrf_ctas=ctas if in_file is None else min(in_file, ctas),
        pcrf_entries=options.pcrf_entries if scheme.switching == "finereg" else 0,
        lines=max(1, warps * registers) if scheme.switching == "reg-dram" else 0,
        ctas=ctas,
    )
