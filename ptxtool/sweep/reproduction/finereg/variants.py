"""The ways in which FineReg's evaluation runs a kernel: register schemes, sizes of the machine, assumptions.

A scheme that the paper tunes for each application (Reg+DRAM by its CTAs in DRAM, RegMutex by its pool) has several
candidates, of which the fastest counts. Schemes that `sim` does not have are left out, as are machines that it cannot
hold.

Reference: Y. Oh et al., FineReg, MICRO 2018, sections III and VI.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ptxtool.analysis.occupancy.register_schemes import SCHEMES
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.settings import with_settings
from ptxtool.sweep.reproduction.finereg.kernels import StandIn
from ptxtool.sweep.reproduction.finereg.paper import Paper, Split

KNOWN = tuple(scheme.name for scheme in SCHEMES)
NONE, FINEREG, VIRTUAL_THREAD = "none", "finereg", "virtual-thread"
REG_DRAM, REGMUTEX, BY_NAME = "reg-dram", "virtual-thread-regmutex", "release-by-name"
COMPARED = (VIRTUAL_THREAD, REG_DRAM, REGMUTEX, FINEREG)
"""Against none: Figures 12 to 16."""
UNIFIED = ("unified", "virtual-thread-unified", "finereg-unified")
"""Figure 19."""
DRAM_CTAS = (1, 2, 4, 8)
POOL_PERCENTS = (14.0, 20.8, 28.1, 35.0)
"""Shares of the register file that are RegMutex's pool; 28.1 and 20.8 are the paper's averages."""
SMS = (16, 32, 64, 128)
"""Figure 18."""
SPLIT_REGISTERS = "allocate,split-registers:threads={threads}"


@dataclass(frozen=True)
class Variant:
    """A named way to run a kernel. Settings of the machine and passes may have the kernel's `{threads}` of a CTA, and
    its `{slots}`, CTAs that an SM holds without a scheme. `hotspots`: the registers that are accessed are counted."""

    name: str
    settings: tuple[str, ...] = ()
    passes: str = ""
    hotspots: bool = False

    def of(self, kernel: StandIn) -> "Variant":
        """With the kernel's numbers."""
        numbers = {"threads": kernel.occupancy.needs.threads, "slots": kernel.slots}
        settings = tuple(each.format_map(numbers) for each in self.settings)
        return Variant(self.name, settings, self.passes.format_map(numbers), self.hotspots)


BASELINE = Variant(NONE)
_NO_SWITCH = ("switching.scheme=virtual-thread", "switching.ctas={slots}")
STALLS = Variant("none, stalls counted", _NO_SWITCH, hotspots=True)
"""As without a scheme: no CTA gives way, since no more are resident than an SM holds."""


def candidates(scheme: str) -> tuple[Variant, ...]:
    """The runs under a scheme, of which the fastest counts; none where `sim` does not have it."""
    if scheme == NONE:
        return (BASELINE,)
    if scheme not in KNOWN:
        return ()
    chosen = f"switching.scheme={scheme}"
    if scheme == REG_DRAM:
        return tuple(
            Variant(f"{scheme}, {n} in DRAM", (chosen, f"switching.dram_ctas={n}")) for n in DRAM_CTAS
        )
    if scheme == REGMUTEX:
        return tuple(
            Variant(f"{scheme}, {p:g}% pool", (chosen, f"switching.pool_percent={p:g}"), SPLIT_REGISTERS)
            for p in POOL_PERCENTS
        )
    return (Variant(scheme, (chosen,)),)


def larger(resources: Iterable[str], times: float, gpu: Gpu) -> Variant:
    """Figure 2: without a scheme, with more scheduling resources (warps, threads, CTAs), memory on the SM, or both."""
    kinds = tuple(resources)
    sizes = {
        "scheduling": {"warps": gpu.sm.warps, "threads": gpu.sm.threads, "ctas": gpu.sm.ctas},
        "memory": {"registers": gpu.sm.registers, "scratchpad_bytes": gpu.sm.scratchpad_bytes},
    }
    settings = [f"sm.{key}={int(times * value)}" for kind in kinds for key, value in sizes[kind].items()]
    return Variant(larger_name(kinds, times), tuple(settings))


def larger_name(resources: Iterable[str], times: float) -> str:
    return f"{times:g} x {' and '.join(resources)}"


def split(each: Split, gpu: Gpu) -> Variant:
    """Figure 17: FineReg with other sizes of ACRF and PCRF."""
    registers, entries = each.acrf * 256, each.pcrf * 8
    if (registers, entries) == (gpu.switching.acrf_registers, gpu.switching.pcrf_entries):
        return candidates(FINEREG)[0]
    sizes = f"switching.acrf_registers={registers}", f"switching.pcrf_entries={entries}"
    return Variant(f"finereg, {each.acrf}/{each.pcrf} KB", ("switching.scheme=finereg", *sizes))


def on_sms(scheme: str, n: int, gpu: Gpu) -> Variant:
    """Figure 18: a scheme on another number of SMs, with the same memory."""
    (base,) = candidates(scheme)
    return base if n == gpu.sm.count else Variant(f"{scheme}, {n} SMs", (*base.settings, f"sm.count={n}"))


_FINEREG = ("switching.scheme=finereg",)
FREE = (
    *("switching.swap_cycles=0", "switching.registers_per_cycle=65536", "switching.restore_first_cycles=1"),
    *("switching.vector_hit_cycles=0", "switching.vector_entries=256"),
)
OVERLAP, MANY = ("switching.overlap=true",), ("switching.concurrent_switches=32",)
MEMORY = (
    *("clocks.dram_mhz=5508", "icnt.flit_bytes=160", "l2.port_bytes=128"),
    *("l1d.miss_queue=32", "l1d.miss_queue_read_max=30", "l1d.mshr_waiters=16"),
    *("l2.miss_queue=64", "l2.miss_queue_read_max=62", "l2.miss_queue_write_max=62"),
)
NO_BLOCKING = (*MEMORY, "icnt.head_of_line=false")
LATER = (*NO_BLOCKING, "l2.rop_cycles=600")
BESIDE = ("sm.registers=98304", "switching.acrf_registers=65536")
ASSUMPTIONS: dict[str, tuple[str, ...]] = {
    "free moves": FREE,
    "overlap": OVERLAP,
    "32 switches at once": MANY,
    "all of these": (*FREE, *OVERLAP, *MANY),
    "more memory bandwidth": MEMORY,
    "and no blocking": NO_BLOCKING,
    "and a longer latency": LATER,
    "PCRF beside the whole file": BESIDE,
    "all": (*FREE, *OVERLAP, *MANY, *MEMORY, *BESIDE),
    "all and a longer latency": (*FREE, *OVERLAP, *MANY, *LATER, *BESIDE),
    "stalled for 200 cycles": ("switching.stalled_cycles=200",),
    "refused is not stalled": ("switching.refused_is_stalled=false",),
    "ready-first": ("switching.order=ready-first",),
}
"""What could be assumed of a machine with FineReg, by the title of its column."""
MORE_MEMORY = Variant("none, more memory bandwidth", MEMORY)
MEMORIES = (
    *(Variant("none, and a longer latency", LATER), Variant("none, and no blocking", NO_BLOCKING)),
    *(MORE_MEMORY, BASELINE),
)
"""What FineReg is compared with where an assumption concerns the memory; each assumes more than the one after it."""


def assumed(title: str) -> Variant:
    """FineReg on a machine with one of ASSUMPTIONS."""
    return Variant(f"finereg, {title}", (*_FINEREG, *ASSUMPTIONS[title]))


def without(title: str) -> Variant:
    """No scheme on the same machine; what only FineReg has does not count."""
    return next(each for each in MEMORIES if set(each.settings) <= set(ASSUMPTIONS[title]))


def variants(paper: Paper, gpu: Gpu) -> tuple[Variant, ...]:
    """All runs of a kernel that do not depend on others' results, those of the first figures first."""
    schemes = [NONE, VIRTUAL_THREAD, FINEREG, REG_DRAM, REGMUTEX]
    found = [
        STALLS,
        *(each for scheme in schemes for each in candidates(scheme)),
        *(each for title in ASSUMPTIONS for each in (without(title), assumed(title))),
        *(split(each, gpu) for each in paper.split),
        *(each for scheme in (*UNIFIED, BY_NAME) for each in candidates(scheme)),
        *(larger(each.resources, each.times, gpu) for each in paper.larger),
        *(on_sms(scheme, n, gpu) for n in SMS for scheme in (NONE, FINEREG)),
    ]
    return tuple(each for each in dict.fromkeys(found) if is_held(each, gpu))


def is_held(variant: Variant, gpu: Gpu) -> bool:
    """Whether the simulator can hold the machine."""
    from ptxsim.timing.machine_records import check_machine

    settings = [each for each in variant.settings if not each.startswith("switching.")]
    try:
        check_machine(with_settings(gpu, settings))
    except PtxError:
        return False
    return True
