"""Greedy then oldest: the order of picks, worked out by hand."""

from policy_bench import ALL, Bench


def test_greedy_stays_until_it_cannot() -> None:
    bench = Bench("gto")
    assert bench.pick(ALL) == 0  # the greedy warp at the start
    assert bench.pick(0b111110) == 1  # the oldest
    assert bench.pick(ALL) == 1  # greedy now
    assert [bench.pick(0b111101), bench.pick(0b001100), bench.pick(ALL)] == [2, 2, 2]
    assert bench.pick(0b100001) == 5  # slot 0 is the youngest
