"""FineReg on other machines: sizes of ACRF and PCRF, SMs, unified memory (Figures 17 to 19).

Figure 18 compares with a baseline that holds as many CTAs as FineReg had resident: its sizes follow from the results of
other runs, and its runs are made after these. Reference: Y. Oh et al., FineReg, MICRO 2018, section VI.G.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from ptxtool.formats.gpu import Gpu
from ptxtool.results.exhibits import Exhibit, ExhibitValue
from ptxtool.sweep.reproduction.finereg.columns import Cell, by_application
from ptxtool.sweep.reproduction.finereg.kernels import StandIn
from ptxtool.sweep.reproduction.finereg.measured import Measured, change, gain, mean_of, of
from ptxtool.sweep.reproduction.finereg.paper import Paper
from ptxtool.sweep.reproduction.finereg.variants import (
    FINEREG,
    NONE,
    SMS,
    UNIFIED,
    Variant,
    is_held,
    on_sms,
    split,
)
from ptxtool.sweep.reproduction.verdicts import geometric_mean

_MEGABYTE = 1 << 20


def sensitivity(paper: Paper, benchmarks: Sequence[Measured], gpu: Gpu) -> Iterator[Exhibit]:
    """Figures 17 to 19."""
    yield splits(paper, benchmarks, gpu)
    yield sms(paper, benchmarks, gpu)
    yield unified(paper, benchmarks)
    yield unified_ways(benchmarks)


def splits(paper: Paper, benchmarks: Sequence[Measured], gpu: Gpu) -> Exhibit:
    """Figure 17: a row for each split of the register file."""
    variants = {f"{each.acrf}/{each.pcrf} KB": (each, split(each, gpu)) for each in paper.split}
    best = next(variant for each, variant in variants.values() if each.ipc_below_best == 0)
    values = []
    for row, (each, variant) in variants.items():
        found = [m.under(variant) for m in benchmarks]
        speeds = [gain(now, m.under(best)) for now, m in zip(found, benchmarks, strict=True)]
        printed = None if each.ipc_below_best is None else 0.0 - each.ipc_below_best
        values.append(ExhibitValue(row, "speed", mean_of(speeds, geometric_mean), printed))
        ctas = [
            change(of(now, lambda t: t.resident), m.resident(NONE))
            for now, m in zip(found, benchmarks, strict=True)
        ]
        times = 100 * (paper.best_times_ctas - 1) if variant is best else None
        values.append(ExhibitValue(row, "resident CTAs", mean_of(ctas, fmean), times))
        active = [of(now, lambda t: t.active_share - 100) for now in found]
        share = paper.best_active_share - 100 if variant is best else None
        values.append(ExhibitValue(row, "active of resident CTAs", mean_of(active, fmean), share))
    notes = (
        "speed: against the paper's best split, 128/128 KB; resident CTAs: against no scheme",
        "active CTAs: against resident ones, so that -67 is a third",
    )
    title, what = "Sizes of ACRF and PCRF", "change, percent, mean of all applications"
    return Exhibit("splits", title, "figure 17", what, tuple(values), 1, signed=True, notes=notes)


def resourced_name(n: int) -> str:
    """The baseline with FineReg's CTAs, on so many SMs."""
    return f"none, FineReg's CTAs, {n} SMs"


def resourced(
    kernels: Sequence[StandIn], counters: Mapping[tuple[str, str], Mapping[str, object]], gpu: Gpu
) -> Iterator[tuple[StandIn, Variant]]:
    """The runs of Figure 18's baselines: each holds the CTAs that FineReg had on average, rounded up.

    None where the simulator cannot hold so many warps on an SM.
    """
    for kernel in kernels:
        for n in SMS:
            run = counters.get((kernel.sample, on_sms(FINEREG, n, gpu).name))
            if run is not None:
                variant = Variant(
                    resourced_name(n), (*sizes(kernel, resident_ctas(run), gpu), f"sm.count={n}")
                )
                if is_held(variant, gpu):
                    yield kernel, variant


def resident_ctas(run: Mapping[str, object]) -> int:
    """FineReg's CTAs on an SM, on average, rounded up."""
    switching = run["switching"]
    assert isinstance(switching, Mapping)
    return -int(-switching["resident_average"] // 1)


def sizes(kernel: StandIn, ctas: int, gpu: Gpu) -> tuple[str, ...]:
    """Settings of an SM that holds so many CTAs of a kernel without a scheme; nothing becomes smaller."""
    needs = kernel.occupancy.needs
    wanted = {
        "ctas": ctas,
        "threads": ctas * needs.padded_threads,
        "warps": ctas * kernel.warps,
        "registers": ctas * needs.registers,
        "scratchpad_bytes": ctas * needs.allocated_scratchpad,
    }
    return tuple(f"sm.{key}={max(value, getattr(gpu.sm, key))}" for key, value in wanted.items())


def added_megabytes(kernel: StandIn, ctas: int, gpu: Gpu) -> float:
    """Registers and shared memory of an SM that holds so many CTAs, beyond what it has."""
    needs = kernel.occupancy.needs
    registers = max(0, ctas * needs.registers - gpu.sm.registers)
    scratchpad = max(0, ctas * needs.allocated_scratchpad - gpu.sm.scratchpad_bytes)
    return (4 * registers + scratchpad) / _MEGABYTE


def sms(paper: Paper, benchmarks: Sequence[Measured], gpu: Gpu) -> Exhibit:
    """Figure 18: a row for each number of SMs."""
    values = []
    for n in SMS:
        row = f"{n} SMs"
        pairs = [(m, m.under(on_sms(FINEREG, n, gpu)), m.under(on_sms(NONE, n, gpu))) for m in benchmarks]
        gains = mean_of((gain(now, before) for _, now, before in pairs), geometric_mean)
        values.append(ExhibitValue(row, "FineReg over none", gains))
        held = [found for m, now, _ in pairs if (found := gain(m.under(resourced_name(n)), now)) is not None]
        values.append(
            ExhibitValue(
                row, "none with FineReg's CTAs, over FineReg", geometric_mean(held) if held else None
            )
        )
        values.append(ExhibitValue(row, "of so many applications", len(held)))
        added = mean_of((_added(m, n, gpu) for m in benchmarks), fmean)
        values.append(ExhibitValue(row, "MB that this takes", added, _printed_megabytes(paper, n)))
        slots = fmean(min(k.n_ctas / (n * k.slots) for k in m.kernels) for m in benchmarks)
        values.append(ExhibitValue(row, "CTAs per slot", slots))
    low, high = paper.larger_over_finereg
    notes = (
        "gains are geometric means, percent; the memory is that of 16 SMs (the paper does not say)",
        f"the paper: FineReg gains more than {paper.many_sms_gain:g}% with every number of SMs",
        f"the paper: the baseline with FineReg's CTAs gains {low:g} to {high:g}% over FineReg",
        "applications whose CTAs do not fit the warps that the simulator can hold on an SM have no such baseline",
        "with fewer than about four CTAs per slot, more resident CTAs find none to launch",
    )
    return Exhibit("sms", "Numbers of SMs", "figure 18", "per column", tuple(values), 1, notes=notes)


def _added(m: Measured, n: int, gpu: Gpu) -> float | None:
    """MB that the baseline with FineReg's CTAs takes on all SMs; of two kernels the larger."""
    found = m.under(on_sms(FINEREG, n, gpu))
    if found is None:
        return None
    pairs = zip(m.kernels, found.runs, strict=True)
    return n * max(added_megabytes(kernel, resident_ctas(run), gpu) for kernel, run in pairs)


def _printed_megabytes(paper: Paper, n: int) -> float | None:
    return dict(zip(paper.many_sms, paper.larger_megabytes, strict=True)).get(n)


def unified(paper: Paper, benchmarks: Sequence[Measured]) -> Exhibit:
    """Figure 19."""

    def cells(m: Measured) -> Iterator[Cell]:
        for scheme in UNIFIED:
            yield scheme, gain(m.best(scheme), m.baseline)

    known = {
        each.scheme: each.percent[0]
        for each in paper.comparison
        if each.scheme in UNIFIED and each.over == NONE
    }
    notes = (
        f"the paper, by unified memory alone most: {', '.join(paper.unified_gain_most)}",
        "against unified memory alone: among what the text prints",
    )
    return by_application(
        benchmarks,
        cells,
        "unified",
        "Unified memory",
        "figure 19",
        "gain of speed over no scheme, percent",
        1,
        signed=True,
        notes=notes,
        mean=geometric_mean,
        printed=lambda row, column: known.get(column) if row == "mean, all" else None,
    )


def unified_ways(benchmarks: Sequence[Measured]) -> Exhibit:
    """What the L1 gets of unified memory."""

    def cells(m: Measured) -> Iterator[Cell]:
        for scheme in UNIFIED:
            yield scheme, of(m.best(scheme), lambda t: t.mean("unified.l1_ways", "cycles"))

    title, what = "Unified memory that is L1", "ways; 8 without unified memory"
    return by_application(benchmarks, cells, "unified-ways", title, "figure 19", what, 0)
