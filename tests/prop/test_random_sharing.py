"""Random programs with barriers, divergence and shared memory end, and agree, when pairs of CTAs share.

`fuzz_sharing.py` runs more of them.
"""

import pytest
from shared_runs import run_shared


@pytest.mark.parametrize("resource", ["registers", "scratchpad"])
def test_random_programs_end_with_the_same_memory(resource: str) -> None:
    outcomes = [run_shared(seed, resource) for seed in range(4, 16)]
    assert [o for o in outcomes if o.problem] == []
    assert sum(o.waits > 0 for o in outcomes) >= 5
