"""The core of GPGPU-Sim 4.2: what `tests/microkernels/gpgpusim42.py` has no figures for (timing-model-42 section 1)."""

import numpy as np
import pytest
from microkernels.measure import run, text

import ptxsim
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


@pytest.mark.parametrize(("warps", "misses", "stalls"), [(16, 32, False), (24, 32, True)])
def test_33rd_load_of_a_parameter_line_blocks_the_ldst_unit(warps, misses, stalls):
    # two loads a warp of one line that is cold: 32 wait in one miss entry, the next one is retried until the line comes
    stats = run("mov.u32 %r1, %r2;", setup="ld.param.u64 %l1, [p];", block=32 * warps, gpu=GPU).stats
    assert stats["l1c_misses"] == misses
    assert stats["l1c_accesses"] == 2 * warps
    assert (stats["stall_shd_mem"] > 100) == stalls


def test_sms_without_work_are_asleep():
    result = run("mov.u32 %r1, %r2;", gpu=GPU)
    assert result.active_cycles == result.cycles - 1  # the cycle that launches the CTA is nobody's
    counted = run("mov.u32 %r1, %r2;", grid=2, gpu="tesla-c2050")
    assert counted.active_cycles > 2 * counted.cycles - 40


def test_instruction_cache_misses_by_line():
    # 13 + 300 instructions from address 0 are 40 lines of 16; one warp, straight, misses each once
    body = "\n\t".join(["mov.u32 %r1, %r2;"] * 300)
    assert run(body, gpu=GPU).stats["l1i_misses"] == -(-(1 + 300 + 4) // 16)


def test_code_lies_in_the_order_of_the_module():
    # a function of 8 instructions before the kernel shifts its lines: 8 + 5 + 4 instructions are 2 lines, 5 + 4 one
    before = ".visible .entry other()\n{\n\t.reg .b32 %r<4>;\n" + "\tmov.u32 %r1, 1;\n" * 7 + "\tret;\n}\n"
    source = text("\n\t".join(["mov.u32 %r1, %r2;"] * 4))
    place = source.index(".visible")
    shifted = ptxtool.parse(source[:place] + before + source[place:], name="two.ptx").kernels["k"]
    words = np.zeros(64, np.uint32)
    misses = [
        ptxsim.launch(k, 1, 32, [words, 1], gpu=GPU).stats["l1i_misses"]
        for k in (ptxtool.parse(source, name="one.ptx").kernels["k"], shifted)
    ]
    assert misses == [1, 2]


@pytest.mark.parametrize("block", [32, 256])
def test_event_skip_changes_nothing(block):
    body = (
        "ld.param.u64 %l1, [p];\n\tld.global.u32 %r1, [%l1];\n\tld.const.u32 %r3, [table];\n"
        "\tadd.u32 %r4, %r1, %r3;\n\tst.shared.u32 [tile], %r4;\n\tld.shared.u32 %r5, [tile];\n\tbar.sync 0;"
    )
    results = [
        run(body, 3, grid=40, block=block, gpu=GPU, event_skip=skip).to_dict() for skip in (True, False)
    ]
    assert results[0] == results[1]
