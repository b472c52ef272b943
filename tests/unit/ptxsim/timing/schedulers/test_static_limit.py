"""The static limit: which warps the policy considers, worked out by hand."""

from policy_bench import Bench


def test_static_limit_looks_at_the_oldest_and_the_greedy_one() -> None:
    bench = Bench("static_limit:2")
    assert bench.window() == {0, 1, 2}  # the greedy one of the start, and the oldest two
    assert (bench.pick(0b000100), bench.window()) == (2, {1, 2})
    bench.sm["at_barrier"] = 0b000010
    assert bench.window() == {2, 3}
    assert (bench.pick(0b001000), bench.window()) == (3, {2, 3})
    bench.sm["resident"] = 0b100001
    assert bench.window() == {0, 5}
