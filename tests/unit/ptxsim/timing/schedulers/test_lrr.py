"""Loose round robin: the order of picks, worked out by hand."""

from policy_bench import ALL, Bench


def test_loose_round_robin_begins_after_the_last_issuer() -> None:
    bench = Bench("lrr")
    assert [bench.pick(ALL) for _ in range(7)] == [0, 1, 2, 3, 4, 5, 0]
    assert [bench.pick(0b001001), bench.pick(0b001001), bench.pick(0b010011)] == [3, 0, 1]
