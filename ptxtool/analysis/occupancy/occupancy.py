"""Occupancy: how many CTAs fit on an SM, and which resource limits them.

Every resource admits floor(capacity / need of one CTA) CTAs; the smallest of these is resident. Threads count in whole
warps, registers per thread are rounded up to the machine's allocation unit:

    padded = ceil(threads / warp size) * warp size
    registers of a CTA = padded * ceil(registers / unit) * unit

A need of 0 registers or scratchpad bytes limits nothing. On hardware a warp's registers are in one partition of the
register file, so that a partition holds whole warps; and a CTA's scratchpad, with what the driver reserves of it, is
rounded up to a unit (`cuda_limits.py`). Most simulated machines have one partition, a unit of a byte, and reserve none.
Each number is rounded down to a multiple of `cta_allocation_unit`: two in RegDem's rule, otherwise one.
Reference: GPGPU-Sim 3.2.2, maximum CTAs per core (timing-model section 4.3); `cuda_occupancy.h` of CUDA 13.0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

import msgspec

from ptxtool.base.diag import error
from ptxtool.ir.variables import round_up

_MOST = 2**31 - 1  # a field of 32 bits
Count = Annotated[int, msgspec.Meta(ge=1, le=_MOST)]
"""A number of a machine, 1 or more."""
Amount = Annotated[int, msgspec.Meta(ge=0, le=_MOST)]
"""The same, 0 or more."""

MAX_THREADS = 1024
"""Of a CTA, in every launch; an SM may hold more."""
LIMITERS = ("registers", "scratchpad", "threads", "ctas")
"""The resources; of several that limit, the first is named first: the one that a kernel can change most easily."""


class SmLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one SM holds: the `[sm]` table of a GPU file. `registers` are of 32 bits.

    Keys with a default are those of hardware, which the simulated machines leave alone; 0: as many as an SM has.
    """

    count: Count
    warp_size: Count
    threads: Count
    warps: Count
    ctas: Count
    registers: Count
    register_allocation_unit: Count
    scratchpad_bytes: Count
    schedulers: Count
    register_partitions: Count = 1
    registers_per_cta: Amount = 0
    scratchpad_per_cta: Amount = 0
    scratchpad_allocation_unit: Count = 1
    scratchpad_reserved: Amount = 0
    cta_allocation_unit: Count = 1


class HasSm(Protocol):
    """A machine with a name and SMs, such as `ptxtool.formats.gpu.Gpu`."""

    @property
    def name(self) -> str: ...
    @property
    def sm(self) -> SmLimits: ...


@dataclass(frozen=True)
class CtaNeeds:
    """What one CTA takes from an SM. `registers` is the whole CTA's, allocation rounded; so is
    `allocated_scratchpad`."""

    threads: int
    padded_threads: int
    registers_per_thread: int
    registers: int
    scratchpad: int
    allocated_scratchpad: int


@dataclass(frozen=True)
class Occupancy:
    """The resident CTAs of an SM. `limits` has, per resource, the CTAs it admits, rounded down to whole units (None: it
    limits nothing)."""

    gpu: str
    needs: CtaNeeds
    limits: Mapping[str, int | None]
    resident_ctas: int
    active_warps: int
    max_warps: int

    @property
    def all_limiters(self) -> tuple[str, ...]:
        return tuple(name for name in LIMITERS if self.limits[name] == self.resident_ctas)

    @property
    def limiter(self) -> str:
        """The resource that limits the CTAs; of several the first of `LIMITERS`."""
        return self.all_limiters[0]

    @property
    def fraction(self) -> float:
        """Resident warps of those the SM could hold."""
        return self.active_warps / self.max_warps

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return {
            "gpu": self.gpu,
            "threads": self.needs.threads,
            "registers": self.needs.registers_per_thread,
            "scratchpad": self.needs.scratchpad,
            "resident_ctas": self.resident_ctas,
            "limiter": self.limiter,
            "all_limiters": list(self.all_limiters),
            "limits": dict(self.limits),
            "active_warps": self.active_warps,
            "max_warps": self.max_warps,
            "occupancy": self.fraction,
        }

    def _repr_html_(self) -> str:
        from ptxtool.base.html import table

        title, *notes = self._summary()
        rows = [(name, self.limits[name]) for name in LIMITERS]
        return table(title, ("resource", "CTAs that it admits"), rows, "; ".join(notes))

    def _summary(self) -> tuple[str, ...]:
        """What came out, and from what."""
        needs = self.needs
        return (
            f"{self.resident_ctas} resident CTAs, limited by {' and '.join(self.all_limiters)} ({self.gpu})",
            f"active warps {self.active_warps} of {self.max_warps} ({100 * self.fraction:.0f}%)",
            f"per CTA: {needs.threads} threads in {needs.padded_threads} lanes, {needs.registers} registers, "
            f"{needs.scratchpad} bytes of scratchpad",
        )

    def __str__(self) -> str:
        title, *notes = self._summary()
        lines = [title, *(f"  {note}" for note in notes)]
        for name in LIMITERS:
            limit = self.limits[name]
            lines.append(f"  by {name + ':':12}{'-' if limit is None else limit:>4}")
        return "\n".join(lines)


def cta_needs(gpu: HasSm, threads: int, registers: int, scratchpad: int) -> CtaNeeds:
    """What a CTA of `threads` threads takes: `registers` per thread, `scratchpad` bytes per CTA. Raises E402."""
    sm = gpu.sm
    if threads < 1:
        raise error("E402", f"a CTA of {threads} threads", help="give at least one thread per CTA")
    if registers < 0 or scratchpad < 0:
        what, value = ("registers", registers) if registers < 0 else ("bytes of scratchpad", scratchpad)
        raise error("E402", f"{value} {what}", help="give 0 or more")
    padded = round_up(threads, sm.warp_size)
    allocated = round_up(registers, sm.register_allocation_unit)
    taken = round_up(scratchpad + sm.scratchpad_reserved, sm.scratchpad_allocation_unit)
    return CtaNeeds(threads, padded, registers, padded * allocated, scratchpad, taken)


def occupancy(gpu: HasSm, threads: int, registers: int, scratchpad: int = 0) -> Occupancy:
    """Count the resident CTAs: `registers` per thread, `scratchpad` bytes per CTA. Raises E402 if none fits."""
    sm = gpu.sm
    needs = cta_needs(gpu, threads, registers, scratchpad)
    limits: dict[str, int | None] = {
        "registers": _by_registers(sm, needs) if needs.registers else None,
        "scratchpad": _by_scratchpad(sm, needs) if needs.allocated_scratchpad else None,
        "threads": min(sm.threads // needs.padded_threads, sm.warps * sm.warp_size // needs.padded_threads),
        "ctas": sm.ctas,
    }
    limits = {name: limit and _allocated(sm, limit) for name, limit in limits.items()}
    resident = min(limit for limit in limits.values() if limit is not None)
    if resident == 0:
        raise _does_not_fit(gpu, needs, limits)
    return Occupancy(
        gpu=gpu.name,
        needs=needs,
        limits=limits,
        resident_ctas=resident,
        active_warps=resident * needs.padded_threads // sm.warp_size,
        max_warps=sm.warps,
    )


def fits(gpu: HasSm, threads: int, registers: int) -> bool:
    """Whether the registers of one CTA fit on an SM."""
    return not registers or _by_registers(gpu.sm, cta_needs(gpu, threads, registers, 0)) > 0


def _allocated(sm: SmLimits, ctas: int) -> int:
    """The CTAs that are launched where so many fit: a multiple of the machine's unit, or what fits if that is less."""
    return ctas - ctas % sm.cta_allocation_unit or ctas


def _by_registers(sm: SmLimits, needs: CtaNeeds) -> int:
    """The CTAs whose registers fit: whole warps in every partition, and a CTA as if it filled rows of partitions."""
    warps = needs.padded_threads // sm.warp_size
    of_warp = needs.registers // warps
    if of_warp * round_up(warps, sm.register_partitions) > (sm.registers_per_cta or sm.registers):
        return 0
    return sm.registers // sm.register_partitions // of_warp * sm.register_partitions // warps


def _by_scratchpad(sm: SmLimits, needs: CtaNeeds) -> int:
    most = sm.scratchpad_per_cta + sm.scratchpad_reserved
    if sm.scratchpad_per_cta and needs.allocated_scratchpad > most:
        return 0
    return sm.scratchpad_bytes // needs.allocated_scratchpad


def _does_not_fit(gpu: HasSm, needs: CtaNeeds, limits: Mapping[str, int | None]) -> Exception:
    """The E402 that names every resource of which one CTA needs more than an SM has."""
    sm = gpu.sm
    have = {
        "registers": (needs.registers, sm.registers_per_cta or sm.registers, "registers"),
        "scratchpad": (needs.scratchpad, sm.scratchpad_per_cta or sm.scratchpad_bytes, "bytes of scratchpad"),
        "threads": (needs.padded_threads, min(sm.threads, sm.warps * sm.warp_size), "threads in whole warps"),
    }
    parts = [f"{have[n][0]} {have[n][2]} of {have[n][1]}" for n in LIMITERS if limits[n] == 0]
    message = f"one CTA does not fit on an SM of {gpu.name}: it needs {', '.join(parts)}"
    return error(
        "E402", message, help="use fewer threads per CTA, fewer registers per thread or less scratchpad"
    )
