"""The reference interpreter, against values worked out by hand from the manual."""

import numpy as np
import pytest
from reference.interpreter import run_reference

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b16 %h<5>;
	.reg .b32 %r<8>;
	.reg .b64 %d<6>;
	.reg .pred %p<4>;
	ld.param.u64 %d0, [p];
	ld.global.u64 %d1, [%d0];
	ld.global.u64 %d2, [%d0+8];
	ld.global.u64 %d3, [%d0+16];
	ld.global.u32 %r1, [%d0];
	ld.global.u32 %r2, [%d0+8];
	ld.global.u32 %r3, [%d0+16];
	ld.global.u16 %h1, [%d0];
	ld.global.u16 %h2, [%d0+8];
	mov.u64 %d4, 0;
	mov.u32 %r0, 0;
	BODY
	st.global.u64 [%d0+24], %d4;
	ret;
}
"""

PTXPLUS = """.version 1.4+
.target sm_10, map_f64_to_f32
.const .u32 c0[2] = { 0x000003ff, 0x3f800000 };
.entry k (.param .u64 p)
{
	.reg .u32 $r<12>;
	.reg .u32 $ofs<3>;
	.reg .pred $p<4>;
	.reg .u32 $r124;
	.reg .u32 $o127;
	mov.u32 $r9, s[0x0010];
	ld.global.u32 $r1, [$r9];
	ld.global.u32 $r2, [$r9+0x0008];
	ld.global.u32 $r3, [$r9+0x0010];
	mov.u32 $r0, $r124;
	BODY
	st.global.u32 [$r9+0x0018], $r0;
	l_exit: exit;
}
"""


def kernel(text: str) -> Function:
    return next(iter(parse(text).kernels.values()))


def result(template: str, body: str, inputs: tuple[int, ...]) -> int:
    """Run a body on one thread: inputs in %r1 %r2 %r3 (%d1.., %h1..), the result in %r0 or %d4 ($r0)."""
    memory = np.zeros(4, np.uint64)
    memory[: len(inputs)] = np.array(inputs, np.uint64)
    run_reference(kernel(template.replace("BODY", body)), 1, 1, [memory])
    return int(memory[3])


ONE, TWO, THREE, HALF = 0x3F800000, 0x40000000, 0x40400000, 0x3F000000
NAN, INF, MINUS = 0x7FC00000, 0x7F800000, 0x80000000
ULP = 0x3F800001  # 1 + 2**-23
M1 = 0xFFFFFFFF

INTEGER = [
    ("add.s32 %r0, %r1, %r2;", (M1, 1), 0),
    ("add.sat.s32 %r0, %r1, %r2;", (0x7FFFFFFF, 1), 0x7FFFFFFF),
    ("sub.sat.s32 %r0, %r1, %r2;", (0x80000000, 1), 0x80000000),
    ("mul.lo.u32 %r0, %r1, %r2;", (0x10001, 0x10001), 0x20001),
    ("mul.hi.s32 %r0, %r1, %r2;", (M1, 2), M1),
    ("mul.hi.u32 %r0, %r1, %r2;", (M1, M1), 0xFFFFFFFE),
    ("mul.wide.s32 %d4, %r1, %r2;", (M1, 5), 0xFFFFFFFFFFFFFFFB),
    ("mul.wide.u16 %r0, %h1, %h2;", (0xFFFF, 0xFFFF), 0xFFFE0001),
    ("mul.hi.u64 %d4, %d1, %d2;", (1 << 63, 6), 3),
    ("mad.lo.s32 %r0, %r1, %r2, %r3;", (7, M1, 10), 3),
    ("mad.wide.u32 %d4, %r1, %r2, %d3;", (M1, M1, 1), 0xFFFFFFFE00000002),
    ("mul24.lo.s32 %r0, %r1, %r2;", (0x00FFFFFF, 3), 0xFFFFFFFD),
    ("mul24.hi.u32 %r0, %r1, %r2;", (0xFFFFFF, 0xFFFFFF), 0xFFFFFE00),
    ("mad24.lo.u32 %r0, %r1, %r2, %r3;", (0x01000002, 3, 4), 10),
    ("sad.s32 %r0, %r1, %r2, %r3;", (M1, 2, 10), 13),
    ("sad.u32 %r0, %r1, %r2, %r3;", (M1, 2, 10), 7),
    ("div.s32 %r0, %r1, %r2;", (0xFFFFFFF9, 2), 0xFFFFFFFD),  # -7 / 2 = -3
    ("rem.s32 %r0, %r1, %r2;", (0xFFFFFFF9, 2), M1),
    ("div.u32 %r0, %r1, %r2;", (7, 0), M1),
    ("rem.u32 %r0, %r1, %r2;", (7, 0), 7),
    ("div.s32 %r0, %r1, %r2;", (0x80000000, M1), 0x80000000),
    ("abs.s32 %r0, %r1;", (0xFFFFFFF9,), 7),
    ("neg.s32 %r0, %r1;", (5,), 0xFFFFFFFB),
    ("min.s32 %r0, %r1, %r2;", (M1, 1), M1),
    ("min.u32 %r0, %r1, %r2;", (M1, 1), 1),
    ("max.s64 %d4, %d1, %d2;", ((1 << 64) - 1, 3), 3),
    ("shl.b32 %r0, %r1, %r2;", (1, 32), 0),
    ("shl.b32 %r0, %r1, %r2;", (1, 31), 0x80000000),
    ("shr.u32 %r0, %r1, %r2;", (M1, 32), 0),
    ("shr.s32 %r0, %r1, %r2;", (0x80000000, 40), M1),
    ("shf.l.wrap.b32 %r0, %r1, %r2, %r3;", (0x80000000, 1, 33), 3),
    ("shf.l.clamp.b32 %r0, %r1, %r2, %r3;", (0x12345678, 1, 33), 0x12345678),
    ("shf.r.wrap.b32 %r0, %r1, %r2, %r3;", (2, 1, 1), 0x80000001),
    ("bfe.u32 %r0, %r1, %r2, %r3;", (0xABCD1234, 8, 8), 0x12),
    ("bfe.s32 %r0, %r1, %r2, %r3;", (0x00008000, 8, 8), 0xFFFFFF80),
    ("bfe.s32 %r0, %r1, %r2, %r3;", (0x80000000, 28, 8), 0xFFFFFFF8),
    ("bfe.u32 %r0, %r1, %r2, %r3;", (M1, 0, 0), 0),
    ("bfi.b32 %r0, %r1, %r2, 8, 4;", (0xF5, 0), 0x500),
    ("bfind.u32 %r0, %r1;", (0x00010000,), 16),
    ("bfind.s32 %r0, %r1;", (M1,), M1),
    ("bfind.shiftamt.u32 %r0, %r1;", (0x00010000,), 15),
    ("brev.b32 %r0, %r1;", (0x1,), 0x80000000),
    ("clz.b32 %r0, %r1;", (0,), 32),
    ("clz.b64 %r0, %d1;", (1,), 63),
    ("popc.b64 %r0, %d1;", ((1 << 64) - 1,), 64),
    ("prmt.b32 %r0, %r1, %r2, %r3;", (0x33221100, 0x77665544, 0x7531), 0x77553311),
    ("prmt.b32 %r0, %r1, %r2, %r3;", (0x00008000, 0, 0x0009), 0x000000FF),
    ("prmt.b32.rc8 %r0, %r1, %r2, %r3;", (0x33221100, 0, 2), 0x22222222),
    ("lop3.b32 %r0, %r1, %r2, %r3, 0x96;", (0xF0, 0xCC, 0xAA), 0xF0 ^ 0xCC ^ 0xAA),
    ("lop3.b32 %r0, %r1, %r2, %r3, 0xE8;", (0xF0, 0xCC, 0xAA), 0xE8),  # majority
    ("cnot.b32 %r0, %r1;", (0,), 1),
    ("dp4a.s32.s32 %r0, %r1, %r2, %r3;", (0xFF020304, 0x01010101, 5), 13),
    ("slct.u32.s32 %r0, %r1, %r2, %r3;", (1, 2, M1), 2),
    ("bmsk.clamp.b32 %r0, %r1, %r2;", (4, 8), 0xFF0),
    ("szext.clamp.s32 %r0, %r1, %r2;", (0x80, 8), 0xFFFFFF80),
    ("fns.b32 %r0, %r1, %r2, %r3;", (0b10110, 0, 2), 2),
    # carry chains: (2**32 - 1) + 1 carries into the next word; 0 - 1 borrows
    ("add.cc.u32 %r4, %r1, %r2; addc.u32 %r0, %r3, 0;", (M1, 1, 7), 8),
    ("sub.cc.u32 %r4, %r1, %r2; subc.u32 %r0, %r3, 0;", (0, 1, 7), 6),
    ("mad.lo.cc.u32 %r4, %r1, %r2, %r3; madc.hi.u32 %r0, %r1, %r2, 0;", (M1, M1, M1), M1),
    ("add.cc.u32 %r4, %r1, %r2; addc.cc.u32 %r4, %r1, 0; addc.u32 %r0, 0, 0;", (M1, 1), 1),
]
FLOAT = [
    ("add.f32 %r0, %r1, %r2;", (ONE, TWO), THREE),
    ("add.rz.f32 %r0, %r1, %r2;", (ONE, 0x33800000), ONE),  # 1 + 2**-24, a tie
    ("add.rp.f32 %r0, %r1, %r2;", (ONE, 0x33800000), ULP),
    ("add.rm.f32 %r0, %r1, %r2;", (ONE, 0x80000001), 0x3F7FFFFF),
    ("add.f32 %r0, %r1, %r2;", (INF, INF | MINUS), 0x7FFFFFFF),
    ("add.ftz.f32 %r0, %r1, %r2;", (1, 1), 0),
    ("add.f32 %r0, %r1, %r2;", (1, 1), 2),
    ("add.sat.f32 %r0, %r1, %r2;", (ONE, ONE), ONE),
    ("mul.sat.f32 %r0, %r1, %r2;", (NAN, ONE), 0),
    # (1 + 2**-23)**2 - (1 + 2**-22) = 2**-46: lost if the product were rounded
    ("fma.rn.f32 %r0, %r1, %r2, %r3;", (ULP, ULP, 0xBF800002), 0x28800000),
    (
        "fma.rn.f64 %d4, %d1, %d2, %d3;",
        (0x3FF0000000000001, 0x3FF0000000000001, 0xBFF0000000000002),
        0x3970 << 48,
    ),
    ("fma.rp.f32 %r0, %r1, %r2, %r3;", (ONE, ONE, 1), ULP),
    ("div.rn.f32 %r0, %r1, %r2;", (ONE, THREE), 0x3EAAAAAB),
    ("div.rz.f32 %r0, %r1, %r2;", (ONE, THREE), 0x3EAAAAAA),
    ("div.rn.f32 %r0, %r1, %r2;", (ONE, MINUS), INF | MINUS),
    ("rcp.rn.f32 %r0, %r1;", (TWO,), HALF),
    ("sqrt.rn.f32 %r0, %r1;", (TWO,), 0x3FB504F3),
    ("sqrt.rp.f32 %r0, %r1;", (TWO,), 0x3FB504F4),
    ("rsqrt.approx.f32 %r0, %r1;", (0x40800000,), HALF),
    ("ex2.approx.f32 %r0, %r1;", (THREE,), 0x41000000),
    ("lg2.approx.f32 %r0, %r1;", (0x41000000,), THREE),
    ("sin.approx.f32 %r0, %r1;", (0,), 0),
    ("cos.approx.f32 %r0, %r1;", (0,), ONE),
    ("min.f32 %r0, %r1, %r2;", (NAN, ONE), ONE),
    ("min.NaN.f32 %r0, %r1, %r2;", (NAN, ONE), 0x7FFFFFFF),
    ("min.f32 %r0, %r1, %r2;", (0, MINUS), MINUS),
    ("max.f32 %r0, %r1, %r2;", (MINUS, 0), 0),
    ("neg.f32 %r0, %r1;", (0,), MINUS),
    ("abs.f32 %r0, %r1;", (ONE | MINUS,), ONE),
    ("copysign.f32 %r0, %r1, %r2;", (MINUS, ONE), ONE | MINUS),
    ("slct.u32.f32 %r0, %r1, %r2, %r3;", (1, 2, NAN), 2),
    ("add.f16 %h3, %h1, %h2; mov.b32 %r0, {%h3, %h4};", (0x3C00, 0x3C00), 0x4000),
]
CONVERT = [
    ("cvt.s64.s32 %d4, %r1;", (0x80000000,), 0xFFFFFFFF80000000),
    ("cvt.u32.s8 %r0, %r1;", (0x180,), 0xFFFFFF80),
    ("cvt.s32.u16 %r0, %h1;", (0xFFFF,), 0xFFFF),
    ("cvt.u8.u32 %r0, %r1;", (0x1FF,), 0xFF),
    ("cvt.sat.u8.s32 %r0, %r1;", (M1,), 0),
    ("cvt.sat.s8.s32 %r0, %r1;", (300,), 127),
    ("cvt.rn.f32.s32 %r0, %r1;", (M1,), ONE | MINUS),
    ("cvt.rn.f32.u32 %r0, %r1;", (0xFFFFFFFF,), 0x4F800000),
    ("cvt.rz.f32.u32 %r0, %r1;", (0xFFFFFFFF,), 0x4F7FFFFF),
    ("cvt.rni.s32.f32 %r0, %r1;", (0x40200000,), 2),  # 2.5
    ("cvt.rzi.s32.f32 %r0, %r1;", (0xC0200000,), 0xFFFFFFFE),
    ("cvt.rmi.s32.f32 %r0, %r1;", (0xC0200000,), 0xFFFFFFFD),
    ("cvt.rpi.s32.f32 %r0, %r1;", (0x40200000,), 3),
    ("cvt.rzi.s32.f32 %r0, %r1;", (NAN,), 0),
    ("cvt.rzi.s32.f32 %r0, %r1;", (INF,), 0x7FFFFFFF),
    ("cvt.rzi.u32.f32 %r0, %r1;", (ONE | MINUS,), 0),
    ("cvt.rni.f32.f32 %r0, %r1;", (0x40600000,), 0x40800000),  # 3.5 -> 4
    ("cvt.f64.f32 %d4, %r1;", (ONE,), 0x3FF0000000000000),
    ("cvt.rn.f32.f64 %r0, %d1;", (0x3FF0000010000000,), ONE),
    ("cvt.rp.f32.f64 %r0, %d1;", (0x3FF0000010000000,), ULP),
    ("cvt.rn.f16.f32 %h3, %r1; mov.b32 %r0, {%h3, %h4};", (ONE,), 0x3C00),
    ("cvt.sat.f32.f32 %r0, %r1;", (TWO,), ONE),
]
SELECT = [
    ("setp.lt.s32 %p1, %r1, %r2; selp.u32 %r0, 1, 2, %p1;", (M1, 0), 1),
    ("setp.lt.u32 %p1, %r1, %r2; selp.u32 %r0, 1, 2, %p1;", (M1, 0), 2),
    ("setp.hi.u32 %p1, %r1, %r2; selp.u32 %r0, 1, 2, %p1;", (M1, 0), 1),
    ("setp.ne.f32 %p1, %r1, %r2; selp.u32 %r0, 1, 2, %p1;", (NAN, ONE), 2),
    ("setp.neu.f32 %p1, %r1, %r2; selp.u32 %r0, 1, 2, %p1;", (NAN, ONE), 1),
    ("setp.nan.f32 %p1, %r1, %r2; selp.u32 %r0, 1, 2, %p1;", (NAN, ONE), 1),
    ("setp.lt.and.s32 %p1|%p2, %r1, %r2, %p0; selp.u32 %r0, 1, 2, %p2;", (1, 2), 2),
    ("setp.eq.u32 %p1, %r1, %r2; not.pred %p1, %p1; @!%p1 mov.u32 %r0, 9;", (4, 4), 9),
    ("set.gt.u32.s32 %r0, %r1, %r2;", (1, 0), M1),
    ("set.gt.f32.s32 %r0, %r1, %r2;", (1, 0), ONE),
    ("testp.subnormal.f32 %p1, %r1; selp.u32 %r0, 1, 2, %p1;", (1,), 1),
    ("mov.b64 %d4, {%r1, %r2};", (1, 2), 0x200000001),
    ("mov.b64 {%r4, %r0}, %d1;", (0x500000006,), 5),
    ("mov.u32 %r0, WARP_SZ;", (), 32),
]


@pytest.mark.parametrize(("body", "inputs", "expected"), INTEGER + FLOAT + CONVERT + SELECT)
def test_ptx(body: str, inputs: tuple[int, ...], expected: int) -> None:
    joined = body if "%d4" in body else f"{body} cvt.u64.u32 %d4, %r0;"
    assert hex(result(PTX, joined, inputs)) == hex(expected)


PTXPLUS_ROWS = [
    # a 16-bit product fills a whole register, as the hardware's did; half a register keeps half of it
    ("mul.half.lo.u16 $r0, $r1.lo, $r2.lo;", (0xFFFF, 0xFFFF), 0xFFFE0001),
    ("mul.lo.u16 $r0.lo, $r1.lo, $r2.lo;", (0xFFFF, 0xFFFF), 0x0001),
    ("mul.wide.u16 $r0, $r1.hi, $r2.lo;", (0x00050000, 7), 35),
    ("mad.wide.s16 $r0, $r1.lo, $r2.lo, $r3;", (0xFFFF, 3, 10), 7),
    ("mov.u32 $r0, $r1; mov.u16 $r0.hi, $r2.lo;", (0x11112222, 0x3333), 0x33332222),
    ("add.u32 $r0, $r1, -$r2;", (5, 7), 0xFFFFFFFE),
    ("add.f32 $r0, -$r1, $r2;", (ONE, THREE), TWO),
    ("mad.f32 $r0, $r1, $r2, $r3;", (ULP, ULP, 0xBF800002), 0x28800000),
    ("abs.u32 $r0, $r1;", (M1,), 1),
    ("add.u32 $p1|$o127, $r1, $r2; addp.u32 $r0, $r3, $r124, $p1;", (M1, 1, 7), 8),
    ("sub.u32 $p1|$o127, $r1, $r2; @$p1.cf mov.u32 $r0, 0x00000001;", (7, 7), 1),
    ("set.gt.s32.s32 $p0/$r0, $r1, $r2;", (1, 0), M1),
    ("set.gt.f32.s32 $r0, $r1, $r2;", (1, 0), ONE),
    ("set.abs.gt.f32.f32 $r0, $r1, $r2;", (THREE | MINUS, TWO), ONE),
    ("set.lt.s32.s32 $p0/$o127, $r1, $r2; @$p0.ne mov.u32 $r0, 0x00000001;", (1, 2), 1),
    ("set.lt.s32.s32 $p0/$o127, $r1, $r2; @$p0.equ mov.u32 $r0, 0x00000001;", (1, 2), 0),
    ("set.lt.s32.s32 $p0/$o127, $r1, $r2; @!$p0 mov.u32 $r0, 0x00000001;", (2, 1), 1),
    ("set.lt.s32.s32 $p0/$o127, $r1, $r2; mov.u32 $r0, $p0;", (1, 2), 2),  # S
    ("set.lt.s32.s32 $p0/$o127, $r1, $r2; mov.u32 $r0, $p0;", (2, 1), 1),  # Z
    ("add.s32 $p0|$o127, $r1, $r2; mov.u32 $r0, $p0;", (0x7FFFFFFF, 1), 0b1010),  # S and O
    ("add.u32 $p0|$o127, $r1, $r2; mov.u32 $r0, $p0;", (0x80000000, 0x80000000), 0b101),  # Z and C
    ("cvt.s32.s32 $p0|$o127, $r1; mov.u32 $r0, $p0;", (0x80000000,), 0b10),
    ("mov.pred $p0, $r1; mov.pred $p1, $r2; and.pred $p2, $p0, $p1; mov.u32 $r0, $p2;", (1, 2), 3),
    ("mov.pred $p0, $r1; not.pred $p2, $p0; mov.u32 $r0, $p2;", (1,), 0b1110),
    ("mov.pred $p0, $r1; selp.u32 $r0, $r2, $r3, $p0;", (1, 5, 6), 6),
    ("norn.b32 $r0, $r1, $r2;", (0b1100, 0b1010), 0b0010),
    ("nandn.b32 $r0, $r1, $r2;", (M1, 0), 0),
    ("andn.b32 $r0, $r1, $r2;", (0b1100, 0b1010), 0b0100),
    ("and.u16 $r0.lo, $r1.lo, c0[0x0000];", (0xFFFF,), 0x03FF),
    ("mov.u32 s[$ofs1+0x0020], $r1; add.u32 $r0, s[0x0020], $r2;", (3, 4), 7),
    ("mov.u32 s[0x0024], $r1; mov.u32 $r0, s[$ofs1+=0x0024]; mov.u32 $r0, $ofs1;", (3,), 0x24),
    ("mov.u32 s[0x0024], $r1; add.u32 $ofs1, $ofs1, 0x24; mov.u32 $r0, s[$ofs1+=0x0004];", (3,), 3),
    ("mov.s16 s[0x0020], $r1; mov.s16 $r0, s[0x0020];", (0x18000,), 0xFFFF8000),
    ("shl.b32 $ofs2, $r1, 0x2; mov.u32 $r0, $ofs2;", (3,), 12),
    ("mov.u32 $r4, $r124; mov.u32 $r5, $r1; add.ff64 {$r6,$r7}, {$r4,$r5}, {$r4,$r5}; mov.u32 $r0, $r7;",
     (0x3FF00000,), 0x40000000),
    ("mov.u32 $r4, $r124; mov.u32 $r5, $r1; cvt.f32.f64 $r0, $r4;", (0x3FF00000,), ONE),
    ("cvt.rz.s32.f32 $r0, $r1;", (0x402CCCCD,), 2),  # truncation
    ("cvt.rm.s32.f32 $r0, $r1;", (0xC02CCCCD,), 0xFFFFFFFD),  # floor
    ("cvt.rp.f32.f32 $r0, $r1;", (0x402CCCCD,), THREE),  # ceiling
    ("cvt.s32.f32 $r0, $r1;", (0x402CCCCD,), 3),  # nearest
    ("cvt.f32.f32 $r0, $r1;", (0x402CCCCD,), 0x402CCCCD),
    ("atom.global.add.u32 $r0, [$r9], $r2;", (5, 6), 5),
    ("mov.u32 $o127, $r1; mov.u32 $r0, $r124;", (5,), 0),
    ("callp lf; add.u32 $r0, $r0, 0x1; bra le; lf: mov.u32 $r0, $r1; retp; le: nop;", (5,), 6),
    ("breakaddr lb; mov.u32 $r0, 0x1; break; mov.u32 $r0, 0x2; lb: nop;", (), 1),
    ("mov.exit.u32 g[$r9+0x0018], $r1;", (5,), 5),
    ("mov.u16 $r0.lo, s[0x0002];", (), 1),  # the launch header: ntid.x
]  # fmt: skip


@pytest.mark.parametrize(("body", "inputs", "expected"), PTXPLUS_ROWS)
def test_ptxplus(body: str, inputs: tuple[int, ...], expected: int) -> None:
    memory = np.zeros(8, np.uint32)
    memory[: 2 * len(inputs) : 2] = np.array(inputs, np.uint32)
    text = PTXPLUS.replace("BODY", body)
    run_reference(kernel(text), 1, 1, [memory], dynamic_shared=64)
    assert hex(int(memory[6])) == hex(expected)


CONDITIONS = {
    # the guard table of PTXPlus, one 0/1 per value of the flags O C S Z = 0000, 0001, .. 1111
    "lt": "0010001011011101",
    "eq": "0100010001000100",
    "le": "0110011011001100",
    "ne": "1010101010101010",
    "ge": "1100110000110011",
    "equ": "0101010101010101",
    "gtu": "1001100100110011",
    "neu": "1011101110111011",
    "cf": "0000111100001111",
    "sf": "0011001100110011",
    "nsf": "1100110011001100",
    "gt": "1000100000100010",
    "ltu": "0011001111001100",
    "leu": "0111011111011101",
    "of": "0000000011111111",
    "ab": "0000101000001010",
}


@pytest.mark.parametrize("suffix", CONDITIONS)
def test_every_condition_at_every_flag_value(suffix: str) -> None:
    found = ""
    for flags in range(16):
        body = f"mov.pred $p0, $r1; @$p0.{suffix} mov.u32 $r0, 0x00000001;"
        memory = np.zeros(8, np.uint32)
        memory[0] = flags
        run_reference(kernel(PTXPLUS.replace("BODY", body)), 1, 1, [memory], dynamic_shared=64)
        found += str(memory[6])
    assert found == CONDITIONS[suffix]


def run(text: str, n: int, threads: int = 32, **options: object) -> np.ndarray:
    """Run a PTX kernel whose only parameter is a buffer of n words, and give the buffer."""
    memory = np.zeros(n, np.uint32)
    run_reference(kernel(text), 1, threads, [memory], **options)  # type: ignore[arg-type]
    return memory


HEAD = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<12>;
	.reg .b64 %d<6>;
	.reg .pred %p<6>;
	ld.param.u64 %d0, [p];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
"""


def test_divergent_lanes_rejoin() -> None:
    """Odd lanes take one side, even lanes the other; after the join all 32 are active."""
    text = (
        HEAD
        + """
	and.b32 %r1, %r0, 1;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra EVEN;
	activemask.b32 %r2;
	bra JOIN;
EVEN:
	activemask.b32 %r2;
	add.u32 %r2, %r2, 1;
JOIN:
	activemask.b32 %r3;
	add.u32 %r2, %r2, %r3;
	st.global.u32 [%d1], %r2;
	ret;
}"""
    )
    even, odd = (0x55555555 + 1 + M1) & M1, (0xAAAAAAAA + M1) & M1
    assert run(text, 32).tolist() == [even, odd] * 16


def test_lanes_leave_a_loop_one_after_the_other() -> None:
    """Lane n goes round n + 1 times; the sum 1 + 2 + .. + (n + 1)."""
    text = (
        HEAD
        + """
	mov.u32 %r1, 0;
	mov.u32 %r2, 0;
LOOP:
	add.u32 %r1, %r1, 1;
	add.u32 %r2, %r2, %r1;
	setp.le.u32 %p1, %r1, %r0;
	@%p1 bra LOOP;
	st.global.u32 [%d1], %r2;
	ret;
}"""
    )
    assert run(text, 32).tolist() == [(n + 1) * (n + 2) // 2 for n in range(32)]


def test_warp_wide_instructions() -> None:
    text = (
        HEAD
        + """
	setp.lt.u32 %p1, %r0, 4;
	vote.sync.ballot.b32 %r1, %p1, 0xffffffff;
	shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1;
	shfl.sync.up.b32 %r3|%p2, %r0, 2, 0, -1;
	shfl.sync.idx.b32 %r4, %r0, 9, 0x1807, -1;
	selp.u32 %r5, 100, 0, %p2;
	match.any.sync.b32 %r6, %r1, -1;
	redux.sync.add.s32 %r7, %r0, -1;
	add.u32 %r8, %r1, %r2;
	add.u32 %r8, %r8, %r3;
	add.u32 %r8, %r8, %r4;
	add.u32 %r8, %r8, %r5;
	add.u32 %r8, %r8, %r6;
	add.u32 %r8, %r8, %r7;
	st.global.u32 [%d1], %r8;
	ret;
}"""
    )
    expected = []
    for lane in range(32):
        up = lane - 2 if lane >= 2 else lane
        group = lane & ~7 | 1  # lane 9 of groups of eight is lane 1
        value = 0xF + (lane ^ 1) + up + group + (100 if lane >= 2 else 0) + M1 + 496
        expected.append(value & M1)
    assert run(text, 32).tolist() == expected


def test_atomics_and_barriers_between_warps() -> None:
    """Three warps count themselves in shared memory; after the barrier every thread sees the sum."""
    text = (
        HEAD.replace("{", "{\n\t.shared .align 4 .u32 total;", 1)
        + """
	mov.u32 %r1, total;
	atom.shared.add.u32 %r2, [%r1], 1;
	bar.sync 0;
	ld.shared.u32 %r3, [total];
	bar.red.popc.u32 %r4, 0, %p0;
	add.u32 %r3, %r3, %r4;
	st.global.u32 [%d1], %r3;
	atom.global.cas.b32 %r5, [%d0], 96, 7;
	red.global.max.s32 [%d0+4], %r0;
	ret;
}"""
    )
    memory = run(text, 96, 96)
    assert memory[0] == 7  # the first lane stored 96, then one swap took place
    assert memory[2:].tolist() == [96] * 94


def test_local_and_generic_memory() -> None:
    text = (
        HEAD.replace("{", "{\n\t.local .align 4 .b8 own[16];\n\t.shared .align 4 .u32 all;", 1)
        + """
	mov.u64 %d2, own;
	cvta.local.u64 %d3, %d2;
	st.u32 [%d3+4], %r0;
	ld.local.u32 %r1, [own+4];
	mov.u64 %d2, all;
	cvta.shared.u64 %d3, %d2;
	st.u32 [%d3], 5;
	ld.shared.u32 %r2, [all];
	add.u32 %r1, %r1, %r2;
	st.u32 [%d1], %r1;
	ret;
}"""
    )
    assert run(text, 32).tolist() == [lane + 5 for lane in range(32)]


def test_an_indexed_branch() -> None:
    text = (
        HEAD
        + """
	and.b32 %r1, %r0, 1;
T: .branchtargets A, B;
	brx.idx %r1, T;
A:	mov.u32 %r2, 10;
	bra C;
B:	mov.u32 %r2, 20;
C:	st.global.u32 [%d1], %r2;
	ret;
}"""
    )
    assert run(text, 32).tolist() == [10, 20] * 16


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("st.global.u32 [%d1+128], %r0; ret; }", "E404", ["0x", "CTA (0, 0, 0)", "thread (0, 0, 0)", "'k'"]),
        ("add.u64 %d1, %d1, 2; st.global.u32 [%d1], %r0; ret; }", "E405", ["misaligned", "thread (0, 0, 0)"]),
        ("setp.eq.u32 %p1, %r0, 31; @%p1 st.global.u32 [%d1+4], %r0; ret; }", "E404", ["thread (31, 0, 0)"]),
        (
            "fence.proxy.generic::fabric.alias.acquire.sys; ret; }",
            "E403",
            ["fence.proxy"],
        ),
        ("L: bra L; }", "E408", ["100"]),
        ("bar.sync 0, 64; ret; }", "E406", ["barrier 0 can never complete"]),
    ],
)
def test_what_goes_wrong(body: str, code: str, words: list[str]) -> None:
    with pytest.raises(PtxError) as caught:
        run(HEAD + body, 32, max_instructions=100)
    assert caught.value.diagnostics[0].code == code
    assert caught.value.diagnostics[0].line is not None
    assert all(word in str(caught.value) for word in words)


def test_wrong_arguments() -> None:
    k = kernel(HEAD + "ret; }")
    for args in ([], [np.zeros(4), 1], [1.5], ["x"], [np.zeros((4, 4))[:, 1]], [np.float32(1)]):
        with pytest.raises(PtxError) as caught:
            run_reference(k, 1, 32, args)
        assert caught.value.diagnostics[0].code == "E401"


def test_constants_and_module_variables() -> None:
    text = """.version 7.0
.target sm_75
.address_size 64
.const .align 4 .u32 c[3] = {1, 2, 3};
.global .align 4 .f32 g[2] = {1.5, 0f40000000};
.global .align 8 .u64 q[1] = {generic(g)+4};
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	ld.param.u64 %d0, [p];
	ld.const.u32 %r0, [c+8];
	st.global.u32 [%d0], %r0;
	ld.global.u32 %r1, [g];
	st.global.u32 [%d0+4], %r1;
	ld.global.u64 %d1, [q];
	ld.u32 %r2, [%d1];
	st.global.u32 [%d0+8], %r2;
	ret;
}"""
    assert run(text, 3, 1).tolist() == [3, 0x3FC00000, 0x40000000]
    filled = run(text, 3, 1, constants={"c": np.array([7, 8, 9], np.uint32)})
    assert filled.tolist() == [9, 0x3FC00000, 0x40000000]
    with pytest.raises(PtxError, match="no module variable 'nothing'"):
        run(text, 3, 1, constants={"nothing": np.zeros(1)})


def test_counts_lanes_that_execute() -> None:
    """40 threads: 5 instructions by two warps, one of them guarded to 3 lanes."""
    text = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<2>;
	.reg .pred %p<2>;
	mov.u32 %r0, %tid.x;
	setp.lt.u32 %p1, %r0, 3;
	@%p1 mov.u32 %r1, 1;
	mov.u32 %r1, 2;
	ret;
}"""
    found = run_reference(kernel(text), 2, 40, [])
    assert found.warp_instructions == 2 * 2 * 5
    assert found.thread_instructions == 2 * (40 * 4 + 3)


NOT_SIMULATED: set[str] = set()


def test_every_meaning_in_the_instruction_table_is_known() -> None:
    from reference.code import CONTROL, STACK
    from reference.formats import MEANINGS
    from reference.ops import EXTENDED, OPERATIONS
    from reference.steps import MAKERS
    from reference.video import SCALAR, SEVERAL

    from ptxtool.isa.table import table

    known = CONTROL | STACK | EXTENDED | OPERATIONS.keys() | MAKERS | {*MEANINGS, *SCALAR, *SEVERAL}
    meanings = {form.sem for forms in table().forms.values() for form in forms} - {""}
    assert meanings - known == NOT_SIMULATED
