"""Whether our results have the shape of RegDem's: in a line for each question.

A mean or the largest gain agrees as `verdicts` says. The predictor agrees where its choices have at
least the paper's part of the speed that an exhaustive search finds, less CLOSE_SHARE. Where a choice is more than
WRONG_PERCENT slower than the fastest variant, a line says which quantity of the predictor was wrong.
"""

from collections.abc import Iterator, Sequence

from ptxtool.base.phrases import counted
from ptxtool.results.exhibits import Exhibit, Finding
from ptxtool.sweep.reproduction.regdem.exhibits import CHOSEN, DEMOTED, EQUATIONS, LOCAL, LOCAL_SHARED, NAIVE
from ptxtool.sweep.reproduction.regdem.measured import Measured
from ptxtool.sweep.reproduction.regdem.mispredictions import Misprediction, misprediction
from ptxtool.sweep.reproduction.regdem.paper import Paper
from ptxtool.sweep.reproduction.verdicts import geometric_mean, in_points

WRONG_PERCENT = 5.0
CLOSE_SHARE = 0.05  # 98.95% prints as the paper's 99.0%
RESOURCES = ("registers", "slots", "occupancy")


def findings(
    paper: Paper, benchmarks: Sequence[Measured], exhibits: Sequence[Exhibit]
) -> tuple[Finding, ...]:
    """The answers for the runs that ended."""
    by_key = {exhibit.key: exhibit for exhibit in exhibits}
    return (
        *_variants(benchmarks),
        *_resources([by_key[key] for key in RESOURCES]),
        *_gains(paper, by_key["gain"]),
        *_predictor(paper, by_key["share"]),
        *(
            _wrong(m.benchmark.name, found)
            for m in benchmarks
            if (found := misprediction(m)) and _is_wrong(found)
        ),
        *_conflicts(by_key["conflicts"]),
    )


def _variants(benchmarks: Sequence[Measured]) -> Iterator[Finding]:
    variants = [v for m in benchmarks for v in m.tuning.variants]
    distinct = sum(not v.same_as for v in variants)
    ours = f"{len(variants)}, {distinct} different texts"
    yield Finding("variants of the benchmarks", ours, "27 per register count", None)
    ran = [v for v in variants if v.cycles is not None]
    if ran:
        same = sum(not v.problem for v in ran)
        question = "results as the original's under all variants"
        yield Finding(question, f"{same} of {counted(len(ran), 'variant')}", "all", same == len(ran))


def _resources(exhibits: Sequence[Exhibit]) -> Iterator[Finding]:
    for exhibit in exhibits:
        n = len(exhibit.values)
        same = sum(v.ours == v.paper for v in exhibit.values)
        question = f"entries of the table of {exhibit.title.lower()}"
        yield Finding(question, f"{same} of {n} equal", f"{n}", same == n)


def _gains(paper: Paper, exhibit: Exhibit) -> Iterator[Finding]:
    """The predictor's choices over the compiler; demotion over the other ways to spill, where both have a result."""
    chosen = [v.ours for v in exhibit.values if v.column == CHOSEN and v.ours is not None]
    if chosen:
        for question, ours, printed in (
            ("geometric mean of the gains", geometric_mean(chosen), paper.mean_gain),
            ("largest gain", max(chosen), paper.most_gain),
        ):
            yield in_points(question, ours, printed, digits=2)
    for other in (LOCAL, LOCAL_SHARED):
        both = [_pair(exhibit, row, DEMOTED, other) for row in exhibit.rows]
        ratios = [100 * ((100 + ours) / (100 + theirs) - 1) for ours, theirs in filter(None, both)]
        if ratios:
            mean = geometric_mean(ratios)
            yield Finding(f"demotion over {other}, geometric mean", f"{mean:+.2f}%", "faster", mean > 0)


def _pair(exhibit: Exhibit, row: str, one: str, other: str) -> tuple[float, float] | None:
    """The values of two columns; None where one has none."""
    first, second = (v.ours if (v := exhibit.at(row, column)) else None for column in (one, other))
    return None if first is None or second is None else (first, second)


def _predictor(paper: Paper, exhibit: Exhibit) -> Iterator[Finding]:
    shares = {
        column: [v.ours - 100 for v in exhibit.values if v.column == column and v.ours is not None]
        for column in (CHOSEN, EQUATIONS, NAIVE)
    }
    if not shares[CHOSEN]:
        return
    chosen, equations, naive = (geometric_mean(gains) + 100 for gains in shares.values())
    printed = paper.predictor_percent
    for question, share in (
        ("the predictor's choices, of the speed of an exhaustive search", chosen),
        ("those by the paper's equations alone", equations),
    ):
        yield Finding(question, f"{share:.1f}%", f"{printed:g}%", share >= printed - CLOSE_SHARE)
    yield Finding("those of the naive predictor", f"{naive:.1f}%", "less", naive < chosen)


def _is_wrong(found: Misprediction) -> bool:
    return found.lost > WRONG_PERCENT


def _wrong(row: str, found: Misprediction) -> Finding:
    ours = f"{found.lost:.1f}% slower than the fastest: {found.cause}"
    return Finding(f"a choice more than {WRONG_PERCENT:g}% too slow: {row}", ours, "", None)


def _conflicts(exhibit: Exhibit) -> Iterator[Finding]:
    added = [v.ours for v in exhibit.values if v.paper is not None and v.ours is not None]
    if added:
        most = max(added, key=abs)
        yield Finding("bank conflicts of demoted accesses", f"{most:g} cycles", "none", most == 0)
