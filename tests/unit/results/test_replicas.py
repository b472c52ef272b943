"""The spread of a number over replicas."""

import pytest

from ptxtool.results.replicas import Replicas, Spread, gains


def test_mean_deviation_and_extremes() -> None:
    spread = Spread((10.0, 12.0, 14.0))
    assert (spread.mean, spread.deviation, spread.least, spread.greatest) == (12, 2, 10, 14)
    assert Spread((3.0,)).deviation == 0
    assert spread.to_dict()["values"] == [10, 12, 14]


@pytest.mark.parametrize(
    ("values", "both"),
    [((1.0, 2.0), False), ((-1.0, -0.1), False), ((-1.0, 2.0), True), ((0.0, 2.0), False)],
)
def test_a_gain_within_its_spread_has_both_signs(values: tuple[float, ...], both: bool) -> None:
    assert Spread(values).has_both_signs == both


def test_gains_are_taken_replica_by_replica() -> None:
    base = Replicas(2, Spread((200.0, 100.0)), Spread((50.0, 100.0)))
    ours = Replicas(2, Spread((100.0, 110.0)), Spread((100.0, 90.0)))
    found = gains(ours, base)
    assert found is not None
    assert found.values == pytest.approx((100, -10))
    assert gains(ours, Replicas(1, Spread((0.0,)), Spread((0.0,)))) is None


def test_as_text() -> None:
    whole = Replicas(2, Spread((100.0, 102.0)), Spread((50.0, 49.0)))
    assert str(whole) == (
        "2 replicas: 101 cycles on average (100 to 102, deviation 1.40%), thread IPC 49.50 (49.00 to 50.00)"
    )
    assert whole.complete
    some = Replicas(5, Spread((100.0,)), Spread((50.0,)))
    assert not some.complete
    assert str(some).startswith("1 of 5 (interrupted) replicas: 100 cycles")
