"""Owners first: the order of picks, worked out by hand."""

from policy_bench import ALL, Bench


def test_owners_first() -> None:
    bench = Bench("owf")
    bench.sm["warp_class"][:6] = [0, 2, 1, 0, 2, 1]  # owners 0 and 3; 0 is the youngest of all
    assert [bench.pick(m) for m in (ALL, 0b110110, 0b110010, 0b010010, 0b000001)] == [3, 2, 5, 1, 0]
