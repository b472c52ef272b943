"""Accesses outside of all buffers that a launch tolerates: what is read there, and what is counted."""

from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError

TIMED = pytest.mark.parametrize("timed", [True, False])
NEIGHBOURS = """.version 6.0
.target sm_35
.address_size 64
.visible .entry left(.param .u64 x, .param .u64 y, .param .s32 by)
{
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
	ld.param.u64 %d1, [x];
	ld.param.u64 %d2, [y];
	ld.param.s32 %r3, [by];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d3, %r1, 4;
	add.u64 %d1, %d1, %d3;
	add.u64 %d2, %d2, %d3;
	cvt.s64.s32 %d4, %r3;
	add.u64 %d1, %d1, %d4;
	ld.global.u32 %r2, [%d1];
	st.global.u32 [%d2], %r2;
	ret;
}
"""


def execute(machine: ptxsim.Machine, timed: bool) -> Any:
    return machine.launch if timed else machine.run


@TIMED
def test_accesses_outside_of_blocks_are_counted(timed: bool) -> None:
    """The warp reads 8 elements before its block: 32 bytes, in the part of the heap before all blocks."""
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    kernel, heap = machine.load(NEIGHBOURS).kernels["left"], machine.heap
    x, y = heap.malloc(128), heap.malloc(128)
    heap.write(x, np.arange(1, 33, dtype=np.uint32))
    result = execute(machine, timed)(kernel, 1, 32, [x, y, -32], out_of_bounds="count")
    assert heap.view(y, 128).view(np.uint32).tolist() == [0] * 8 + list(range(1, 25))
    assert result.out_of_bounds == 8
    where = f"address {x - 32:#x}, 32 bytes before the block of 128 bytes at {x:#x}"
    assert result.remarks[-1] == f"8 accesses out of bounds tolerated, the first at {where}"
    result = execute(machine, timed)(kernel, 1, 32, [x, y, 0], out_of_bounds="count")
    assert result.out_of_bounds == 0
    with pytest.raises(PtxError, match=r"E404.*32 bytes before the block"):
        execute(machine, timed)(kernel, 1, 32, [x, y, -32])


@pytest.mark.parametrize("function", [ptxsim.launch, ptxsim.run])
@pytest.mark.parametrize(("by", "counted"), [(-4, 1), (4, 1), (-(1 << 16), 32), (1 << 16, 32)])
def test_accesses_beside_arrays_are_counted_and_read_zero(function: Any, by: int, counted: int) -> None:
    x, y = np.full(32, 7, np.uint32), np.full(32, 1, np.uint32)
    kernel = ptxsim.Machine(memory=1 << 20).load(NEIGHBOURS).kernels["left"].function
    result = function(kernel, 1, 32, [x, y, by], out_of_bounds="count")
    assert result.out_of_bounds == counted
    assert (y == 0).sum() == counted
    assert (y == 7).sum() == 32 - counted
    with pytest.raises(PtxError, match="E404"):
        function(kernel, 1, 32, [x, y, by])


@pytest.mark.parametrize("by", [-(1 << 17), 1 << 30])
def test_accesses_that_are_far_away_are_not_tolerated(by: int) -> None:
    x, y = np.full(32, 7, np.uint32), np.full(32, 1, np.uint32)
    kernel = ptxsim.Machine(memory=1 << 20).load(NEIGHBOURS).kernels["left"].function
    with pytest.raises(PtxError, match="E404"):
        ptxsim.run(kernel, 1, 32, [x, y, by], out_of_bounds="count")


def test_a_machine_can_begin_to_tolerate() -> None:
    """Its memory is moved: what other buffers hold stays."""
    kernel = ptxsim.Machine(memory=1 << 20).load(NEIGHBOURS).kernels["left"].function
    machine, x, y, z = ptxsim.Machine("tesla-c2050"), *(np.full(32, n, np.uint32) for n in (5, 6, 7))
    machine.run(kernel, 1, 32, [x, z, 0])
    assert machine.run(kernel, 1, 32, [x, y, -8], out_of_bounds="count").out_of_bounds == 2
    assert y.tolist() == [0, 0, *[5] * 30]
    machine.launch(kernel, 1, 32, [z, x, 0])
    assert x.tolist() == [5] * 32


def test_what_cannot_be_chosen() -> None:
    with pytest.raises(PtxError, match=r"E401.*out_of_bounds = 'warn'"):
        ptxsim.LaunchOptions(out_of_bounds="warn")  # type: ignore[arg-type]
    with pytest.raises(PtxError, match=r"E401.*together with checks"):
        ptxsim.LaunchOptions(out_of_bounds="count", check="memory")
