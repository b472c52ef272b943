"""Whether our results have the shape of the papers': in a line for each question.

Signs of gains and of their factors, ranks of gains (Spearman's correlation), their geometric mean, absolute IPC, the
order of hotspot's ladder, resident CTAs, Set-3, and what early release does. A gain within NOTHING percent of zero has
no sign, nor one that replicas do not share; one within NOISE is none. An absolute IPC agrees within LIKE_IPC, a mean
within CLOSE_POINTS of the papers', a rank correlation from LIKE_RANKS on.
"""

import statistics
from collections.abc import Iterator, Sequence

from ptxtool.results.exhibits import Exhibit, Finding
from ptxtool.results.replicas import Spread
from ptxtool.sweep.reproduction.papers import Paper

NOTHING = 0.5
NOISE = 0.05
CLOSE_POINTS = 3  # a mean gain and the papers', in percentage points
LIKE_IPC = 0.1  # of the papers' absolute IPC
LIKE_RANKS = 0.8  # a rank correlation from here on is the papers' order
CLOSE_PERCENT = 3  # OWF without sharing against GTO


def findings(paper: Paper, exhibits: Sequence[Exhibit]) -> tuple[Finding, ...]:
    """The answers for the runs that ended."""
    by_key = {exhibit.key: exhibit for exhibit in exhibits}
    return (
        *_residents(by_key["resident-by-percent"]),
        *_gains(paper, by_key["gain"], by_key["robust"]),
        *_factors(by_key["factors"]),
        *_absolute(by_key["absolute"]),
        *_ladder(by_key["ladder"]),
        *_double(paper, by_key["double"]),
        *_unlimited(by_key["unlimited"]),
        *_release(by_key["release"]),
    )


def geometric_mean(gains: Sequence[float]) -> float:
    """The mean of gains in percent, as the papers average theirs."""
    return 100 * (statistics.geometric_mean(1 + gain / 100 for gain in gains) - 1)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's: 1 for the same order, -1 for the opposite one; None where all of one are equal."""
    ranks = _ranks(one), _ranks(other)
    return statistics.correlation(*ranks) if all(len(set(r)) > 1 for r in ranks) else None


def _ranks(values: Sequence[float]) -> list[float]:
    """Places in ascending order; equal values share the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def _residents(exhibit: Exhibit) -> Iterator[Finding]:
    measured = [v for v in exhibit.values if v.ours is not None]
    if measured:
        same = sum(v.ours == v.paper for v in measured)
        n = len(exhibit.values)
        yield Finding("entries of the resident-CTA table", f"{same} of {n} equal", f"{n}", same == n)


def _gains(paper: Paper, exhibit: Exhibit, robust: Exhibit) -> Iterator[Finding]:
    pairs = [(v.row, v.ours, v.paper) for v in exhibit.values if v.ours is not None and v.paper is not None]
    if not pairs:
        return
    for row, ours, printed in pairs:
        found = "none" if _has_both_signs(robust, row) else _sign(ours)
        yield Finding(f"sign of the gain: {row}", found, _sign(printed), found == _sign(printed))
    ours_all, paper_all = [p[1] for p in pairs], [p[2] for p in pairs]
    ranked = rank_correlation(ours_all, paper_all) if len(pairs) > 2 else None
    if ranked is not None:
        yield Finding("rank correlation of the gains", f"{ranked:+.2f}", "+1.00", ranked >= LIKE_RANKS)
    mean = geometric_mean(ours_all)
    apart = mean - paper.mean_gain
    ours_mean = f"{mean:+.2f}%, {round(apart, 1) + 0.0:+.1f} points apart"  # never -0.0
    is_close = abs(apart) <= CLOSE_POINTS
    yield Finding("geometric mean of the gains", ours_mean, f"{paper.mean_gain:+g}%", is_close)


def _has_both_signs(robust: Exhibit, row: str) -> bool:
    """Whether some replicas of an application gain, and others lose."""
    ends = [robust.at(row, column) for column in ("least", "greatest")]
    values = tuple(end.ours for end in ends if end is not None and end.ours is not None)
    return bool(values) and Spread(values).has_both_signs


def _factors(exhibit: Exhibit) -> Iterator[Finding]:
    """The signs of both factors: which of the two a difference comes from."""
    for column, question in (("order", "the order of warps"), ("sharing", "sharing under that order")):
        pairs = [
            (v.ours, v.paper)
            for v in exhibit.values
            if v.column == column and v.ours is not None and v.paper is not None
        ]
        if pairs:
            same = sum(_sign(ours) == _sign(printed) for ours, printed in pairs)
            yield Finding(
                f"signs of what {question} gains", f"{same} of {len(pairs)} alike", f"{len(pairs)}", None
            )


def _absolute(exhibit: Exhibit) -> Iterator[Finding]:
    pairs = [(v.ours, v.paper) for v in exhibit.values if v.ours is not None and v.paper]
    if pairs:
        n = sum(abs(ours / printed - 1) <= LIKE_IPC for ours, printed in pairs)
        question = f"thread IPC without sharing within {100 * LIKE_IPC:.0f}%"
        yield Finding(question, f"{n} of {len(pairs)}", f"{len(pairs)}", n == len(pairs))


def _sign(gain: float) -> str:
    return "none" if abs(gain) < NOTHING else "gain" if gain > 0 else "loss"


def _ladder(exhibit: Exhibit) -> Iterator[Finding]:
    """The order that the papers stress: sharing alone < with declarations unrolled < owner warps first."""
    rungs = [c for c in exhibit.columns if not c.endswith("LRR-Unrolled-Dyn")]
    values = [v.ours for c in rungs if (v := exhibit.at("hotspot", c)) is not None and v.ours is not None]
    if len(values) == len(rungs) > 2:
        short = [c.removeprefix("Shared-").removeprefix("LRR-").partition("-")[0] for c in rungs]
        ours = " < ".join(c for _, c in sorted(zip(values, short, strict=True)))
        printed = " < ".join(short)
        yield Finding("order of hotspot's ladder", ours, printed, ours == printed)


def _double(paper: Paper, exhibit: Exhibit) -> Iterator[Finding]:
    printed = {a.name: a.worse_than_double for a in paper.application if a.worse_than_double is not None}
    measured = {v.row: v.ours < 0 for v in exhibit.values if v.ours is not None and v.row in printed}
    if measured:
        same = sum(printed[name] == worse for name, worse in measured.items())
        question = f"faster or slower than twice the {paper.resource}"
        yield Finding(question, f"{same} of {len(printed)} alike", f"{len(printed)}", same == len(printed))


def _unlimited(exhibit: Exhibit) -> Iterator[Finding]:
    """Set-3: under LRR and GTO sharing must not change a cycle; owner warps first is to be close to GTO."""
    cycles = {(v.row, v.column): v.ours for v in exhibit.values if v.ours is not None}
    whole = [row for row in exhibit.rows if all((row, c) in cycles for c in exhibit.columns)]
    if not whole:
        return
    n = len(exhibit.rows)
    for name in ("LRR", "GTO"):
        same = sum(cycles[row, name] == cycles[row, f"shared, {name}"] for row in whole)
        question = f"Set-3: cycles shared as unshared, {name}"
        yield Finding(question, f"{same} of {n} equal", f"{n}", same == n)
    apart = {row: 100 * (cycles[row, "shared, OWF"] / cycles[row, "GTO"] - 1) for row in whole}
    most = max(apart, key=lambda row: abs(apart[row]))
    ours = f"at most {apart[most]:+.2f}% ({most})"
    yield Finding("Set-3: cycles, OWF over GTO", ours, "about as many", abs(apart[most]) <= CLOSE_PERCENT)


def _release(exhibit: Exhibit) -> Iterator[Finding]:
    """Early release against the full scheme, and against the same instructions in the same order without marks."""
    gains = {(v.row, v.column): v.ours for v in exhibit.values if v.ours is not None}
    rows = [[gains[row, c] for c in exhibit.columns if (row, c) in gains] for row in exhibit.rows]
    both = [row for row in rows if len(row) == 2]
    if both:
        yield _faster("locks released early", [after for _, after in both])
        alone = [100 * ((100 + after) / (100 + before) - 1) for before, after in both]
        yield _faster("the release marks alone", alone)


def _faster(question: str, gains: Sequence[float]) -> Finding:
    faster, slower = (sum(sign * gain > NOISE for gain in gains) for sign in (1, -1))
    ours = f"{faster} of {len(gains)} faster, {slower} slower, by {max(0.0, -min(gains)):.2f}% at most"
    return Finding(question, ours, "future work", None)
