"""Whether our results have the shape of the papers': in a line for each question.

Signs of gains and of their factors, ranks of gains (Spearman's correlation), their geometric mean, absolute IPC, the
order of hotspot's ladder, resident CTAs, Set-3, and what early release does. `verdicts` says what agrees; besides, a
gain that replicas do not share has no sign, and one of early release within NOISE percent is none.
"""

import statistics
from collections.abc import Iterator, Sequence

from ptxtool.results.exhibits import Exhibit, Finding
from ptxtool.results.replicas import Spread
from ptxtool.sweep.reproduction.papers import Paper
from ptxtool.sweep.reproduction.verdicts import (
    CLOSE_POINTS,
    LIKE_IPC,
    geometric_mean,
    in_points,
    in_ranks,
    in_sign,
    is_close,
    is_like_ipc,
    sign,
)

NOISE = 0.05


def findings(paper: Paper, exhibits: Sequence[Exhibit]) -> tuple[Finding, ...]:
    """The answers for the runs that ended."""
    by_key = {exhibit.key: exhibit for exhibit in exhibits}
    return (
        *_residents(by_key["resident-by-percent"]),
        *_gains(paper, by_key["gain"], by_key["robust"]),
        *_factors(by_key["factors"]),
        *(found for key in ("orders",) if key in by_key for found in _orders(by_key[key])),
        *_absolute(by_key["absolute"]),
        *_ladder(by_key["ladder"]),
        *_double(paper, by_key["double"]),
        *_unlimited(by_key["unlimited"]),
        *_release(by_key["release"]),
        *(found for key in ("variant", "limits") if key in by_key for found in _OTHERS[key](by_key[key])),
    )


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
        yield in_sign(f"sign of the gain: {row}", ours, printed, has_sign=not _has_both_signs(robust, row))
    ours_all, paper_all = [p[1] for p in pairs], [p[2] for p in pairs]
    yield from in_ranks("rank correlation of the gains", ours_all, paper_all)
    yield in_points("geometric mean of the gains", geometric_mean(ours_all), paper.mean_gain, digits=2)


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
            same = sum(sign(ours) == sign(printed) for ours, printed in pairs)
            apart = sum(abs(ours - printed) for ours, printed in pairs) / len(pairs)
            shown = f"{same} of {len(pairs)} alike, {apart:.1f} points apart on average"
            yield Finding(f"signs of what {question} gains", shown, f"{len(pairs)}", same == len(pairs))


def _orders(exhibit: Exhibit) -> Iterator[Finding]:
    """Whether the papers' gains lie in the range of the two orders of loads."""
    *_, first, of_source = exhibit.columns
    ranges = [
        (sorted((one.ours, other.ours)), one.paper)
        for row in exhibit.rows
        if (one := exhibit.at(row, first)) is not None
        and (other := exhibit.at(row, of_source)) is not None
        and one.ours is not None
        and other.ours is not None
        and one.paper is not None
    ]
    if ranges:
        near = sum(is_close(min(max(printed, least), most), printed) for (least, most), printed in ranges)
        question = f"gains between those of two orders of loads, or within {CLOSE_POINTS} points"
        yield Finding(question, f"{near} of {len(ranges)}", f"{len(ranges)}", near == len(ranges))


def _absolute(exhibit: Exhibit) -> Iterator[Finding]:
    pairs = [(v.ours, v.paper) for v in exhibit.values if v.ours and v.paper]
    if pairs:
        n = sum(is_like_ipc(ours, printed) for ours, printed in pairs)
        near = sum(is_like_ipc(ours, printed, 2 * LIKE_IPC) for ours, printed in pairs)
        apart = statistics.geometric_mean(max(ours / printed, printed / ours) for ours, printed in pairs)
        question = f"thread IPC without sharing within {100 * LIKE_IPC:.0f}%"
        shown = f"{n} of {len(pairs)}, {near} within {200 * LIKE_IPC:.0f}%, a factor of {apart:.2f} apart on average"
        yield Finding(question, shown, f"{len(pairs)}", n == len(pairs))


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
    yield Finding("Set-3: cycles, OWF over GTO", ours, "about as many", is_close(apart[most], 0))


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


def _variant(exhibit: Exhibit) -> Iterator[Finding]:
    """What the other paper's machine changes. Columns are pairs: ours, and that machine's."""
    cells = {(v.row, v.column): v.ours for v in exhibit.values if v.ours is not None}
    ctas, there, _, _, gain, gain_there = exhibit.columns
    rows = [row for row in exhibit.rows if all((row, c) in cells for c in exhibit.columns)]
    if rows:
        other = [row for row in rows if cells[row, ctas] != cells[row, there]]
        named = f": {', '.join(other)}" if other else ""
        title = exhibit.title
        yield Finding(f"{title}, other resident CTAs", f"{len(other)} of {len(rows)}{named}", "", None)
        close = [row for row in rows if is_close(cells[row, gain], cells[row, gain_there])]
        apart = ", ".join(row for row in rows if row not in close)
        shown = f"{len(close)} of {len(rows)}" + (f", not {apart}" if apart else "")
        yield Finding(f"{title}, gains within {CLOSE_POINTS} points", shown, "", None)


def _limits(exhibit: Exhibit) -> Iterator[Finding]:
    measured = [v for v in exhibit.values if v.paper is not None and v.ours is not None]
    if measured:
        same = sum(v.ours == v.paper for v in measured)
        n = sum(v.paper is not None for v in exhibit.values)
        yield Finding("entries of A's table 3", f"{same} of {n} equal", f"{n}", same == n)


_OTHERS = {"variant": _variant, "limits": _limits}
"""What is found in exhibits that not every paper has."""
