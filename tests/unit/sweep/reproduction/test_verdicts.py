"""When a result agrees with a paper's, at the thresholds and on both sides of them."""

import math

import pytest

from ptxtool.sweep.reproduction.verdicts import (
    geometric_mean,
    in_points,
    in_ranks,
    in_sign,
    is_like_ipc,
    rank_correlation,
)


def test_ranks() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 90]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [9, 5, 1]) == pytest.approx(-1)
    # ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3: covariance 4.5, variances 4.5 and 5
    assert rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None


def test_ranks_agree_from_0_8_on() -> None:
    (found,) = in_ranks("order", [1, 3, 2, 4], [1, 2, 3, 4])  # 1 - 6 * 2 / 60
    assert (found.ours, found.paper, found.agrees) == ("+0.80", "+1.00", True)
    (found,) = in_ranks("order", [2, 3, 1, 4], [1, 2, 3, 4])  # 1 - 6 * 6 / 60
    assert (found.ours, found.agrees) == ("+0.40", False)
    assert in_ranks("order", [1, 2], [1, 2]) == in_ranks("order", [1, 1, 1], [1, 2, 3]) == ()


def test_geometric_mean() -> None:
    assert geometric_mean([100, 0]) == pytest.approx(41.42, abs=0.01)
    assert geometric_mean([25, -20]) == pytest.approx(0)


def test_percentages_agree_within_three_points() -> None:
    found = in_points("mean", 14, 11)
    assert (found.ours, found.paper, found.agrees) == ("+14.0%, +3.0 points apart", "+11%", True)
    assert in_points("mean", 14.1, 11).agrees is False
    assert in_points("mean", 7.9, 11).agrees is False
    found = in_points("use", 52.04, 55, signed=False)
    assert (found.ours, found.paper, found.agrees) == ("52.0%, -3.0 points apart", "55%", True)


@pytest.mark.parametrize(
    ("ours", "ends", "shown", "paper", "agrees"),
    [
        (5, (2, 8), "+5.0%, +0.0 points apart", "+2 to +8%", True),
        (12, (2, 8), "+12.0%, +4.0 points apart", "+2 to +8%", False),
        (-1, (2, 8), "-1.0%, -3.0 points apart", "+2 to +8%", True),
        (90, (2, math.inf), "+90.0%, +0.0 points apart", "more than +2%", True),
        (9, (-math.inf, 2), "+9.0%, +7.0 points apart", "less than +2%", False),
    ],
)
def test_a_range_is_left_at_its_ends(
    ours: float, ends: tuple[float, float], shown: str, paper: str, agrees: bool
) -> None:
    found = in_points("gain", ours, *ends)
    assert (found.ours, found.paper, found.agrees) == (shown, paper, agrees)


def test_signs() -> None:
    found = in_sign("gain", -2.5, 4.06)
    assert (found.ours, found.paper, found.agrees) == ("loss, -6.6 points apart", "gain", False)
    found = in_sign("gain", 9, 0.1, has_sign=False)
    assert (found.ours, found.paper, found.agrees) == ("none, +8.9 points apart", "none", True)


def test_an_absolute_ipc_agrees_within_a_tenth() -> None:
    assert is_like_ipc(109, 100)
    assert is_like_ipc(91, 100)
    assert not is_like_ipc(111, 100)
    assert not is_like_ipc(89, 100)
