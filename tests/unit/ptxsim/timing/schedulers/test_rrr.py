"""Strict round robin: whose turn it is, worked out by hand."""

from policy_bench import Bench


def test_strict_round_robin_keeps_the_turn() -> None:
    bench = Bench("rrr")
    assert (bench.window(), bench.pick(0b000001), bench.window()) == ({0}, 0, {1})
    assert bench.window() == {1}  # it has not issued
    bench.sm["at_barrier"] = 0b000010
    assert (bench.window(), bench.pick(0b000100), bench.window()) == ({2}, 2, {3})
    bench.sm["finishing"] = 0b111000
    assert bench.window() == {0}
    bench.sm["in_atomic"] = 0b000101
    assert bench.window() == set()
