"""Whether our results have the shape of FineReg's: in a line for each question.

Percentages, ranges and ranks agree as `verdicts` says; Table III's cycles within CLOSE_PERCENT. Where FineReg loses, a
line has the assumption that changes most.
"""

import math
from collections.abc import Iterator, Sequence

from ptxtool.formats.gpu import Gpu
from ptxtool.results.exhibits import Exhibit, Finding
from ptxtool.sweep.reproduction.finereg.assumptions import AS_IT_IS
from ptxtool.sweep.reproduction.finereg.columns import mean_row
from ptxtool.sweep.reproduction.finereg.comparisons import described, measured
from ptxtool.sweep.reproduction.finereg.limits import BANDWIDTH, FIRST, REACHED, is_limited_by_memory
from ptxtool.sweep.reproduction.finereg.measured import Measured
from ptxtool.sweep.reproduction.finereg.paper import Comparison, Paper
from ptxtool.sweep.reproduction.finereg.variants import ASSUMPTIONS, FINEREG, NONE, VIRTUAL_THREAD
from ptxtool.sweep.reproduction.verdicts import in_points, in_ranks

CLOSE_PERCENT = 25
NOISE = 2.0
"""A change of speed below so many percent is no result."""
TOGETHER = ("all", "all and a longer latency", "all of these")
"""Assumptions that are several of the others."""


def findings(
    paper: Paper, benchmarks: Sequence[Measured], exhibits: Sequence[Exhibit], gpu: Gpu
) -> tuple[Finding, ...]:
    """The answers for the runs that ended."""
    by_key = {exhibit.key: exhibit for exhibit in exhibits}
    return (
        *_machine(by_key["machine"], gpu),
        *_types(benchmarks),
        *_first_stalls(by_key["first-stall"]),
        *_larger(by_key["larger"]),
        *_register_use(paper, by_key["register-use"]),
        *_faster(by_key["speed"]),
        *(found for each in paper.comparison for found in _comparison(each, benchmarks)),
        *_splits(by_key["splits"]),
        *_sms(paper, by_key["sms"]),
        *_needed(by_key["assumptions"]),
    )


def _machine(exhibit: Exhibit, gpu: Gpu) -> Iterator[Finding]:
    printed = [v for v in exhibit.values if v.paper is not None]
    same = sum(math.isclose(v.ours or 0, v.paper or 0, rel_tol=1e-3) for v in printed)
    yield Finding(
        "entries of Table I", f"{same} of {len(printed)} equal", f"{len(printed)}", same == len(printed)
    )
    reached, peak = (exhibit.at(row, gpu.name) for row in (REACHED, BANDWIDTH))
    if reached and peak and reached.ours and peak.ours:
        ours = f"{reached.ours:.0f} GB/s, {100 * reached.ours / peak.ours:.0f}%"
        yield Finding("DRAM bandwidth that a kernel reaches", ours, f"{peak.paper:g} GB/s peak", None)


def _types(benchmarks: Sequence[Measured]) -> Iterator[Finding]:
    alike = [m.name for m in benchmarks if is_limited_by_memory(m) == (m.application.limit == "R")]
    n = len(benchmarks)
    others = ", ".join(m.name for m in benchmarks if m.name not in alike)
    ours = f"{len(alike)} of {n} alike" + (f", not {others}" if others else "")
    yield Finding("types S and R of Table II", ours, f"{n}", len(alike) == n)


def _first_stalls(exhibit: Exhibit) -> Iterator[Finding]:
    pairs = [(v.ours, v.paper) for v in exhibit.values if v.column == FIRST and v.ours and v.paper]
    if len(pairs) < 3:
        return
    close = sum(abs(ours / printed - 1) <= CLOSE_PERCENT / 100 for ours, printed in pairs)
    question = f"cycles to the first stall, within {CLOSE_PERCENT}% of Table III"
    yield Finding(question, f"{close} of {len(pairs)}", f"{len(pairs)}", close == len(pairs))
    ranked = [ours for ours, _ in pairs], [printed for _, printed in pairs]
    yield from in_ranks("rank correlation of the cycles to the first stall", *ranked)


def _larger(exhibit: Exhibit) -> Iterator[Finding]:
    for value in exhibit.values:
        if value.ours is not None and value.paper is not None:
            question = f"{value.column}, {value.row.removeprefix('mean, ')}: gain of speed"
            yield in_points(question, value.ours, value.paper)


def _register_use(paper: Paper, exhibit: Exhibit) -> Iterator[Finding]:
    mean = exhibit.at(mean_row("all"), "mean")
    if mean is None or mean.ours is None or mean.paper is None:
        return
    question = "registers accessed in 1000 instructions"
    yield in_points(question, mean.ours, mean.paper, signed=False)
    least = {v.row: v.ours for v in exhibit.values if v.column == "least" and not v.row.startswith("mean")}
    below = [row for row, ours in least.items() if ours is not None and ours < paper.least_used]
    agrees = sorted(below) == sorted(paper.used_least)
    question = f"applications with a window below {paper.least_used:g}%"
    yield Finding(question, " ".join(below) or "none", " ".join(paper.used_least), agrees)


def _faster(exhibit: Exhibit) -> Iterator[Finding]:
    """How many applications gain, over no scheme and over Virtual Thread, beyond the noise."""
    fine = {v.row: v.ours for v in exhibit.values if v.column == FINEREG and not v.row.startswith("mean")}
    virtual = {v.row: v.ours for v in exhibit.values if v.column == VIRTUAL_THREAD}
    for over, base in ((NONE, dict.fromkeys(fine, 0.0)), (VIRTUAL_THREAD, virtual)):
        gains = [
            100 * ((100 + ours) / (100 + other) - 1)
            for row, ours in fine.items()
            if ours is not None and (other := base.get(row)) is not None
        ]
        if gains:
            faster, slower = (sum(sign * found > NOISE for found in gains) for sign in (1, -1))
            ours = f"{faster} faster, {slower} slower, {len(gains) - faster - slower} within {NOISE:g}%"
            yield Finding(f"applications, {FINEREG} over {over}", ours, "", None)


def _comparison(each: Comparison, benchmarks: Sequence[Measured]) -> Iterator[Finding]:
    ours = measured(each, benchmarks)
    if ours is not None:
        yield in_points(described(each), ours, *each.percent)


def _splits(exhibit: Exhibit) -> Iterator[Finding]:
    """Which split is fastest, and which has the most CTAs."""
    for column, question, printed in (
        ("speed", "fastest split of the register file", "128/128 KB"),
        ("resident CTAs", "split with the most CTAs", "64/192 KB"),
    ):
        found = {v.row: v.ours for v in exhibit.values if v.column == column and v.ours is not None}
        if len(found) == len(exhibit.rows):
            best = max(found, key=lambda row: found[row])
            yield Finding(question, best, printed, best == printed)
    for value in exhibit.values:
        if value.column == "speed" and value.ours is not None and value.paper:
            yield in_points(f"speed with {value.row}, against 128/128 KB", value.ours, value.paper)


def _sms(paper: Paper, exhibit: Exhibit) -> Iterator[Finding]:
    gains = [v.ours for v in exhibit.values if v.column == "FineReg over none"]
    known = [gain for gain in gains if gain is not None]
    if known and len(known) == len(gains):
        ours = f"{min(known):+.1f} to {max(known):+.1f}%"
        least = paper.many_sms_gain
        yield Finding("FineReg over none, 16 to 128 SMs", ours, f"more than {least:+g}%", min(known) >= least)


def _needed(exhibit: Exhibit) -> Iterator[Finding]:
    """The mean gain by assumption; for each application that FineReg slows down, the assumption that helps most."""
    for column in exhibit.columns:
        mean = exhibit.at("mean, all", column)
        if mean is not None and mean.ours is not None:
            yield Finding(f"{FINEREG} over {NONE}, {column}", f"{mean.ours:+.1f}%", "", None)
    alone = [title for title in ASSUMPTIONS if title not in TOGETHER]
    for row in exhibit.rows:
        gains = {column: v.ours for column in (AS_IT_IS, *alone) if (v := exhibit.at(row, column))}
        known = {column: ours for column, ours in gains.items() if ours is not None}
        if row.startswith("mean") or len(known) < 1 + len(alone) or known[AS_IT_IS] > -NOISE:
            continue
        most = max(alone, key=lambda title: known[title])
        if known[most] > known[AS_IT_IS] + NOISE:
            ours = f"{known[AS_IT_IS]:+.1f}%; {most}: {known[most]:+.1f}%"
        else:
            ours = f"{known[AS_IT_IS]:+.1f}%; no single assumption gives {NOISE:g} points"
        yield Finding(f"why {FINEREG} loses: {row}", ours, "", None)
