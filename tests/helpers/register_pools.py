"""Kernels whose warps move registers with `setmaxnreg`."""

from ptxtool.ir.nodes import Function
from ptxtool.parse import parse


def pool_kernel(body: str, bounds: str = ".maxnreg 40") -> Function:
    """A kernel with a body: %r1 is tid.x, %r2 the warp, %p0 to %p3 hold in the warp of their number; %r6 is stored to
    p[tid.x]."""
    text = f"""
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) {bounds}
{{
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .f32 %f<4>;
	.reg .b64 %l<4>;
	.shared .align 4 .b8 tile[2048];
	ld.param.u64 %l1, [p];
	mov.u32 %r1, %tid.x;
	shr.u32 %r2, %r1, 5;
	mul.wide.u32 %l2, %r1, 4;
	add.s64 %l3, %l1, %l2;
	mov.u32 %r6, 0;
	setp.eq.u32 %p0, %r2, 0;
	setp.eq.u32 %p1, %r2, 1;
	setp.eq.u32 %p2, %r2, 2;
	setp.eq.u32 %p3, %r2, 3;
	{body}
	st.global.u32 [%l3], %r6;
	ret;
}}
"""
    return parse(text, name="pool.ptx").kernels["k"]


def setting(action: str, registers: int) -> str:
    """`setmaxnreg` to a number of registers."""
    return f"setmaxnreg.{action}.sync.aligned.u32 {registers};"


PRODUCER = f"""@%p1 bra CONSUMER;
	CHAIN
	{setting("dec", 24)}
	bra DONE;
CONSUMER:
	{setting("inc", 56)}
DONE:"""
"""Of two warps the first releases 16 registers after CHAIN, for which the second waits."""
CIRCLE = f"""@%p1 bra SECOND;
	bar.sync 0;
	{setting("dec", 24)}
	bra DONE;
SECOND:
	{setting("inc", 48)}
	bar.sync 0;
DONE:"""
"""The first warp waits at a barrier for the second, which waits for the first one's registers."""
NEVER = f"@%p1 {setting('inc', 48)}\n\t@%p0 {setting('dec', 40)}"
"""The second warp waits for 8 registers, and the first releases none."""
