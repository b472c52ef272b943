"""The register counts that are worth demoting to, for a kernel on a machine: RegDem's tuner of counts.

Registers are allocated in units, and an SM holds whole CTAs. So only a few register counts bring another CTA, and of
those that bring as many, the largest costs least: a target is a multiple of the allocation unit with more resident CTAs
than every larger multiple has. To get from r registers to T takes


    d = r - T + 2        demoted registers: two are new, the address and the value (three with 64-bit registers)
    4 * d * threads      bytes of shared memory

and the resident CTAs are those with these bytes (`ptxtool.analysis.occupancy`). The targets end where registers do not
limit the CTAs any longer, where the slots would, or where these exceed a kernel's static shared memory.

For `demote:occupancy=W`, `ptxtool occupancy --demotion` and tuning. A machine that rounds CTAs to even counts, as
RegDem's rule has it, does so in its `SmLimits`.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 4, and the tuning scripts of its release.
"""

from dataclasses import dataclass

from ptxtool.analysis.occupancy.occupancy import HasSm, Occupancy, fits, occupancy
from ptxtool.base.diag import PtxError
from ptxtool.base.phrases import counted
from ptxtool.ir.variables import round_up

STATIC_SHARED = 49152
"""Bytes of static shared memory of a kernel, at most (CUDA programming guide, technical specifications)."""
ADDRESS_AND_VALUE = 2
"""New registers, at least: the address of the thread's slots, the value register."""
WORD_BYTES = 4
"""Of a slot."""


@dataclass(frozen=True)
class DemotionTarget:
    """A register count per thread worth demoting to: `demoted` registers in `slot_bytes` of shared memory per CTA."""

    registers: int
    demoted: int
    slot_bytes: int
    occupancy: Occupancy

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        cost = {"registers": self.registers, "demoted": self.demoted, "slot_bytes": self.slot_bytes}
        return self.occupancy.to_dict() | cost


@dataclass(frozen=True)
class DemotionTargets:
    """The targets, each with more resident CTAs than the one before, and in words why there are no more (`end`).

    `before` is the occupancy without demotion; None where no CTA fits.
    """

    before: Occupancy | None
    targets: tuple[DemotionTarget, ...]
    end: str

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        before = self.before.to_dict() if self.before else None
        return {"before": before, "targets": [target.to_dict() for target in self.targets], "end": self.end}


def slot_bytes(registers: int, threads: int) -> int:
    """The bytes of shared memory that so many demoted registers of 32 bits take in a CTA (equation 1 of RegDem)."""
    return WORD_BYTES * registers * threads


def demotion_targets(
    gpu: HasSm, registers: int, threads: int, static_shared: int = 0, dynamic_shared: int = 0
) -> DemotionTargets:
    """The worthwhile targets of a kernel, from the largest count down.

    `registers` are per thread, `threads` per CTA, shared memory in bytes per CTA. Raises E402 for CTAs that do not fit
    whatever their registers.
    """
    shared = static_shared + dynamic_shared
    free = occupancy(gpu, threads, 0, shared)
    before = occupancy(gpu, threads, registers, shared) if fits(gpu, threads, registers) else None
    resident = before.resident_ctas if before else 0
    found: list[DemotionTarget] = []
    unit = gpu.sm.register_allocation_unit
    for target in range(round_up(registers, unit) - unit, ADDRESS_AND_VALUE, -unit):
        if resident == free.resident_ctas:
            break
        demoted = registers - target + ADDRESS_AND_VALUE
        n_bytes = slot_bytes(demoted, threads)
        if round_up(static_shared, WORD_BYTES) + n_bytes > STATIC_SHARED:
            return DemotionTargets(before, tuple(found), _too_many_bytes(target))
        after = _fitting(gpu, threads, target, shared + n_bytes)
        if after is None or (after.limits["scratchpad"] or 0) <= resident:
            return DemotionTargets(before, tuple(found), _costs_residency(target, n_bytes, resident))
        if after.resident_ctas > resident:
            resident = after.resident_ctas
            found.append(DemotionTarget(target, demoted, n_bytes, after))
    if resident == free.resident_ctas:
        end = f"{' and '.join(free.all_limiters)} limit an SM to {counted(resident, 'CTA')}"
    else:
        end = f"registers are allocated {unit} at a time, and no smaller number brings another CTA"
    return DemotionTargets(before, tuple(found), end)


def _fitting(gpu: HasSm, threads: int, registers: int, shared: int) -> Occupancy | None:
    """The occupancy, None where no CTA fits."""
    try:
        return occupancy(gpu, threads, registers, shared)
    except PtxError:
        return None


def _too_many_bytes(target: int) -> str:
    return f"{counted(target, 'register')} would need more than {STATIC_SHARED} bytes of shared memory"


def _costs_residency(target: int, n_bytes: int, resident: int) -> str:
    return (
        f"{n_bytes} bytes of shared memory for {counted(target, 'register')} would leave no more than "
        f"{counted(resident, 'CTA')} on an SM"
    )
