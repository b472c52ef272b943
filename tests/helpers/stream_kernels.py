"""Kernels for launches on streams, and a small machine on which cycles can be worked out: its caches of code and
parameters hit always, so a kernel that accesses no memory delays none on another SM."""

from functools import cache
from typing import Any

from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.parse import parse

TEXT = """.version 6.0
.target sm_20
.address_size 64
.visible .entry spin(.param .u32 n)
{
	.reg .b32 %r<4>;
	.reg .pred %p;
	ld.param.u32 %r1, [n];
loop:
	sub.u32 %r1, %r1, 1;
	setp.ne.u32 %p, %r1, 0;
	@%p bra loop;
	ret;
}
.visible .entry add(.param .u64 x, .param .u32 n)
{
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [x];
	ld.param.u32 %r5, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d2, %d2, %d1;
	ld.global.u32 %r4, [%d2];
	add.u32 %r4, %r4, %r5;
	st.global.u32 [%d2], %r4;
	ret;
}
.visible .entry reversed(.param .u64 x)
{
	.reg .b32 %r<12>;
	.reg .b64 %d<4>;
	.shared .align 4 .b8 line[512];
	ld.param.u64 %d1, [x];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mul.wide.u32 %d2, %r4, 4;
	add.u64 %d2, %d2, %d1;
	ld.global.u32 %r5, [%d2];
	mov.u32 %r6, line;
	mad.lo.u32 %r7, %r3, 4, %r6;
	st.shared.u32 [%r7], %r5;
	bar.sync 0;
	sub.u32 %r8, %r2, %r3;
	sub.u32 %r8, %r8, 1;
	mad.lo.u32 %r8, %r8, 4, %r6;
	ld.shared.u32 %r5, [%r8];
	st.global.u32 [%d2], %r5;
	ret;
}
.visible .entry chosen(.param .u64 x)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [x];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d1, %d1, %d2;
	and.b32 %r1, %r1, 3;
	.branchtargets:
places: .branchtargets zero, one, two, three;
	brx.idx %r1, places;
zero:
	mov.u32 %r2, 10;
	bra end;
one:
	mov.u32 %r2, 11;
	bra end;
two:
	mov.u32 %r2, 12;
	bra end;
three:
	mov.u32 %r2, 13;
end:
	st.global.u32 [%d1], %r2;
	ret;
}
.visible .entry placed(.param .u64 x)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [x];
	mov.u32 %r1, %ctaid.x;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d1, %d1, %d2;
	mov.u32 %r2, %smid;
	st.global.u32 [%d1], %r2;
	ret;
}
.visible .entry stuck(.param .u64 x)
{
	bar.sync 0, 64;
	ret;
}
""".replace("\t.branchtargets:\n", "")


@cache
def kernels() -> dict[str, Any]:
    """The kernels by name."""
    return dict(parse(TEXT, "streams.ptx").kernels)


def small_machine(*settings: str) -> Gpu:
    """Two SMs of a Tesla C2050, SM 0 first, whose caches of code and constants hit always."""
    ideal = ["sm.count=2", "dispatch.first_sm=0", "fetch.perfect=true", "l1c.perfect=true"]
    return with_settings(load_gpu("tesla-c2050"), [*ideal, *settings])
