"""The SIMT stack: which path of a divergent branch runs first (timing-model section 1.7)."""

import numpy as np
import pytest

import ptxsim
import ptxsim.launcher
import ptxtool

GPU = "gpgpusim42-c2050"


def _first_path(taken_by_high_lanes: bool, gpu: str) -> str:
    """Which path of a divergent branch reads the clock first."""
    compare = "ge" if taken_by_high_lanes else "lt"
    source = f""".version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %l<4>;
	ld.param.u64 %l1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %l2, %r1, 4;
	add.s64 %l1, %l1, %l2;
	setp.{compare}.u32 %p1, %r1, 16;
	@%p1 bra TAKEN;
	mov.u32 %r2, %clock;
	bra JOIN;
TAKEN:
	mov.u32 %r2, %clock;
JOIN:
	st.global.u32 [%l1], %r2;
	ret;
}}
"""
    clock = np.zeros(32, np.uint32)
    ptxsim.launch(ptxtool.parse(source, name="paths.ptx").kernels["k"], 1, 32, [clock], gpu=gpu)
    taken, other = (31, 0) if taken_by_high_lanes else (0, 31)
    return "taken" if clock[taken] < clock[other] else "other"


@pytest.mark.parametrize("taken_by_high_lanes", [True, False])
def test_taken_path_runs_first(taken_by_high_lanes):
    assert _first_path(taken_by_high_lanes, GPU) == "taken"


@pytest.mark.parametrize(("taken_by_high_lanes", "expected"), [(True, "other"), (False, "taken")])
def test_group_without_the_highest_lane_runs_first_in_322(taken_by_high_lanes, expected):
    assert _first_path(taken_by_high_lanes, "tesla-c2050") == expected
