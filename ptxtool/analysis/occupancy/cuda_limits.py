"""CUDA's limits of an SM, by compute capability: what `ptxtool occupancy --gpu sm_90` computes with.

Registers are allocated to warps, in units, and each warp's within one of the partitions of the register file; a CTA
must fit as if it took whole rows of partitions. From sm_80 on the driver keeps 1 KB of every CTA's shared memory. The
shared memory of an SM is the largest that its carve-out from the L1 allows. Not modelled: carve-outs that a program
prefers, barriers of an SM, partitioned global caching of sm_52 to sm_62 (off, as by default).

Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (CUDA 8 for 2.x and 3.x, 12 and
13 for the others); `cuda_occupancy.h` of CUDA 13.0 for units and partitions from 3.0 on, CUDA Occupancy Calculator
(CUDA 8) for 2.x.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from ptxtool.analysis.occupancy.occupancy import SmLimits
from ptxtool.base.diag import error


class _Row(NamedTuple):
    """Per SM: warps, CTAs, shared memory in KB. Of a CTA: most shared memory in KB, most registers in thousands (of
    1024). Of a thread: most registers."""

    warps: int
    ctas: int
    shared: int
    cta_shared: int
    cta_registers: int = 64
    thread_registers: int = 255
    registers: int = 64
    unit: int = 256
    partitions: int = 4
    shared_unit: int = 128
    reserved: int = 1024


def _old(*cells: int, **others: int) -> _Row:
    """A row from sm_30 to sm_75: no shared memory is reserved, and its unit is 256 bytes."""
    return _Row(*cells, **{"shared_unit": 256, "reserved": 0} | others)


_FERMI = _Row(48, 8, 48, 48, 32, 63, 32, unit=64, partitions=2, reserved=0)
_LIMITS = {
    "sm_20": _FERMI,
    "sm_21": _FERMI,
    "sm_30": _old(64, 16, 48, 48, 64, 63),
    "sm_32": _old(64, 16, 48, 48, 32),
    "sm_35": _old(64, 16, 48, 48),
    "sm_37": _old(64, 16, 112, 48, registers=128),
    "sm_50": _old(64, 32, 64, 48),
    "sm_52": _old(64, 32, 96, 48),
    "sm_53": _old(64, 32, 64, 48, 32),
    "sm_60": _old(64, 32, 64, 48, partitions=2),
    "sm_61": _old(64, 32, 96, 48),
    "sm_62": _old(64, 32, 64, 48, 32),
    "sm_70": _old(64, 32, 96, 96),
    "sm_72": _old(64, 32, 96, 48),
    "sm_75": _old(32, 16, 64, 64),
    "sm_80": _Row(64, 32, 164, 163),
    "sm_86": _Row(48, 16, 100, 99),
    "sm_87": _Row(48, 16, 164, 163),
    "sm_89": _Row(48, 24, 100, 99),
    "sm_90": _Row(64, 32, 228, 227),
    "sm_100": _Row(64, 32, 228, 227),
    "sm_101": _Row(48, 24, 228, 227),
    "sm_103": _Row(64, 32, 228, 227),
    "sm_110": _Row(48, 24, 228, 227),
    "sm_120": _Row(48, 24, 100, 99),
    "sm_121": _Row(48, 24, 100, 99),
}
_TARGET = re.compile(r"(sm_\d+)[af]?")
MOST_REGISTERS = 255
"""Of a thread, where the capability is not known."""


@dataclass(frozen=True)
class CudaTarget:
    """A compute capability as a machine for occupancy: one SM of it."""

    name: str
    sm: SmLimits

    def with_scratchpad(self, per_sm: int) -> "CudaTarget":
        """The same with other bytes of scratchpad in an SM."""
        return CudaTarget(self.name, msgspec.structs.replace(self.sm, scratchpad_bytes=per_sm))


def is_target(name: str) -> bool:
    """Whether a name is written as a compute capability: `sm_90`, `sm_90a`."""
    return _TARGET.fullmatch(name) is not None


def cuda_target(name: str) -> CudaTarget:
    """The limits of a compute capability, such as "sm_90" or "sm_100a". Raises E502 for another one."""
    found = known_target(name)
    if found is None:
        help = f"there are {', '.join(_LIMITS)}"
        raise error("E502", f"no occupancy limits are known for '{name}'", help=help)
    return found


def known_target(name: str) -> CudaTarget | None:
    """The limits of a compute capability, None for another one."""
    row = _row(name)
    if row is None:
        return None
    warp_size = 32
    sm = SmLimits(
        count=1,
        warp_size=warp_size,
        threads=row.warps * warp_size,
        warps=row.warps,
        ctas=row.ctas,
        registers=row.registers << 10,
        register_allocation_unit=row.unit // warp_size,
        scratchpad_bytes=row.shared << 10,
        schedulers=row.partitions,
        register_partitions=row.partitions,
        registers_per_cta=row.cta_registers << 10,
        scratchpad_per_cta=row.cta_shared << 10,
        scratchpad_allocation_unit=row.shared_unit,
        scratchpad_reserved=row.reserved,
    )
    return CudaTarget(name, sm)


def most_registers(target: str) -> int:
    """The registers that a thread can have at most on a target, 255 where it is not known."""
    row = _row(target)
    return MOST_REGISTERS if row is None else row.thread_registers


def check_registers(target: str, registers: int) -> None:
    """Raise E402 for more registers than a thread can have."""
    most = most_registers(target)
    if registers > most:
        where = f" of {target}" if target else ""
        help = f"give at most {most}: a compiler, or 'rewrite -p allocate:max-regs={most}', spills the rest"
        raise error(
            "E402", f"{registers} registers per thread: a thread{where} has at most {most}", help=help
        )


def _row(name: str) -> _Row | None:
    match = _TARGET.fullmatch(name)
    return _LIMITS.get(match[1]) if match else None
