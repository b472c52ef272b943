"""FineReg's machine, its applications, and what limits them: Tables I to III, Figures 2 to 5.

Gains are of speed: cycles without over cycles with, for the same work. Reference: Y. Oh et al., FineReg, MICRO 2018,
sections II to IV.
"""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from ptxtool.formats.gpu import Gpu
from ptxtool.results.exhibits import Exhibit, ExhibitValue
from ptxtool.sweep.reproduction.finereg.columns import Cell, by_application, mean_row
from ptxtool.sweep.reproduction.finereg.kernels import StandIn
from ptxtool.sweep.reproduction.finereg.measured import Measured, Totals, gain, of
from ptxtool.sweep.reproduction.finereg.paper import Paper
from ptxtool.sweep.reproduction.finereg.variants import (
    BY_NAME,
    FINEREG,
    NONE,
    REG_DRAM,
    VIRTUAL_THREAD,
    larger_name,
)
from ptxtool.sweep.reproduction.verdicts import geometric_mean

BANDWIDTH = "DRAM bandwidth, GB/s"
FIRST = "to the first stall"
REACHED = "reached by one of our kernels"
SCHEDULING = ("threads", "ctas")
MEMORY = ("registers", "scratchpad")
CONFIGURATIONS = {
    NONE: "baseline",
    VIRTUAL_THREAD: "full register file",
    REG_DRAM: "full register file + DRAM",
}
IDEAL = (("scheduling", "memory"), 2.0)


def limits(paper: Paper, benchmarks: Sequence[Measured], gpu: Gpu) -> Iterator[Exhibit]:
    """Tables I, II, III, and Figures 2 to 5, in the paper's order."""
    yield machine(paper, benchmarks, gpu)
    yield types(benchmarks)
    yield turnover(benchmarks, gpu)
    yield larger(paper, benchmarks)
    yield one_more(benchmarks)
    yield headroom(benchmarks)
    yield register_use(paper, benchmarks)
    yield live_share(benchmarks)
    yield first_stall(benchmarks)


def machine(paper: Paper, benchmarks: Sequence[Measured], gpu: Gpu) -> Exhibit:
    """Table I."""
    sm, dram = gpu.sm, gpu.dram
    peak = dram.channels * dram.atom_bytes / dram.tBURST * gpu.clocks.dram_mhz / 1000
    ours = {
        "SMs": sm.count,
        "core clock, MHz": gpu.clocks.core_mhz,
        "lanes of a warp": sm.warp_size,
        "warps of an SM": sm.warps,
        "threads of an SM": sm.threads,
        "CTAs of an SM": sm.ctas,
        "warp schedulers of an SM": sm.schedulers,
        "registers of an SM, KB": sm.registers * 4 / 1024,
        "shared memory of an SM, KB": sm.scratchpad_bytes / 1024,
        "L1 of an SM, KB": _kilobytes(gpu.l1d.sets, gpu.l1d.ways, gpu.l1d.line_bytes),
        "ways of the L1": gpu.l1d.ways,
        "L2, KB": gpu.l2.slices * _kilobytes(gpu.l2.sets, gpu.l2.ways, gpu.l2.line_bytes),
        "ways of the L2": gpu.l2.ways,
        BANDWIDTH: peak,
    }
    values = [ExhibitValue(row, gpu.name, ours[row], paper.machine.get(row)) for row in ours]
    reached = [_bandwidth(found, gpu) for m in benchmarks if (found := m.baseline) is not None]
    if reached:
        values.append(ExhibitValue(REACHED, gpu.name, max(reached)))
    note = f"scheduler {gpu.scheduler}, as there"
    return Exhibit("machine", "The machine", "table I", "value", tuple(values), 1, notes=(note,))


def _kilobytes(sets: int, ways: int, line_bytes: int) -> float:
    return sets * ways * line_bytes / 1024


def _bandwidth(found: Totals, gpu: Gpu) -> float:
    """GB/s."""
    return found.traffic * gpu.dram.atom_bytes * gpu.clocks.core_mhz / found.cycles / 1000


def types(benchmarks: Sequence[Measured]) -> Exhibit:
    """Table II: what limits the resident CTAs, of the kernel that memory limits most."""

    def cells(m: Measured) -> Iterator[Cell]:
        yield "scheduling admits", min(_admitted(k, SCHEDULING) for k in m.kernels)
        yield "memory admits", min(_admitted(k, MEMORY) for k in m.kernels)
        yield "Type-R", float(is_limited_by_memory(m))

    def printed(row: str, column: str) -> float | None:
        types = {m.name: float(m.application.limit == "R") for m in benchmarks}
        return types.get(row) if column == "Type-R" else None

    notes = (
        "scheduling: threads and CTA slots of an SM; memory: its registers and shared memory",
        "Type-R (1): memory admits fewer CTAs than scheduling; Type-S (0): it does not",
        *(f"{m.name}: {', '.join(k.sample for k in m.kernels)}" for m in benchmarks),
    )
    title, what = "Benchmarks and what limits them", "CTAs on an SM"
    return by_application(
        benchmarks, cells, "types", title, "table II", what, 0, notes=notes, printed=printed
    )


def is_limited_by_memory(m: Measured) -> bool:
    """Whether registers or shared memory admit fewer CTAs than threads, warps and slots, for one of its kernels."""
    return any(_admitted(k, MEMORY) < _admitted(k, SCHEDULING) for k in m.kernels)


def _admitted(kernel: StandIn, resources: Iterable[str]) -> float:
    limits = kernel.occupancy.limits
    return min(found for name in resources if (found := limits[name]) is not None)


def turnover(benchmarks: Sequence[Measured], gpu: Gpu) -> Exhibit:
    """Whether inputs are large enough that the CTAs of an SM change many times."""

    def cells(m: Measured) -> Iterator[Cell]:
        yield "CTAs", sum(k.n_ctas for k in m.kernels)
        yield "at a time", sum(gpu.sm.count * k.slots for k in m.kernels) / len(m.kernels)
        yield "CTAs per slot", min(k.n_ctas / (gpu.sm.count * k.slots) for k in m.kernels)
        yield "CTAs per resident one, FineReg", of(m.best(FINEREG), _followers)

    notes = (
        "a slot: a CTA that an SM holds without a scheme; of two kernels the one with fewer",
        "where few CTAs follow each resident one, more resident CTAs shorten little: the last ones run alone",
    )
    title, what = "How often an SM turns over its CTAs", "CTAs"
    return by_application(benchmarks, cells, "turnover", title, "section II", what, 1, notes=notes)


def _followers(found: Totals) -> float:
    """CTAs of a grid for each that is resident."""
    pairs = zip(found.runs, found.residents, strict=True)
    return min(float(run["n_ctas"] / (run["n_sms"] * resident)) for run, resident in pairs)


def larger(paper: Paper, benchmarks: Sequence[Measured]) -> Exhibit:
    """Figure 2."""
    names = {larger_name(each.resources, each.times): each for each in paper.larger}

    def cells(m: Measured) -> Iterator[Cell]:
        for name in names:
            yield name, gain(m.under(name), m.baseline)

    def printed(row: str, column: str) -> float | None:
        return next(
            (
                each.percent
                for each in paper.larger
                if row == mean_row(each.among[0]) and column == larger_name(each.resources, each.times)
            ),
            None,
        )

    return by_application(
        benchmarks,
        cells,
        "larger",
        "More scheduling resources, more memory on the SM",
        "figure 2",
        "gain of speed without a scheme, percent",
        1,
        signed=True,
        notes=("scheduling: warps, threads and CTAs of an SM; memory: its registers and shared memory",),
        mean=geometric_mean,
        printed=printed,
    )


def one_more(benchmarks: Sequence[Measured]) -> Exhibit:
    """Figure 3."""

    def cells(m: Measured) -> Iterator[Cell]:
        needs = [k.occupancy.needs for k in m.kernels]
        yield "registers", fmean(each.registers for each in needs) * 4 / 1024
        yield "shared memory", fmean(each.scratchpad for each in needs) / 1024

    title, what = "What one more CTA takes", "KB"
    return by_application(benchmarks, cells, "one-more", title, "figure 3", what, 1, mean=fmean)


def headroom(benchmarks: Sequence[Measured]) -> Exhibit:
    """Figure 4, of Convolution Separable."""
    values = []
    for m in benchmarks:
        if m.name != "CS":
            continue
        rows = {title: m.best(scheme) for scheme, title in CONFIGURATIONS.items()}
        rows["ideal: twice of everything"] = m.under(larger_name(*IDEAL))
        rows["baseline"] = m.stalls
        for title, found in rows.items():
            values.append(ExhibitValue(title, "gain of speed, percent", gain(found, m.stalls)))
            values.append(ExhibitValue(title, "resident threads of an SM", of(found, lambda t: t.threads)))
    return Exhibit(
        "headroom", "Convolution Separable with more CTAs", "figure 4", "per column", tuple(values), 1
    )


def register_use(paper: Paper, benchmarks: Sequence[Measured]) -> Exhibit:
    """Figure 5: how many registers are accessed within 1000 instructions."""

    def cells(m: Measured) -> Iterator[Cell]:
        for of_windows in ("mean", "least", "most"):
            yield of_windows, None if m.stalls is None else m.stalls.register_use(of_windows)

    def printed(row: str, column: str) -> float | None:
        return paper.registers_used if (row, column) == (mean_row("all"), "mean") else None

    notes = (
        "of the registers of the warps of an SM, in windows of 1000 instructions that it issues",
        f"in the paper the least is below {paper.least_used:g}% for {' '.join(paper.used_least)}",
    )
    title, what = "Registers accessed", "percent of the registers of the CTAs"
    return by_application(
        *(benchmarks, cells, "register-use", title, "figure 5", what, 1),
        notes=notes,
        mean=fmean,
        printed=printed,
    )


def live_share(benchmarks: Sequence[Measured]) -> Exhibit:
    """How many registers hold values that are still needed."""

    def cells(m: Measured) -> Iterator[Cell]:
        yield "of stalled CTAs", of(m.best(FINEREG), lambda t: t.live_share)
        yield "of all CTAs, at most", of(m.best(BY_NAME), lambda t: t.held_share)

    notes = (
        "of stalled CTAs: registers that moved to the PCRF, of those of the CTAs that left; 0 without evictions",
        "of all CTAs: registers of an SM that hold values at a time, under release-by-name",
        "above 100: the launch file has the registers of PTXPlus, the PTX with its 64-bit addresses has more",
    )
    title, what = "Live registers", "percent of the registers of the CTAs"
    return by_application(benchmarks, cells, "live", title, "section III.B", what, 1, notes=notes, mean=fmean)


def first_stall(benchmarks: Sequence[Measured]) -> Exhibit:
    """Table III."""
    printed = {m.name: m.application.cycles_to_stall for m in benchmarks}

    def cells(m: Measured) -> Iterator[Cell]:
        found = m.stalls
        yield FIRST, of(found, lambda t: t.mean("switching.cycles_to_first_stall", "n_ctas"))
        yield "to each stall", of(found, lambda t: t.mean("switching.cycles_to_stall", "switching.stalls"))
        yield "length of a stall", of(found, lambda t: t.total("switching.stall_cycles") / max(1, _stalls(t)))
        yield "stalls of a CTA", of(found, lambda t: _stalls(t) / t.total("n_ctas"))

    return by_application(
        benchmarks,
        cells,
        "first-stall",
        "Cycles until all warps of a CTA are stalled",
        "table III",
        "cycles, without a scheme",
        1,
        notes=("the paper counts from the first instruction of a CTA on, ours from its launch",),
        printed=lambda row, column: printed.get(row) if column == FIRST else None,
    )


def _stalls(found: Totals) -> float:
    return found.total("switching.stalls")
