"""A kernel for dynamic warp execution: scattered loads before and after the first register that is shared.

At 220 registers per thread and 95%, 11 are private: those of the loads before `%s0`. An SM holds 8 CTAs of one warp in
4 pairs, so that non-owners load beside their owners and wait at `%s0`.
"""

from typing import Any

import numpy as np

import ptxsim
import ptxtool

SHARED = {"registers": 220, "share_registers": 95, "allocate": False}  # numbers as declared
TEXT = """.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
	.reg .b64 %l<4>;
	.reg .b32 %r<6>;
	.reg .pred %p;
	.reg .b32 %s<4>;
	ld.param.u64 %l0, [p];
	ld.param.u32 %r5, [n];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mul.wide.u32 %l1, %r0, 128;
	mul.wide.u32 %l2, %r1, 4096;
	add.s64 %l1, %l1, %l2;
	add.s64 %l1, %l1, %l0;
	mov.u32 %r3, 0;
NEAR:
	ld.global.u32 %r2, [%l1];
	add.u32 %r3, %r3, %r2;
	add.s64 %l1, %l1, 4;
	add.s32 %r5, %r5, -1;
	setp.ne.s32 %p, %r5, 0;
	@%p bra NEAR;
	mov.u32 %s0, %r3;
	ld.param.u32 %r5, [n];
FAR:
	ld.global.u32 %r2, [%l1];
	add.u32 %s0, %s0, %r2;
	add.s64 %l1, %l1, 4;
	add.s32 %r5, %r5, -1;
	setp.ne.s32 %p, %r5, 0;
	@%p bra FAR;
	st.global.u32 [%l1], %s0;
	ret;
}
"""
NEAR_LOAD, SHARED_MOVE, EXIT = 9, 15, 24  # instructions, counted from 0


def run(grid: int = 112, n: int = 12, **options: Any) -> tuple[Any, Any]:
    """The result of a launch, and the memory after it."""
    words = np.arange(grid * 1024 + 64, dtype=np.uint32)
    kernel = ptxtool.parse(TEXT, name="dynamic.ptx").kernels["k"]
    return ptxsim.launch(kernel, grid, 32, [words, n], **(SHARED | options)), words
