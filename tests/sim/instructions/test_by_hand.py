"""Instructions whose results were worked out by hand from the manual, in both implementations.

In a text, `a32`, `b16`, ... stand for registers of that many bits with the values given in order of their letters,
`d32` for the result; `x32`, `y32` are free. Comments say how a result comes about where that is not plain.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference.interpreter import run_reference

from ptxsim import functional_run as functional
from ptxtool.parse import parse

Case = tuple[str, tuple[int, ...], int]

HALVES: list[Case] = [
    ("add.f16 d16, a16, b16;", (0x3C00, 0x1000), 0x3C00),  # 1 + 2^-11: halfway, to even
    ("add.f16 d16, a16, b16;", (0x3C01, 0x1000), 0x3C02),  # the next one goes up
    ("add.f16 d16, a16, b16;", (0x7BFF, 0x7BFF), 0x7C00),  # 2 * 65504 overflows
    ("add.sat.f16 d16, a16, b16;", (0x4000, 0x3C00), 0x3C00),
    ("add.sat.f16 d16, a16, b16;", (0xBC00, 0x3800), 0x0000),
    ("add.f16x2 d32, a32, b32;", (0x3C003C00, 0xBC003C00), 0x00004000),
    ("sub.f16x2 d32, a32, b32;", (0x40003C00, 0x3C003C00), 0x3C000000),
    ("mul.f16 d16, a16, b16;", (0x0400, 0x3800), 0x0200),  # 2^-14 * 2^-1 is subnormal
    ("mul.ftz.f16 d16, a16, b16;", (0x0400, 0x3800), 0x0000),
    ("mul.ftz.f16x2 d32, a32, b32;", (0x00013C00, 0x3C003C00), 0x00003C00),
    ("fma.rn.relu.f16 d16, a16, b16, c16;", (0x3C00, 0xBC00, 0x0000), 0x0000),
    ("fma.rn.oob.f16 d16, a16, b16, c16;", (0xFFFF, 0x3C00, 0x4000), 0x0000),
    ("add.bf16 d16, a16, b16;", (0x3F80, 0x3B80), 0x3F80),  # 1 + 2^-8: halfway, to even
    ("add.bf16 d16, a16, b16;", (0x3F81, 0x3B80), 0x3F82),
    ("fma.rn.bf16 d16, a16, b16, c16;", (0x3F81, 0x3F81, 0), 0x3F82),  # (1 + 2^-7)^2 = 1 + 2^-6 + 2^-14
    ("neg.bf16x2 d32, a32;", (0x3F80BF80,), 0xBF803F80),
    ("add.f32x2 d64, a64, b64;", (0x40000000_3F800000, 0xC0000000_3F800000), 0x00000000_40000000),
    ("mul.rz.ftz.f32x2 d64, a64, b64;", (0x00800000_40400000, 0x3F000000_40400000), 0x41100000),  # 2^-127, 9
    ("add.f32.f16 d32, a16, b32;", (0x3C00, 0x3F800000), 0x40000000),
    ("sub.f32.bf16 d32, a16, b32;", (0x3F80, 0x40000000), 0xBF800000),
    ("fma.rn.f32.f16 d32, a16, b16, c32;", (0x4000, 0x4000, 0x3F800000), 0x40A00000),
    ("min.xorsign.abs.f32 d32, a32, b32;", (0xC0400000, 0x40000000), 0xC0000000),  # min(3, 2), signs differ
    ("max.xorsign.abs.f16x2 d32, a32, b32;", (0xC2003C00, 0xC0003C00), 0x42003C00),
    ("min.f32 d32, a32, b32, c32;", (0x40400000, 0x3F800000, 0x40000000), 0x3F800000),
    ("max.abs.f32 d32, a32, b32, c32;", (0x40400000, 0xC0A00000, 0x40000000), 0x40A00000),
    ("min.f16 d16, a16, b16;", (0x7E00, 0x4000), 0x4000),
    ("min.NaN.f16 d16, a16, b16;", (0x7E00, 0x4000), 0x7FFF),
    ("min.f32 d32, a32, b32;", (0x00000000, 0x80000000), 0x80000000),
    ("set.lt.f16x2.f16x2 d32, a32, b32;", (0x3C004000, 0x40003C00), 0x3C000000),
    ("set.lt.u32.f16x2 d32, a32, b32;", (0x3C004000, 0x40003C00), 0xFFFF0000),
    ("set.eq.bf16.u32 d16, a32, b32;", (5, 5), 0x3F80),
    ("setp.gt.bf16x2 p|q, a32, b32; selp.u32 x32, 1, 2, p; selp.u32 y32, 4, 8, q; add.u32 d32, x32, y32;",
     (0x40003F80, 0x3F804000), 2 + 4),
    ("ex2.approx.f16x2 d32, a32;", (0x40000000,), 0x44003C00),  # 2^2, 2^0
    ("tanh.approx.bf16 d16, a16;", (0x8000,), 0x8000),
]  # fmt: skip
INTEGERS: list[Case] = [
    ("add.cc.u32 x32, a32, b32; addc.u32 d32, c32, c32;", (0xFFFFFFFF, 1, 0), 1),
    ("add.cc.u32 x32, a32, a32; addc.sat.s32 d32, b32, c32;", (0x80000000, 0x7FFFFFFF, 0), 0x7FFFFFFF),
    ("sub.cc.u32 x32, a32, b32; subc.u16 d16, c16, c16;", (0, 1, 5), 0xFFFF),  # 5 - 5 - 1
    ("add.cc.u32 x32, a32, a32; madc.lo.u16 d16, b16, b16, c16;", (0x80000000, 3, 4), 14),
    ("min.relu.s32 d32, a32, b32;", (0xFFFFFFFB, 3), 0),
    ("max.s16x2 d32, a32, b32;", (0xFFFF0005, 0x0001FFFF), 0x00010005),
    ("add.u16x2 d32, a32, b32;", (0xFFFF0001, 0x00010001), 0x00000002),
    ("mul24.hi.u32 d32, a32, b32;", (0xFFFFFF, 0xFFFFFF), 0xFFFFFE00),  # FFFFFE000001 >> 16
    ("sad.u32 d32, a32, b32, c32;", (5, 9, 100), 104),
    ("dp4a.s32.s32 d32, a32, b32, c32;", (0xFF020304, 0x01010101, 10), 18),  # -1 + 2 + 3 + 4 + 10
    ("dp2a.lo.u32.u32 d32, a32, b32, c32;", (0x00020003, 0x99990504, 1), 23),  # 3 * 4 + 2 * 5 + 1
    ("bfe.s32 d32, a32, 8, 4;", (0x00000F00,), 0xFFFFFFFF),
    ("bfi.b32 d32, a32, b32, 4, 4;", (5, 0xFFFFFFFF), 0xFFFFFF5F),
    ("fns.b32 d32, a32, b32, c32;", (0xF0, 4, 2), 5),
    ("bmsk.clamp.b32 d32, a32, b32;", (4, 8), 0xFF0),
    ("szext.wrap.s32 d32, a32, b32;", (0x18, 5), 0xFFFFFFF8),
    ("prmt.b32 d32, a32, b32, c32;", (0x33221100, 0x77665544, 0x7531), 0x77553311),
    ("prmt.b32 d32, a32, b32, c32;", (0x80000000, 0, 0x000B), 0x000000FF),  # the sign of byte 3
    ("lop3.b32 d32, a32, b32, c32, 0xCA;", (0xF0F0F0F0, 0xAAAAAAAA, 0x55555555), 0xA5A5A5A5),  # a ? b : c
    ("shf.l.clamp.b32 d32, a32, b32, c32;", (0x80000000, 1, 1), 3),
    ("clz.b32 d32, a32;", (0,), 32),
    ("bfind.s32 d32, a32;", (0xFFFFFFFF,), 0xFFFFFFFF),
    ("bfind.shiftamt.u32 d32, a32;", (1,), 31),
    ("brev.b32 d32, a32;", (0x00000003,), 0xC0000000),
    ("copysign.f32 d32, a32, b32;", (0x80000000, 0x40400000), 0xC0400000),
    ("testp.subnormal.f32 p, a32; selp.u32 d32, 1, 0, p;", (0x00000001,), 1),
    ("rcp.approx.ftz.f64 d64, a64;", (0x4010000000000000,), 0x3FD0000000000000),
    ("rcp.approx.ftz.f64 d64, a64;", (0x800FFFFFFFFFFFFF,), 0xFFF0000000000000),
    ("mov.b128 w, {a64, b64}; mov.b128 {x64, d64}, w;", (1, 2), 2),
    ("mov.v2.u32 {x32, y32}, {a32, b32}; sub.u32 d32, y32, x32;", (3, 10), 7),
]
CONVERSIONS: list[Case] = [
    (
        "cvt.s64.s8 d64, a64;",
        (0x12345678_FEDCBA98,),
        0xFFFFFFFF_FFFFFF98,
    ),  # of a wider register the lower part
    ("cvt.s64.s16 d64, a64;", (0x12345678_FEDC7A98,), 0x7A98),
    ("cvt.u64.u8 d64, a64;", (0x12345678_FEDCBA98,), 0x98),
    ("cvt.u32.s16 d32, a64;", (0x12345678_FEDCBA98,), 0xFFFFBA98),
    ("cvt.s16.s8 d16, a64;", (0x12345678_FEDCBA98,), 0xFF98),
    ("cvt.rn.f32.s8 d32, a64;", (0x12345678_FEDCBA82,), 0xC2FC0000),  # -126
    ("cvt.sat.u8.s16 d32, a64;", (0x12345678_FEDC0123,), 0xFF),
    ("cvt.rn.satfinite.e4m3x2.f32 d16, a32, b32;", (0x43E00000, 0x3F800000), 0x7E38),  # 448, 1
    ("cvt.rn.satfinite.e4m3x2.f32 d16, a32, b32;", (0x43FA0000, 0x7FC00000), 0x7E7F),  # 500, NaN
    (
        "cvt.rn.satfinite.e4m3x2.f32 d16, a32, b32;",
        (0x3A800000, 0x3A800001),
        0x0001,
    ),  # half of 2^-9, and above
    ("cvt.rn.satfinite.relu.e5m2x2.f32 d16, a32, b32;", (0x49742400, 0xBF800000), 0x7B00),  # 10^6, -1
    ("cvt.rn.satfinite.e5m2x2.f16x2 d16, a32;", (0x7C003C00,), 0x7B3C),  # infinity, 1
    ("cvt.rn.satfinite.e2m1x2.f32 d8, a32, b32;", (0x40C00000, 0xBF000000), 0x79),  # 6, -0.5
    ("cvt.rn.satfinite.e2m1x2.f32 d8, a32, b32;", (0x40200000, 0x7FC00000), 0x47),  # 2.5 to even, NaN
    ("cvt.rn.satfinite.e2m3x2.f32 d16, a32, b32;", (0x40F00000, 0x3E000000), 0x1F01),  # 7.5, 2^-3
    ("cvt.rn.satfinite.e3m2x2.f32 d16, a32, b32;", (0x41E00000, 0xC1E00000), 0x1F3F),  # 28, -28
    ("cvt.rn.f16x2.e4m3x2 d32, a16;", (0x7E38,), 0x5F003C00),
    ("cvt.rn.f16x2.e5m2x2 d32, a16;", (0x7CBC,), 0x7C00BC00),
    ("cvt.rn.f16x2.e2m1x2 d32, a8;", (0x79,), 0x4600B800),
    ("cvt.rz.ue8m0x2.f32 d16, a32, b32;", (0x3F800000, 0x40400000), 0x7F80),  # 1, 3
    ("cvt.rp.ue8m0x2.f32 d16, a32, b32;", (0x3F800000, 0x40400000), 0x7F81),
    ("cvt.rz.satfinite.ue8m0x2.bf16x2 d16, a32;", (0x7F800000,), 0xFE00),  # infinity, 0
    ("cvt.rn.bf16x2.ue8m0x2 d32, a16;", (0x7F80,), 0x3F804000),
    ("cvt.rn.bf16x2.ue8m0x2 d32, a16;", (0xFF00,), 0x7FFF0040),  # NaN, 2^-127
    ("cvt.rna.tf32.f32 d32, a32;", (0x3F801000,), 0x3F802000),  # 1 + 2^-11
    ("cvt.rn.tf32.f32 d32, a32;", (0x3F801000,), 0x3F800000),
    ("cvt.rz.relu.tf32.f32 d32, a32;", (0xBF801FFF,), 0x00000000),
    ("cvt.rn.f16x2.f32 d32, a32, b32;", (0x3F800000, 0x40000000), 0x3C004000),
    ("cvt.rn.satfinite.bf16x2.f32 d32, a32, b32;", (0x7F800000, 0x7F7FFFFF), 0x7F7F7F7F),
    ("cvt.rz.satfinite.f16.f32 d16, a32;", (0xC7800000,), 0xFBFF),  # -65536
    # 2^-11 is 0x1000 of the 13 bits below the last place: 0x1000 + 0x0FFF stays, 0x1000 + 0x1000 carries
    ("cvt.rs.f16x2.f32 d32, a32, b32, c32;", (0x3F801000, 0x3F801000, 0x0FFF1000), 0x3C003C01),
    ("cvt.rs.bf16x2.f32 d32, a32, b32, c32;", (0x3F808000, 0x3F808000, 0x80007FFF), 0x3F813F80),
    # a quarter of a last place: with 8 bits it takes 192 more to go up
    ("cvt.rs.satfinite.e4m3x4.f32 d32, {a32, a32, a32, a32}, b32;", (0x3F840000, 0xC0BF00FF), 0x39383839),
    ("cvt.pack.sat.u16.s32 d32, a32, b32;", (70000, 0xFFFFFFFD), 0xFFFF0000),
    ("cvt.pack.sat.s8.s32.b32 d32, a32, b32, c32;", (200, 0xFFFFFF38, 0x1234), 0x12347F80),
    ("cvt.pack.sat.u4.s32.b32 d32, a32, b32, c32;", (20, 3, 0xABC), 0x000ABCF3),
    ("cvt.rni.s32.f32 d32, a32;", (0x40200000,), 2),
    ("cvt.rzi.u8.f32 d32, a32;", (0x43960000,), 255),  # 300
    ("cvt.rn.sat.f16.s32 d16, a32;", (0xFFFFFFFB,), 0x0000),  # -5
    ("cvt.sat.f16.f16 d16, a16;", (0x4400,), 0x3C00),
    ("cvt.rni.bf16.bf16 d16, a16;", (0x4020,), 0x4000),  # 2.5
    ("cvt.ftz.f32.f16 d32, a16;", (0x0001,), 0x33800000),  # 2^-24 is a normal f32
]
VIDEO: list[Case] = [
    ("vadd.s32.u32.s32.sat d32, a32.b3, b32.h0;", (0xFF000000, 0x0000FFFE), 253),  # 255 - 2
    ("vsub.u32.u32.u32.sat d32, a32, b32;", (3, 5), 0),
    ("vadd.u32.u32.u32.sat d32.b1, a32.b0, b32.b0, c32;", (0xFF, 0x02, 0x11223344), 0x1122FF44),
    # without a part of d and without a second operation the whole of d is the result
    ("vadd.u32.u32.u32 d32, a32.b0, b32.b0, c32;", (0xFF, 0x02, 0x11223344), 0x101),
    ("vabsdiff.s32.s32.s32.add d32, a32, b32, c32;", (0xFFFFFFFB, 3, 10), 18),
    ("vmin.s32.s32.s32.max d32, a32, b32, c32;", (0xFFFFFFFB, 3, 0xFFFFFFFF), 0xFFFFFFFF),
    ("vshr.u32.u32.u32.clamp d32, a32, b32;", (0x80000000, 40), 0),
    ("vshl.u32.u32.u32.wrap d32, a32, b32;", (1, 33), 2),
    ("vshl.s32.s32.u32.sat.clamp d32, a32, b32;", (0xFFFFFFFF, 32), 0x80000000),
    ("vset.u32.s32.lt d32, a32.b0, b32.b0;", (0x80, 0x80), 0),  # 128 against -128
    ("vmad.s32.u32.u32.shr7 d32, a32.b0, b32.b0, c32;", (200, 100, 50), 156),  # 20050 / 128
    ("vmad.u32.u32.u32 d32, a32, b32, -c32;", (7, 6, 2), 40),
    ("vmad.u32.u32.u32.po.sat d32, a32, b32, c32;", (0x10000, 0x10000, 0), 0xFFFFFFFF),
    ("vadd2.s32.s32.s32 d32, a32, b32, c32;", (0x7FFF0001, 0x00010001, 0), 0x80000002),
    ("vsub2.u32.u32.u32 d32, a32, b32, c32;", (0x00050003, 0x00010004, 0), 0x0004FFFF),
    (
        "vsub2.u32.u32.u32 d32.h1, a32.h01, b32.h32, c32;",
        (0x00050003, 0x00010004, 0x1234),
        0x00021234,
    ),  # 3 - 1
    ("vadd4.u32.u32.u32.sat d32, a32, b32, c32;", (0xFF0102FF, 0x01010101, 0), 0xFF0203FF),
    ("vabsdiff4.u32.u32.u32.add d32, a32, b32, c32;", (0x05000A01, 0x01020304, 100), 116),  # 4 + 2 + 7 + 3
    ("vavrg2.s32.s32.s32 d32, a32, b32, c32;", (0xFFFF0001, 0xFFFE0002, 0), 0xFFFE0002),  # -1.5 down, 1.5 up
    ("vset4.u32.u32.lt d32, a32, b32, c32;", (0x01050203, 0x02040303, 0), 0x01000100),
    ("vmax4.s32.s32.s32 d32.b20, a32.b3210, b32.b4444, c32;", (0x7F80FF01, 0xFE, 0xAABBCCDD), 0xAAFECC01),
]
MEMORY: list[Case] = [
    ("st.shared.b32 [tile], a32; atom.shared.add.noftz.f16x2 x32, [tile], b32; ld.shared.b32 d32, [tile];",
     (0x3C003C00, 0x40003800), 0x42003E00),  # 1 + 2, 1 + 0.5
    ("st.shared.b32 [tile], a32; red.shared.add.noftz.bf16 [tile+2], b16; ld.shared.b32 d32, [tile];",
     (0x3F801234, 0x3F80), 0x40001234),
    ("st.shared.b32 [tile], a32; atom.shared.cas.b16 x16, [tile], b16, c16; ld.shared.b32 d32, [tile];",
     (0x00070005, 5, 9), 0x00070009),
    ("st.shared.b32 [tile], a32; atom.shared.add.f32 x32, [tile], a32; ld.shared.b32 d32, [tile];",
     (0x00400000,), 0x00800000),  # subnormals stay in shared memory
    ("st.global.b32 [cell], a32; atom.global.add.f32 x32, [cell], a32; ld.global.b32 d32, [cell];",
     (0x00400000,), 0x00000000),  # and not in global memory
    ("st.global.b64 [cell], a64; red.global.max.noftz.v4.f16 [cell], {b16, c16, b16, c16}; ld.global.b64 d64, [cell];",
     (0x8000_7E00_3C00_C000, 0x3C00, 0x0000), 0x0000_3C00_3C00_3C00),  # NaN loses, -0 is less than 0
    ("st.shared.v2.b64 [tile], {a64, b64}; mov.b128 w, {a64, b64}; mov.b128 v, {c64, c64};"
     " atom.shared.cas.b128 w, [tile], w, v; ld.shared.b64 d64, [tile+8];", (1, 2, 3), 3),
]  # fmt: skip
CASES = {
    "halves": HALVES,
    "integers": INTEGERS,
    "conversions": CONVERSIONS,
    "video": VIDEO,
    "memory": MEMORY,
}
_OPERAND = re.compile(r"(?<![.\w])([a-dxy])(8|16|32|64)\b")
HEAD = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u64 r)
{
	.reg .pred %p, %q;
	.reg .b64 %from, %to, %cell;
	.reg .b128 %v, %w;
	.shared .align 16 .b8 tile[64];
"""


def body(number: int, case: Case) -> str:
    """The instructions of a case: values in, the text, the result out."""
    text, values, _ = case
    names = sorted(set(_OPERAND.findall(text)))
    given = [pair for pair in names if pair[0] in "abc"]
    lines = [
        f"ld.global.b{bits} %r{letter}{bits}, [%from+{(number * 3 + k) * 8}];"
        for k, (letter, bits) in enumerate(given)
    ]
    assert len(values) == len(given), text
    text = _OPERAND.sub(r"%r\1\2", text)
    text = re.sub(r"\b([pqvw])\b(?!\.)", r"%\1", text).replace("[cell]", "[%cell]")
    (result,) = (bits for letter, bits in names if letter == "d")
    return "\n".join([*lines, text, f"st.global.b{result} [%to+{number * 8}], %rd{result};"])


@pytest.mark.parametrize("run", [functional.run, run_reference], ids=["compiled", "reference"])
@pytest.mark.parametrize("name", list(CASES))
def test_by_hand(name: str, run: Callable[..., Any]) -> None:
    cases = CASES[name]
    registers = "".join(
        f"\t.reg .b{b} " + ", ".join(f"%r{c}{b}" for c in "abcdxy") + ";\n" for b in (8, 16, 32, 64)
    )
    start = "ld.param.u64 %from, [p]; ld.param.u64 %to, [q]; ld.param.u64 %cell, [r];\n"
    parts = [body(k, case) for k, case in enumerate(cases)]
    kernel = parse(HEAD + registers + start + "\n".join(parts) + "\nret;\n}\n").kernels["k"]
    inputs = np.zeros((len(cases), 3), np.uint64)
    for k, (_, values, _) in enumerate(cases):
        inputs[k, : len(values)] = values
    found = np.zeros(len(cases), np.uint64)
    run(kernel, (1,), (1,), [inputs, found, np.zeros(4, np.uint64)])
    wrong = [
        f"{text} {[hex(v) for v in values]}: {int(got):#x} instead of {wanted:#x}"
        for (text, values, wanted), got in zip(cases, found, strict=True)
        if int(got) != wanted
    ]
    assert not wrong, "\n".join(wrong)
