"""Where the warps of a CTA are, in words."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.program import FOR_REGISTERS, MAX_STACK, Program, stack_fields
from ptxsim.execute.progress import describe_progress
from ptxsim.lowering.lower import lower
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .pred %q;
	.reg .b32 %r<3>;
	.reg .b64 %d<2>;
	ld.param.u64 %d1, [p];
	mov.u32 %r1, 0;
AGAIN:
	add.u32 %r1, %r1, 1;
	ld.volatile.global.u32 %r2, [%d1];
	setp.eq.u32 %q, %r2, 0;
	@%q bra AGAIN;
	bar.sync 0;
	ret;
}
"""
ADD, LOAD, BARRIER = 2, 3, 6


@pytest.fixture(scope="module")
def program() -> Program:
    return lower(parse(TEXT, "k.ptx").kernels["k"], load_gpu("tesla-c2050"), (32, 1, 1))


def warp(*entries: dict[str, int]) -> dict[str, Any]:
    stack: dict[str, Any] = {name: np.zeros((MAX_STACK, 1), np.int64) for name, _, _ in stack_fields(1)}
    for k, entry in enumerate(entries):
        for name, value in entry.items():
            stack[name][k, 0] = value
    return {**stack, "depth": np.array([len(entries)]), "ended_at": BARRIER + 1}


def test_a_warp_that_spins(program: Program) -> None:
    text, i, waits_for = describe_progress(program, [warp({"stack_pc": ADD, "stack_mask": 0xF})])
    assert text == "warp 0 repeats lines 12 to 15"
    assert (i, waits_for) == (LOAD, "values")  # the load that it waits for


def test_lanes_that_wait_for_others(program: Program) -> None:
    behind, inside = {"stack_pc": BARRIER, "stack_mask": 0xF0}, {"stack_pc": ADD, "stack_mask": 0b1011}
    text, _, _ = describe_progress(program, [warp(behind, inside)])
    assert text == "warp 0, lanes 0-1,3, repeats lines 12 to 15, its lanes 4-7 wait for them at line 16"


@pytest.mark.parametrize(("wait", "expected"), [(1, "barriers"), (FOR_REGISTERS, "registers")])
def test_warps_that_wait_and_one_that_has_ended(program: Program, wait: int, expected: str) -> None:
    waiting = {"stack_pc": BARRIER + 1, "stack_wait": wait, "waits_since": BARRIER, "stack_mask": 1}
    text, i, waits_for = describe_progress(program, [warp(waiting), warp()])
    assert text == "warp 0 waits at 'bar.sync 0;' in line 16; warp 1 ended at line 17"
    assert (i, waits_for) == (BARRIER, expected)


def test_four_warps_are_named(program: Program) -> None:
    text, _, _ = describe_progress(program, [warp({"stack_pc": ADD, "stack_mask": 1})] * 6)
    assert text.count("repeats") == 4
    assert text.endswith("; and 2 more warps")
