"""Owners first, greedy within a class: the order of picks, worked out by hand."""

from policy_bench import ALL, Bench


def test_owners_first_greedy_within_their_class() -> None:
    bench = Bench("owf_greedy")
    bench.sm["warp_class"][:6] = [0, 2, 1, 0, 2, 1]
    assert bench.pick(ALL) == 0  # the greedy warp at the start, of the best class
    assert bench.pick(0b110110) == 2  # of the best class that is there the oldest
    assert bench.pick(0b110110) == 2
    assert bench.pick(0b100000) == 5
    assert bench.pick(0b110110) == 5  # greedy: 2 is older
    assert bench.pick(0b111110) == 3  # an owner all the same
    bench.sm["warp_class"][3] = 2  # the class is that of now
    assert bench.pick(0b111110) == 2
