"""Timed runs that can only repeat themselves, and lanes of a warp that wait for one another."""

from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxsim.timing.livelock import PATIENCE, PERIOD
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

STACK = load_gpu("tesla-c2050")
INDEPENDENT = with_settings(STACK, ['pipeline.divergence="independent"'])
HEAD = """.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 mutex;
.visible .entry k(.param .u64 out)
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [out];
	mov.u32 %r1, %tid.x;
"""
LOCK = """
SPIN:
	atom.global.cas.b32 %r2, [mutex], 0, 1;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra SPIN;
	ld.volatile.global.u32 %r3, [%d1];
	add.u32 %r4, %r3, 1;
	st.volatile.global.u32 [%d1], %r4;
	atom.global.exch.b32 %r2, [mutex], 0;
	ret;
"""
FLAG = """
	setp.ge.u32 %p1, %r1, 16;
	@%p1 bra UPPER;
WAIT:
	ld.volatile.global.u32 %r2, [mutex];
	setp.eq.u32 %p2, %r2, 0;
	@%p2 bra WAIT;
	st.global.u32 [%d1], %r2;
	ret;
UPPER:
	mov.u32 %r2, 5;
	st.volatile.global.u32 [mutex], %r2;
	ret;
"""


def kernel(body: str) -> Function:
    return parse(f"{HEAD}{body}\n}}\n", "k.ptx").kernels["k"]


def launch(body: str, out: Any, gpu: Any, grid: int = 1, block: int = 32) -> Any:
    return ptxsim.launch(kernel(body), grid, block, [out], gpu=gpu, allocate=False)


def test_lanes_wait_for_a_lock_that_one_of_them_has() -> None:
    out = np.zeros(1, np.uint32)
    result = launch(LOCK, out, INDEPENDENT, grid=2, block=40)
    assert out[0] == 80
    assert result.cycles > PATIENCE * PERIOD  # it was seen to repeat itself first


def test_lanes_wait_for_the_other_side_of_a_branch() -> None:
    out = np.zeros(1, np.uint32)
    launch(FLAG, out, INDEPENDENT)
    assert out[0] == 5


@pytest.mark.parametrize("body", [LOCK, FLAG])
def test_on_a_stack_they_wait_for_ever(body: str) -> None:
    with pytest.raises(PtxError, match="E407") as found:
        launch(body, np.zeros(1, np.uint32), STACK)
    (problem,) = found.value.diagnostics
    assert "repeats lines" in problem.message
    assert "wait for them at line" in problem.message
    assert "pipeline.divergence" in (problem.help or "")


@pytest.mark.parametrize("gpu", [STACK, INDEPENDENT])
def test_nobody_sets_the_flag(gpu: Any) -> None:
    text = "SPIN: ld.volatile.global.u32 %r2, [mutex];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra SPIN;\nret;"
    with pytest.raises(PtxError, match="E407") as found:
        launch(text, np.zeros(1, np.uint32), gpu, block=64)
    assert "no warp is left" in (found.value.diagnostics[0].help or "")


COUNT = """
	mov.u32 %r3, 0;
LOOP:
	atom.global.add.u32 %r2, [%d1], 0;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, 4000;
	@%p1 bra LOOP;
	st.global.u32 [%d1], %r3;
	ret;
"""


def test_a_long_loop_is_no_spin() -> None:
    out = np.zeros(1, np.uint32)
    result = launch(COUNT, out, STACK)
    assert out[0] == 4000
    assert result.cycles > (PATIENCE + 2) * PERIOD


def test_runs_that_follow_are_as_the_first() -> None:
    """What lets lanes proceed changes where they meet, for that run only."""
    both = [launch(LOCK, np.zeros(1, np.uint32), INDEPENDENT).cycles for _ in range(2)]
    assert both[0] == both[1]


def test_another_process_sets_the_flag() -> None:
    """The heap's owner writes it when the run has asked three times in a row."""
    wait = "L: ld.volatile.global.u32 %r2, [%d1];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra L;"
    text = f"{wait}\nst.global.u32 [%d1+4], %r2;\nret;"
    machine = ptxsim.Machine(STACK, memory=1 << 20)
    flag = machine.heap.malloc(8)
    asked: list[int] = []

    def may_be_written(times: int) -> bool:
        asked.append(times)
        if times == 2:
            machine.heap.write(flag, np.array([7], np.uint32))
        return True

    machine.heap.fill(flag, 0, 8)
    machine.heap.may_be_written = may_be_written
    machine.launch(kernel(text), 1, 32, [flag])
    assert (asked, machine.heap.read(flag + 4, 4)) == ([0, 1, 2], b"\7\0\0\0")
