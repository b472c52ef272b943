"""FineReg and its rivals side by side: resident CTAs, speed, stalls, traffic and energy (Figures 12 to 16).

A measure of an application is normalised to the baseline, then averaged: speed geometrically, the rest arithmetically.
How much more one scheme has than another is the quotient of these means, as in the text: 48.6% more CTAs than Virtual
Thread is 2.417 / 1.626. Reference: Y. Oh et al., FineReg, MICRO 2018, section VI.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean, geometric_mean

from ptxtool.results.exhibits import Exhibit, ExhibitValue
from ptxtool.sweep.reproduction import verdicts
from ptxtool.sweep.reproduction.finereg.columns import Cell, by_application, in_group, printed_mean
from ptxtool.sweep.reproduction.finereg.measured import Measured, change, gain, mean_of, of, quotient
from ptxtool.sweep.reproduction.finereg.paper import Comparison, Paper
from ptxtool.sweep.reproduction.finereg.variants import COMPARED, FINEREG, NONE, REGMUTEX, candidates

PERCENT = "percent"
PARTS = {
    "DRAM": ("dram",),
    "register file": ("register_read", "register_write"),
    "PCRF, tags, vectors": ("pcrf_read", "pcrf_write", "pcrf_tag", "vector"),
    "contexts": ("context",),
    "leakage": ("leakage",),
}
"""Of the energy, as Figure 16 divides it; the rest is "others"."""


def compared(paper: Paper, benchmarks: Sequence[Measured]) -> Iterator[Exhibit]:
    """Figures 12 to 16, and every comparison that the text prints."""
    schemes = [scheme for scheme in COMPARED if candidates(scheme)]
    yield residents(paper, benchmarks, schemes)
    yield speed(paper, benchmarks, schemes)
    yield depletion(benchmarks)
    yield traffic(paper, benchmarks, schemes)
    yield energy(paper, benchmarks, schemes)
    yield energy_parts(benchmarks, [NONE, *schemes])
    yield printed_comparisons(paper, benchmarks)


def residents(paper: Paper, benchmarks: Sequence[Measured], schemes: Sequence[str]) -> Exhibit:
    """Figure 12."""

    def cells(m: Measured) -> Iterator[Cell]:
        for scheme in schemes:
            yield scheme, change(m.resident(scheme), m.resident(NONE))

    return by_application(
        benchmarks,
        cells,
        "ctas",
        "Resident CTAs",
        "figure 12",
        "more CTAs on an SM than without a scheme, percent",
        1,
        signed=True,
        notes=("averages over SMs and cycles",),
        mean=fmean,
        printed=printed_mean(paper, "ctas", NONE),
    )


def speed(paper: Paper, benchmarks: Sequence[Measured], schemes: Sequence[str]) -> Exhibit:
    """Figure 13."""

    def cells(m: Measured) -> Iterator[Cell]:
        for scheme in schemes:
            yield scheme, gain(m.best(scheme), m.baseline)

    return by_application(
        benchmarks,
        cells,
        "speed",
        "Speed",
        "figure 13",
        "gain over no scheme, percent",
        signed=True,
        mean=verdicts.geometric_mean,
        printed=printed_mean(paper, "ipc", NONE),
    )


def depletion(benchmarks: Sequence[Measured]) -> Exhibit:
    """Figure 14, for all applications."""

    def cells(m: Measured) -> Iterator[Cell]:
        yield "no room in the PCRF", of(m.best(FINEREG), lambda t: t.depleted)
        if candidates(REGMUTEX):
            yield "waits for the pool", of(m.best(REGMUTEX), lambda t: t.waiting)
            yield "pool, of the register file", _pool_percent(m)

    notes = ("no room: of the SMs' cycles; waits for the pool: of the resident warps' cycles",)
    title, what = "Stalls for want of registers", "percent"
    return by_application(benchmarks, cells, "depletion", title, "figure 14", what, notes=notes, mean=fmean)


def _pool_percent(m: Measured) -> float | None:
    """RegMutex's pool where it is fastest."""
    chosen = m.chosen(REGMUTEX)
    return None if chosen is None else float(chosen.settings[1].partition("=")[2])


def traffic(paper: Paper, benchmarks: Sequence[Measured], schemes: Sequence[str]) -> Exhibit:
    """Figure 15, for all applications."""

    def cells(m: Measured) -> Iterator[Cell]:
        before = of(m.baseline, lambda t: t.traffic)
        for scheme in schemes:
            yield scheme, change(of(m.best(scheme), lambda t: t.traffic), before)

    shown = [each for each in paper.comparison if each.measure == "traffic"]
    notes = tuple(f"the paper, {', '.join(c.among)}: {c.scheme} {_range(c)}%" for c in shown)
    title, what = "Traffic of the DRAM", "more bytes than without a scheme, percent"
    return by_application(
        benchmarks, cells, "traffic", title, "figure 15", what, signed=True, notes=notes, mean=fmean
    )


def energy(paper: Paper, benchmarks: Sequence[Measured], schemes: Sequence[str]) -> Exhibit:
    """Figure 16."""

    def cells(m: Measured) -> Iterator[Cell]:
        before = of(m.baseline, lambda t: t.energy)
        for scheme in schemes:
            yield scheme, change(of(m.best(scheme), lambda t: t.energy), before)

    return by_application(
        benchmarks,
        cells,
        "energy",
        "Energy",
        "figure 16",
        "more energy than without a scheme, percent",
        1,
        signed=True,
        notes=("only ratios mean something (docs/energy.md)",),
        mean=fmean,
        printed=printed_mean(paper, "energy", NONE),
    )


def energy_parts(benchmarks: Sequence[Measured], schemes: Sequence[str]) -> Exhibit:
    """Figure 16's bars: a row for each scheme."""
    values = []
    for scheme in schemes:
        shares = [_shares(m, scheme) for m in benchmarks]
        for title in (*PARTS, "others"):
            ours = mean_of((None if share is None else share[title] for share in shares), fmean)
            values.append(ExhibitValue(scheme, title, ours))
    title, what = "Parts of the energy", "percent of the energy without a scheme, mean of all applications"
    return Exhibit("energy-parts", title, "figure 16", what, tuple(values), 1)


def _shares(m: Measured, scheme: str) -> dict[str, float] | None:
    """The parts of an application's energy, in percent of that without a scheme."""
    now, before = m.best(scheme), m.baseline
    if now is None or before is None:
        return None
    found = {
        title: now.total(*(f"energy.parts_uj.{part}" for part in parts)) for title, parts in PARTS.items()
    }
    found["others"] = now.energy - sum(found.values())
    return {title: 100 * part / before.energy for title, part in found.items()}


def printed_comparisons(paper: Paper, benchmarks: Sequence[Measured]) -> Exhibit:
    """Every comparison of the text that our schemes allow, a row each."""
    values = tuple(
        ExhibitValue(described(each), PERCENT, ours, _single(each))
        for each in paper.comparison
        if (ours := measured(each, benchmarks)) is not None
    )
    title, what = "What the text prints", "percent; of ranges ours alone"
    return Exhibit("printed", title, "sections III and VI", what, values, 1, signed=True)


def described(each: Comparison) -> str:
    """A comparison in words."""
    names = {
        "ipc": "speed",
        "ctas": "resident CTAs",
        "traffic": "traffic",
        "energy": "energy",
        "depleted": "stalls for want of registers",
        "pool": "pool, of the register file",
    }
    over = f" over {each.over}" if each.over else ""
    return f"{names[each.measure]}: {each.scheme}{over}, {' '.join(each.among)}"


def measured(each: Comparison, benchmarks: Sequence[Measured]) -> float | None:
    """Our percentage of a comparison; None where `sim` has no such scheme or a run is missing."""
    among = in_group(benchmarks, each.among)
    if each.measure == "pool":
        return mean_of((_pool_percent(m) for m in among), fmean)
    if each.measure == "depleted":
        waiting = each.scheme == REGMUTEX
        found = (of(m.best(each.scheme), lambda t: t.waiting if waiting else t.depleted) for m in among)
        return mean_of(found, fmean)
    return change(_normalised(each, each.scheme, among), _normalised(each, each.over or NONE, among))


def _normalised(each: Comparison, scheme: str, among: Sequence[Measured]) -> float | None:
    """The mean of a measure under a scheme, relative to no scheme."""
    if each.measure == "ctas":
        return mean_of((quotient(m.resident(scheme), m.resident(NONE)) for m in among), fmean)
    if each.measure == "ipc":
        speeds = (
            quotient(of(m.baseline, lambda t: t.cycles), of(m.best(scheme), lambda t: t.cycles))
            for m in among
        )
        return mean_of(speeds, geometric_mean)
    name = each.measure
    quantities = (
        quotient(of(m.best(scheme), lambda t: getattr(t, name)), of(m.baseline, lambda t: getattr(t, name)))
        for m in among
    )
    return mean_of(quantities, fmean)


def _single(each: Comparison) -> float | None:
    """The printed number; None for a range."""
    least, most = each.percent
    return least if least == most else None


def _range(each: Comparison) -> str:
    least, most = each.percent
    return f"{least:+g}" if least == most else f"{least:+g} to {most:+g}"
