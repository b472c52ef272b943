"""Oldest first: the order of picks, worked out by hand."""

from policy_bench import ALL, Bench


def test_oldest_first_goes_back_to_older_ones() -> None:
    bench = Bench("old")
    assert [bench.pick(m) for m in (ALL, 0b111101, ALL, 0b100001, 0b000001)] == [1, 2, 1, 5, 0]
