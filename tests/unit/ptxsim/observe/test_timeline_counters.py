"""The counters of a timeline: over the run their sums are those of the result."""

from itertools import pairwise
from pathlib import Path

import pytest
from timelines import MIXED, run


def test_counters_have_the_sums_of_the_result(tmp_path: Path) -> None:
    result, timeline = run(tmp_path / "t.json", MIXED, 40, 96)

    def total(name: str, key: str) -> float:
        area = 0.0
        for (_, of), times in timeline.counters.items():
            if of == name:
                for (time, values), (until, _) in pairwise(times):
                    area += values[key] * (until - time)
                assert times[-1][1][key] == 0
        return area

    assert total("issue", "warp IPC") == pytest.approx(result.warp_instructions, rel=1e-4)
    assert total("L2", "accesses per cycle") == pytest.approx(result.l2["accesses"], rel=1e-4)
    assert total("L2", "misses per cycle") == pytest.approx(result.l2["misses"], rel=1e-4)
    assert total("DRAM", "reads per cycle") == pytest.approx(result.dram["reads"], rel=1e-4)
    assert total("DRAM", "writes per cycle") == pytest.approx(result.dram["writes"], rel=1e-4)
