"""Random programs with barriers, divergence and shared memory end, and agree, when their CTAs are switched."""

from switched_runs import run_switched


def test_random_programs_end_with_the_same_memory() -> None:
    outcomes = [run_switched(seed) for seed in range(24)]
    assert [o for o in outcomes if o.problem] == []
    assert sum(o.switches > 0 for o in outcomes) >= 12
