"""When a result agrees with a paper's: the thresholds, and one function for each kind of number.

A sign agrees if it is the same, where a gain within NOTHING percent of zero has none; a percentage within CLOSE_POINTS
percentage points; a rank correlation (Spearman's) from LIKE_RANKS on; an absolute IPC within LIKE_IPC of the paper's.
Each finding says the distance.
"""

import math
import statistics
from collections.abc import Sequence

from ptxtool.results.exhibits import Finding

NOTHING = 0.5
CLOSE_POINTS = 3
LIKE_RANKS = 0.8
LIKE_IPC = 0.1


def sign(gain: float) -> str:
    """Of a gain in percent: "gain", "loss", or "none"."""
    return "none" if abs(gain) < NOTHING else "gain" if gain > 0 else "loss"


def is_close(one: float, other: float) -> bool:
    """Whether two percentages are the same, as far as we can tell."""
    return abs(one - other) <= CLOSE_POINTS


def is_like_ipc(ours: float, printed: float, within: float = LIKE_IPC) -> bool:
    """Whether an absolute IPC is the paper's, which is not 0."""
    return abs(ours / printed - 1) <= within


def in_sign(question: str, ours: float, printed: float, *, has_sign: bool = True) -> Finding:
    """A gain in percent beside a printed one; without a sign of its own where `has_sign` is False."""
    found = sign(ours) if has_sign else "none"
    shown = f"{found}, {_apart(ours - printed)}"
    return Finding(question, shown, sign(printed), found == sign(printed))


def in_points(
    question: str, ours: float, least: float, most: float | None = None, digits: int = 1, signed: bool = True
) -> Finding:
    """A percentage beside a printed one, or beside a range from `least` to `most`, either of which may be infinite."""
    most = least if most is None else most
    apart = min(ours - least, 0.0) + max(ours - most, 0.0)
    plus = "+" if signed else ""
    shown = f"{ours:{plus}.{digits}f}%, {_apart(apart)}"
    if least == most:
        paper = f"{least:{plus}g}%"
    elif math.isinf(most):
        paper = f"more than {least:{plus}g}%"
    elif math.isinf(least):
        paper = f"less than {most:{plus}g}%"
    else:
        paper = f"{least:{plus}g} to {most:{plus}g}%"
    return Finding(question, shown, paper, is_close(apart, 0))


def in_ranks(question: str, ours: Sequence[float], printed: Sequence[float]) -> tuple[Finding, ...]:
    """The order of values beside the paper's; none for fewer than three, or where all of one side are equal."""
    ranked = rank_correlation(ours, printed) if len(ours) > 2 else None
    if ranked is None:
        return ()
    return (Finding(question, f"{ranked:+.2f}", "+1.00", ranked >= LIKE_RANKS),)


def geometric_mean(gains: Sequence[float]) -> float:
    """The mean of gains in percent, as the papers average theirs."""
    return 100 * (statistics.geometric_mean(1 + gain / 100 for gain in gains) - 1)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's: 1 for the same order, -1 for the opposite one; None where all of one are equal."""
    ranks = _ranks(one), _ranks(other)
    return statistics.correlation(*ranks) if all(len(set(r)) > 1 for r in ranks) else None


def _apart(points: float) -> str:
    return f"{round(points, 1) + 0.0:+.1f} points apart"  # never -0.0


def _ranks(values: Sequence[float]) -> list[float]:
    """Places in ascending order; equal values share the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]
