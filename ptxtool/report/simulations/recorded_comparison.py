"""The launches of a recording under several schemes as tables: all together, then the gain of each launch."""

from typing import Any

from ptxtool.base.mangled import shown_name
from ptxtool.report.bars import bar
from ptxtool.report.tables import Column, Part, clip, head, shortened, split, table
from ptxtool.results.recorded_comparisons import ComparedLaunch, RecordedComparison, SchemeTotal
from ptxtool.results.scheme_comparison import SchemeComparison

_TOGETHER = "scheme:cyan | >launches | >cycles | >thread IPC:bold | >{}:bold | :green"
_SHOWN, _BAR, _WIDTH = 40, 12, 120


def recorded_comparison_parts(comparison: RecordedComparison) -> list[Part]:
    """The report: gains are of thread IPC over the first rung of a ladder; changes of cycles where register schemes are
    compared."""
    of_schemes = any(isinstance(each.comparison, SchemeComparison) for each in comparison.launches)
    what = "change" if of_schemes else "gain"
    n = len(comparison.launches)
    title = f"{n} launch{'es' * (n != 1)} on {comparison.gpu}, each with empty caches"
    totals = comparison.totals
    longest = max([10.0, *(abs(_percent(total, of_schemes) or 0.0) for total in totals)])
    rows = [_row(total, of_schemes, longest, first=k == 0) for k, total in enumerate(totals)]
    together = table(head(_TOGETHER.format(what)), rows, title)
    launches = _launches(comparison, of_schemes) if comparison.names else []
    return [together, "", *launches, *_refusals(comparison), *_left_out(comparison), _verdict(comparison)]


def _percent(total: SchemeTotal, of_schemes: bool) -> float | None:
    return total.change if of_schemes else total.gain


def _row(total: SchemeTotal, of_schemes: bool, longest: float, first: bool) -> tuple[object, ...]:
    percent = _percent(total, of_schemes)
    if percent is None:
        return total.name, 0, "", "", "", ""
    shown = "" if first else f"{percent:+.2f}%"
    length = 0.0 if first else percent
    work = total.work
    return (
        total.name,
        len(total.launches),
        work.cycles,
        f"{work.thread_ipc:.2f}",
        shown,
        bar(length, longest, _BAR),
    )


def _launches(comparison: RecordedComparison, of_schemes: bool) -> list[Part]:
    """A line for each launch: the cycles under the first scheme, and every other scheme's gain or change."""
    first, *others = comparison.names
    columns = [Column("launch", "right"), Column("kernel", style="cyan"), Column(f"{first} cycles", "right")]
    columns += [Column(name, "right", "bold") for name in others]
    rows: list[tuple[Any, ...]] = []
    for each in comparison.launches:
        work = each.work
        percents = [_percent(comparison.total(name, [each]), of_schemes) for name in others]
        cells = ["-" if percent is None else f"{percent:+.2f}%" for percent in percents]
        rows.append(
            (each.number, shown_name(each.kernel), work[first].cycles if first in work else "-", *cells)
        )
    title = "change of cycles, launch by launch" if of_schemes else "gain, launch by launch"
    parts: list[Part] = []
    for part in split(shortened(columns, rows, title, _SHOWN), _WIDTH):
        parts += [part, ""]
    return parts


def _refusals(comparison: RecordedComparison) -> list[Part]:
    """Why schemes or launches did not run, each reason once with the launches it is about."""
    reasons: dict[str, list[int]] = {}
    for each in comparison.launches:
        for reason in _reasons(each):
            reasons.setdefault(reason, []).append(each.number)
    lines = [clip(f"{_numbers(numbers)}: {reason}") for reason, numbers in reasons.items()]
    return [*lines, ""] if lines else []


def _reasons(launch: ComparedLaunch) -> list[str]:
    if launch.comparison is None:
        return [f"not run: {problem.message}" for problem in launch.refusal]
    return [
        f"{run.scheme}: {run.outcome.reason}"
        for run in launch.runs
        if not run.counters and run.outcome.reason
    ]


def _numbers(numbers: list[int]) -> str:
    return f"launch{'es' * (len(numbers) != 1)} {', '.join(map(str, numbers))}"


def _left_out(comparison: RecordedComparison) -> list[Part]:
    return [*(f"not in the list: {what}" for what in comparison.left_out), ""] if comparison.left_out else []


def _verdict(comparison: RecordedComparison) -> str:
    if not comparison.complete:
        return f"interrupted: {len(comparison.launches)} of {comparison.of} launches"
    refused = sum(each.comparison is None for each in comparison.launches)
    if len(comparison.problems) > sum(len(each.refusal) for each in comparison.launches):
        return "results: WRONG, see the messages"
    if refused == comparison.of:
        return "no launch has run"
    but = f"; {refused} of {comparison.of} launches not run" if refused else ""
    return f"results: as expected, and memory identical under all schemes{but}"
