"""The split of unified memory: a pool of an SM serves registers, shared memory and the L1; each kernel divides it.

A part of the register file, F bytes (`switching.acrf_registers`), stays outside the pool of P bytes
(`switching.unified_bytes`). With R bytes of registers and S of shared memory in a CTA, w warps, and at most v 32-bit
registers live in a warp, n resident CTAs take from the pool

    unified, virtual-thread-unified   max(0, n * R - F) + n * S             whole CTAs' registers beyond F
    finereg-unified                   max(0, n - a) * w * v * 128 + n * S   PCRF entries; F, the ACRF, has a CTAs

The split is for the most CTAs that leave the L1 its fewest ways (`switching.unified_l1_ways`), and for no more than can
be resident: the active ones (`unified`), or `switching.ctas` and `switching.warps`; nor more than a small grid has for
an SM. The L1 gets the rest in whole ways.

The paper leaves the rule open: that CTAs come before more than these ways, and that there are PCRF entries for the most
live registers, so that every CTA can wait, are choices. Not handled: another split while a kernel runs.
Reference: Y. Oh et al., FineReg, MICRO 2018, section VI.G; timing-model section 6.2.
"""

from dataclasses import dataclass
from typing import Protocol

import msgspec

from ptxtool.analysis.occupancy.occupancy import CtaNeeds, Occupancy, SmLimits, occupancy
from ptxtool.analysis.occupancy.register_schemes import RegisterScheme
from ptxtool.analysis.occupancy.switching_plan import ENTRY_BYTES, HasSwitching, Restricted, with_acrf_only
from ptxtool.base.diag import error
from ptxtool.base.phrases import counted
from ptxtool.ir.variables import round_up

_WORD = 4
_PLENTY = 2**31 - 1


class CacheShape(Protocol):
    """The shape of a cache."""

    @property
    def sets(self) -> int: ...
    @property
    def line_bytes(self) -> int: ...


class HasPool(HasSwitching, Protocol):
    """A machine with an L1 that may be a part of the pool, such as `ptxtool.formats.gpu.Gpu`."""

    @property
    def l1d(self) -> CacheShape: ...


@dataclass(frozen=True)
class UnifiedPlan:
    """The split of an SM's pool of `pool_bytes`, for `ctas` resident CTAs.

    `register_bytes` are those of CTAs' registers beyond the `fixed_registers` outside the pool, or of `pcrf_entries`
    PCRF entries; `registers` is the 32-bit registers of both. `limiter`: what limits the active CTAs.
    """

    scheme: str
    ctas: int
    limiter: str
    pool_bytes: int
    fixed_registers: int
    registers: int
    pcrf_entries: int
    register_bytes: int
    scratchpad_bytes: int
    l1_ways: int
    l1_bytes: int
    unused_bytes: int

    def __str__(self) -> str:
        entries = f", {counted(self.pcrf_entries, 'PCRF entry', 'PCRF entries')}" if self.pcrf_entries else ""
        return (
            f"unified memory: {self.pool_bytes} bytes for {counted(self.ctas, 'CTA')}: registers {self.register_bytes} "
            f"({self.fixed_registers * _WORD} outside{entries}), shared memory {self.scratchpad_bytes}, "
            f"L1 {self.l1_bytes} ({counted(self.l1_ways, 'way')}), unused {self.unused_bytes}"
        )


def unified_plan(
    gpu: HasPool,
    scheme: RegisterScheme,
    threads: int,
    registers: int,
    scratchpad: int = 0,
    *,
    live: int | None = None,
    grid_ctas: int | None = None,
) -> UnifiedPlan:
    """Divide the pool of an SM for a kernel: `registers` per thread, `scratchpad` bytes per CTA.

    `live` is the most 32-bit registers that are live in a warp, by default `registers`; `grid_ctas` the CTAs of the
    grid, by default as many as can be resident. Raises E402 where one CTA does not fit, E502 for a machine or a scheme
    without a pool.
    """
    if not scheme.unified:
        raise error("E502", f"'{scheme.name}' has no unified memory", help="take 'unified' or '...-unified'")
    options, sm = gpu.switching, gpu.sm
    way, pool = gpu.l1d.sets * gpu.l1d.line_bytes, options.unified_bytes
    most = pool - options.unified_l1_ways * way
    if most < 0:
        what = f"{gpu.name}: switching.unified_bytes is {pool}" + (
            "" if pool else ", there is no unified memory"
        )
        help = f"give {pool - most} bytes or more, those of the fewest L1 ways; gtx980-finereg has a pool"
        raise error("E502", what, help=help)
    is_finereg = scheme.switching == "finereg"
    pipeline = occupancy(_with_plenty(gpu, is_finereg), threads, registers, scratchpad)
    needs = pipeline.needs
    warps = needs.padded_threads // sm.warp_size
    in_acrf = pipeline.limits["registers"] if is_finereg else None
    entries = warps * (registers if live is None else live) if in_acrf is not None else 0

    def register_bytes(ctas: int) -> int:
        if is_finereg:
            return max(0, ctas - (in_acrf or 0)) * entries * ENTRY_BYTES
        return max(0, _registers_of(sm, needs, ctas) - options.acrf_registers) * _WORD

    bound = pipeline.resident_ctas
    if scheme.switching != "none":
        bound = max(1, min(options.ctas, options.warps // warps))
    of_grid = _PLENTY if grid_ctas is None else max(1, -(-grid_ctas // sm.count))
    shared = needs.allocated_scratchpad
    ctas = min(bound, of_grid)
    while ctas and register_bytes(ctas) + ctas * shared > most:
        ctas -= 1
    if ctas == 0:
        what = (
            f"one CTA does not fit into the unified memory of {gpu.name}: it needs {register_bytes(1)} bytes of "
            f"registers beside {options.acrf_registers * _WORD} and {shared} of scratchpad, of {most}"
        )
        help = "use fewer registers per thread or less scratchpad, or make switching.unified_bytes larger"
        raise error("E402", what, help=help)
    in_pool = register_bytes(ctas)
    ways, unused = divmod(pool - in_pool - ctas * shared, way)
    return UnifiedPlan(
        scheme=scheme.name,
        ctas=ctas,
        limiter=_limiter(pipeline, ctas, bound, of_grid),
        pool_bytes=pool,
        fixed_registers=options.acrf_registers,
        registers=options.acrf_registers + in_pool // _WORD,
        pcrf_entries=in_pool // ENTRY_BYTES if is_finereg else 0,
        register_bytes=in_pool,
        scratchpad_bytes=ctas * shared,
        l1_ways=ways,
        l1_bytes=ways * way,
        unused_bytes=unused,
    )


def _with_plenty(gpu: HasPool, is_finereg: bool) -> Restricted:
    """The machine with as much shared memory as any CTAs need, and as many registers, or those of FineReg's ACRF."""
    machine = with_acrf_only(gpu) if is_finereg else Restricted(gpu.name, gpu.sm)
    more = {"scratchpad_bytes": _PLENTY} | ({} if is_finereg else {"registers": _PLENTY})
    return Restricted(machine.name, msgspec.structs.replace(machine.sm, **more))


def _registers_of(sm: SmLimits, needs: CtaNeeds, ctas: int) -> int:
    """The registers that CTAs take of a file: whole warps in every partition."""
    warps = needs.padded_threads // sm.warp_size
    return round_up(ctas * warps, sm.register_partitions) * (needs.registers // warps)


def _limiter(pipeline: Occupancy, ctas: int, bound: int, of_grid: int) -> str:
    """What limits the active CTAs where so many are resident."""
    if pipeline.resident_ctas <= ctas:
        return pipeline.limiter
    if ctas < min(bound, of_grid):
        return "unified memory"
    return "grid" if ctas == of_grid else "switching"
