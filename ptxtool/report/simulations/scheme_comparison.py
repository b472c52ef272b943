"""Register schemes side by side: a table with a row for each, why some did not run, and whether memory is the same."""

from collections.abc import Iterator

from ptxtool.analysis.energy.breakdown import EnergyBreakdown
from ptxtool.base.mangled import shown_name
from ptxtool.report.tables import Part, clip, head, table
from ptxtool.results.scheme_comparison import SchemeComparison, SchemeRun

_COLUMNS = head(
    "scheme:cyan | >cycles | >change:bold | >CTAs | >active | >switches | >registers | >storage bits | >energy"
    " | >change:bold"
)


def scheme_comparison_parts(comparison: SchemeComparison) -> list[Part]:
    """The report. CTAs, resident and active ones, are averages over SMs and cycles; storage bits are of an SM."""
    first = comparison.runs[0].counters
    title = f"{shown_name(comparison.kernel)} on {comparison.gpu}"
    if first:
        grid, block = (" x ".join(map(str, first[name])) for name in ("grid", "block"))
        title += f", {first['scheduler']}: grid {grid}, block {block}"
    rows = [_row(comparison, run) for run in comparison.runs]
    return [table(_COLUMNS, rows, title), "", *_notes(comparison), _verdict(comparison)]


def _row(comparison: SchemeComparison, run: SchemeRun) -> tuple[object, ...]:
    counters = run.counters
    if not counters:
        return (run.scheme, "not run", *[""] * 8)
    bits = counters.get("storage_bits")
    return (
        run.scheme,
        counters["cycles"],
        _percent(comparison, run, comparison.change(run, "cycles")),
        f"{counters['resident_average']:.1f}",
        f"{run.active_average:.1f}",
        counters["switches"],
        run.registers,
        "-" if bits is None else bits,
        EnergyBreakdown.from_dict(counters["energy"]).total_text,
        _percent(comparison, run, comparison.energy_change(run)),
    )


def _percent(comparison: SchemeComparison, run: SchemeRun, change: float | None) -> str:
    return "" if change is None or run is comparison.runs[0] else f"{change:+.1f}%"


def _notes(comparison: SchemeComparison) -> Iterator[str]:
    """Why schemes did not run, and the remarks of the runs: those of all runs once."""
    of_runs = [run.counters["remarks"] for run in comparison.runs if run.counters]
    common = (
        [remark for remark in of_runs[0] if all(remark in of_run for of_run in of_runs)] if of_runs else []
    )
    lines = [f"note: {remark}" for remark in common]
    for run in comparison.runs:
        if not run.counters and run.outcome.reason:
            lines.append(clip(f"{run.scheme}: {run.outcome.reason}"))
        lines += [f"{run.scheme}: {each}" for each in run.counters.get("remarks", ()) if each not in common]
        if more := _more_registers(comparison, run):
            lines.append(f"{run.scheme}: {more}")
    if lines:
        yield from lines
        yield ""


def _more_registers(comparison: SchemeComparison, run: SchemeRun) -> str:
    """Whether the text of a scheme has more registers than the launch gives the original's."""
    pool, given = run.counters.get("pool"), comparison.runs[0].counters.get("registers", 0)
    if not pool or pool["base"] + pool["extended"] <= given:
        return ""
    needed = pool["base"] + pool["extended"]
    return f"its text takes {needed} registers, the others {given}, as launched: --registers {needed} is fair"


def _verdict(comparison: SchemeComparison) -> str:
    ended = [run for run in comparison.runs if run.has_ended]
    if not comparison.complete:
        return f"interrupted: {len(ended)} of {len(comparison.runs)} schemes have run"
    if not ended:
        return "no scheme has run"
    checked = ended[0].outcome.checked
    others = [run.scheme for run in ended if not run.same_memory]
    if any(run.outcome.status == "wrong" for run in ended) or (others and not checked):
        return "results: WRONG, see the messages"
    expected = f"{', '.join(checked)} as expected, and " if checked else ""
    if others:
        return f"results: {', '.join(checked)} as expected; other bits than without a scheme: {', '.join(others)}"
    return f"results: {expected}all memory identical in all {len(ended)} runs"
