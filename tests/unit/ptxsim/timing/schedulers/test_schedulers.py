"""Warp schedulers: the order each chooses, worked out by hand; what it costs; what is reported of a wrong one."""

from typing import Any

import numpy as np
import pytest
from microkernel import cost, kernel

import ptxsim
from ptxsim.timing.schedulers import policy
from ptxtool.base.diag import PtxError


@pytest.mark.parametrize(
    ("scheduler", "at_once"),
    [
        *(
            (name, 4)
            for name in ("lrr", "gto", "old", "rrr", "owf", "owf_greedy", "static_limit:4", "two_level")
        ),
        *(("static_limit:1", 1), ("static_limit:2", 2), ("two_level:1", 1), ("two_level:2", 2)),
    ],
)
def test_chains_overlap_for_as_many_warps_as_a_scheduler_looks_at(scheduler: str, at_once: int) -> None:
    # 4 warps per scheduler, each a chain of additions that issue every 11 cycles (section 7.3, row 1)
    assert cost("add.f32 $r1, $r1, $r2;", block=256, scheduler=scheduler) == pytest.approx(
        44 / at_once, abs=0.3
    )


LOADS = """
	cvt.u32.u16 $r1, $r0.lo;
	shl.u32 $r1, $r1, 0x00000002;
	add.u32 $r1, $r1, s[0x0010];
"""
LOADS += "".join(f"\tld.global.u32 $r2, [$r1+{4096 * k}];\n\tadd.u32 $r3, $r2, $r2;\n" for k in range(6))


def test_what_is_one_policy_under_two_names() -> None:
    def run(scheduler: str) -> Any:
        result = ptxsim.launch(
            kernel(LOADS), 40, 256, [np.zeros(1 << 16, np.uint32), 1], scheduler=scheduler
        ).to_dict()
        assert result.pop("scheduler") == scheduler
        return result

    assert run("static_limit:64") == run("gto")
    assert run("owf") == run("old")  # nothing is shared
    assert run("owf_greedy") == run("gto")
    assert run("two_level") == run("two_level:6")


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("fifo", "no warp scheduler 'fifo'.*gto, lrr, old, owf"),
        ("two-level", "no warp scheduler 'two-level'.*did you mean 'two_level'"),
        ("lrr:3", "'lrr' takes no number.*write 'lrr'"),
        ("two_level:", "'' is no number of warps.*'two_level:6'"),
        ("two_level:0", "'0' is no number of warps"),
        ("two_level:129", "'129' is no number of warps.*from 1 to 128"),
        ("static_limit", "a number of warps is missing.*'static_limit:8'"),
        ("no.py", "names no function.*'no.py:pick'"),
        ("no.py:pick:x", "'x' is no whole number"),
    ],
)
def test_names_that_are_none(name: str, reported: str) -> None:
    with pytest.raises(PtxError, match=f"(?s)E502.*{reported}"):
        policy(name)
