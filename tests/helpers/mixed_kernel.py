"""A kernel that mixes what keeps warps waiting, and a launch of it: for tests that two ways of running give the same.

Divergence, barriers, fences, atomics, conflicts, scattered and local accesses, divisions.
"""

from functools import cache
from typing import Any

import numpy as np

import ptxsim
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

MIXED = """.version 3.0
.target sm_20
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 sums, .param .u32 n)
{
	.reg .u32 %r<20>;
	.reg .u64 %rd<8>;
	.reg .f32 %f<4>;
	.reg .pred %p<4>;
	.shared .align 4 .u32 s[1024];
	.local .align 4 .u32 l[8];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r3, %r1, %r2, %r0;
	ld.param.u64 %rd0, [a];
	ld.param.u64 %rd1, [sums];
	ld.param.u32 %r15, [n];
	mul.lo.u32 %r4, %r3, 77;
	and.b32 %r4, %r4, 4095;
	mul.wide.u32 %rd2, %r4, 4;
	add.u64 %rd3, %rd0, %rd2;
	ld.global.u32 %r5, [%rd3];
	and.b32 %r6, %r0, 7;
	mul.wide.u32 %rd4, %r6, 4;
	add.u64 %rd5, %rd1, %rd4;
	ld.global.u32 %r16, [%rd0+64];
	red.global.add.u32 [%rd5], 1;
	atom.global.add.u32 %r7, [%rd1+128], 2;
	membar.gl;
	add.u32 %r5, %r5, %r16;
	shl.b32 %r8, %r0, 2;
	mov.u32 %r9, s;
	add.u32 %r8, %r8, %r9;
	st.shared.u32 [%r8], %r5;
	bar.sync 0;
	mov.u32 %r10, 0;
LOOP:
	setp.ge.u32 %p0, %r10, %r6;
	@%p0 bra DONE;
	mul.lo.u32 %r11, %r10, 128;
	and.b32 %r11, %r11, 252;
	add.u32 %r11, %r11, %r9;
	ld.shared.u32 %r12, [%r11];
	add.u32 %r5, %r5, %r12;
	cvt.rn.f32.u32 %f0, %r5;
	div.full.f32 %f1, %f0, 0f40400000;
	rcp.approx.f32 %f1, %f1;
	cvt.rzi.u32.f32 %r12, %f1;
	shl.b32 %r13, %r10, 2;
	mov.u32 %r14, l;
	add.u32 %r14, %r14, %r13;
	st.local.u32 [%r14], %r12;
	ld.local.u32 %r12, [%r14];
	add.u32 %r5, %r5, %r12;
	add.u32 %r10, %r10, 1;
	bra LOOP;
DONE:
	setp.eq.u32 %p1, %r0, 3;
	@%p1 exit;
	bar.sync 0;
	setp.lt.u32 %p2, %r0, 40;
	@%p2 bra SKIP;
	membar.cta;
	atom.shared.add.u32 %r7, [s], 1;
	ld.shared.u32 %r12, [%r8];
	add.u32 %r5, %r5, %r6;
SKIP:
	add.u64 %rd6, %rd1, 256;
	mul.wide.u32 %rd7, %r3, 4;
	add.u64 %rd6, %rd6, %rd7;
	st.global.u32 [%rd6], %r5;
	exit;
}
"""


@cache
def mixed() -> Function:
    return parse(MIXED, "mixed.ptx").kernels["k"]


def run_mixed(grid: Any, block: Any, **options: Any) -> tuple[dict[str, Any], bytes]:
    """The counters, and the memory after the launch."""
    numbers = np.arange(4096, dtype=np.uint32) % 5
    sums = np.zeros(64 + int(np.prod(grid)) * int(np.prod(block)), np.uint32)
    result = ptxsim.launch(mixed(), grid, block, [numbers, sums, 3], hotspots=True, **options)
    sums[32] = 0  # the atomics' sum is the same in any order; what they return is not stored
    return result.to_dict(), sums.tobytes()
