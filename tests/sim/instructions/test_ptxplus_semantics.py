"""PTXPlus as hardware and as GPGPU-Sim have it: each row of docs/ptxplus-semantics.md that is switched, by hand."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.interpreter import run_reference

import ptxsim
from ptxsim.lowering.lower import lower
from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

BOTH = ("hardware", "gpgpu-sim")

HEAD = """.version 1.4+
.target sm_10, map_f64_to_f32
.entry k ( .param .u64 out , .param .s32 n{more} )
{{
	.reg .u32 $r<12>;
	.reg .u32 $ofs<5>;
	.reg .pred $p<4>;
	.reg .u32 $r124;
	.reg .u32 $o127;
{body}
	mov.u32 $r11, s[0x0010];
	st.global.u32 [$r11], $r6;
	l_exit: exit;
}}
"""


def kernel(body: str, more: str = "") -> Function:
    text = "\n".join(f"\t{line.strip()};" for line in body.split(";") if line.strip())
    return parse(HEAD.format(body=text, more=more)).kernels["k"]


def result(body: str, semantics: str, run: Callable[..., Any] = ptxsim.run) -> int:
    """What a body leaves in $r6; s[0x0018] is -128."""
    out = np.full(1, 0xDEAD, np.uint32)
    run(kernel(body), 1, 1, [out, -128], ptxplus_semantics=semantics)
    return int(out[0])


CARRY = "mov.u32 $r1, 0xffffffff; add.u32 $p0|$r1, $r1, 0x00000001;"  # sets C: flags Z and C
NUMBERS = "mov.u32 $r2, 0x0000000a; mov.u32 $r3, 0x00000003;"
FLAGS = "mov.u32 $r6, $p1;"  # Z 1, S 2, C 4, O 8
TRUE = "mov.u32 $r1, 0x00000001; set.eq.u32.u32 $p0/$o127, $r1, $r1;"

CASES = {
    # the zero register is written, then read
    "zero register": ("mov.u32 $r124, 0x00000007; mov.u32 $r6, $r124;", 0, 7),
    # the bit bucket is written, then read
    "bit bucket": ("mov.u32 $o127, 0x00000005; mov.u32 $r6, $o127;", 0, 5),
    # blocks of 1 x 1 x 1, a grid of 1 x 1, CTA (0,0)
    "header": ("mov.u32 $r6, s[0x0004]; add.u32 $r6, s[0x0000], $r6;", 0x20001, 0),
    # -2^31 + 0: S; its lower 31 bits are zero
    "Z of s32": (f"mov.u32 $r1, 0x80000000; add.s32 $p1|$r2, $r1, 0x00000000; {FLAGS}", 2, 3),
    "Z of u32": (f"mov.u32 $r1, 0x80000000; add.u32 $p1|$r2, $r1, 0x00000000; {FLAGS}", 2, 2),
    "Z of s16": (f"mov.u32 $r1, 0x00008000; add.s16 $p1|$r2.lo, $r1.lo, $r3.lo; {FLAGS}", 2, 3),
    "Z of zero": (f"add.s32 $p1|$r2, $r3, 0x00000000; {FLAGS}", 1, 1),
    # NaN + 0: unordered is Z and S
    "flags of NaN": (f"mov.u32 $r1, 0x7fc00000; add.f32 $p1|$r2, $r1, $r3; {FLAGS}", 3, 0),
    "flags of f32": (f"mov.u32 $r1, 0xbf800000; add.f32 $p1|$r2, $r1, $r3; {FLAGS}", 2, 2),
    # -1.0 + 0.0
    "S of ff64": (f"mov.u32 $r3, 0xbff00000; add.ff64 $p1|$o127, {{$r2,$r3}}, {{$r4,$r5}}; {FLAGS}", 2, 0),
    # 10 - 0: nothing is borrowed; 10 + 0 carries nothing
    "add minus zero": (f"{NUMBERS} add.u32 $p1|$r4, $r2, -$r5; {FLAGS}", 4, 0),
    # 10 - 3: nothing is borrowed; 10 + 0xfffffffd carries
    "add minus three": (f"{NUMBERS} add.u32 $p1|$r4, $r2, -$r3; {FLAGS}", 4, 4),
    # 10 - 0: nothing is borrowed, for `sub` in both
    "sub": (f"{NUMBERS} sub.u32 $p1|$r4, $r2, $r5; {FLAGS}", 4, 4),
    "sub minus": (f"{NUMBERS} sub.u32 $r6, $r2, -$r3;", 13, 13),
    "sub immediate": (f"{NUMBERS} sub.u32 $r6, $r2, 0x00000004;", 6, 6),
    # 10 + 3 and the carry
    "addp": (f"{NUMBERS} {CARRY} addp.u32 $r6, $r2, $r3, $p0;", 14, 17),
    # 10 + ~3 + 1; 10 + (-3) + 4
    "addp minus": (f"{NUMBERS} {CARRY} addp.u32 $r6, $r2, -$r3, $p0;", 7, 11),
    # without carry 10 + ~3; 10 + (-3)
    "addp minus, borrow": (f"{NUMBERS} addp.u32 $r6, $r2, -$r3, $p0;", 6, 7),
    # 10 * 3 + 3 + 1 in both
    "madp": (f"{NUMBERS} {CARRY} madp.wide.u16 $r6, $r2.lo, $r3.lo, $r3, $p0;", 34, 34),
    # 30 + ~3 + 1; 30 - 3 + 1
    "madp minus": (f"{NUMBERS} {CARRY} madp.wide.u16 $r6, $r2.lo, $r3.lo, -$r3, $p0;", 27, 28),
    # 0x1234 * 0x100
    "mul.lo.u16": ("mov.u32 $r1, 0x01001234; mul.lo.u16 $r6, $r1.lo, $r1.hi;", 0x123400, 0x3400),
    "mul.half.lo.u16": ("mov.u32 $r1, 0x01001234; mul.half.lo.u16 $r6, $r1.lo, $r1.hi;", 0x123400, 0x3400),
    "mul.wide.u16": ("mov.u32 $r1, 0x01001234; mul.wide.u16 $r6, $r1.lo, $r1.hi;", 0x123400, 0x123400),
    "mul.wide.u16 half": ("mov.u32 $r1, 0x01001234; mul.wide.u16 $r6.lo, $r1.lo, $r1.hi;", 0x3400, 0x3400),
    "mad.lo.u16": (
        "mov.u32 $r1, 0x01001234; mov.u32 $r2, 0x1; mad.lo.u16 $r6, $r1.lo, $r1.hi, $r2;",
        0x123401,
        0x3401,
    ),
    # 0x1000003 * 2 + 1; of 24 bits 3 * 2 + 1
    "mad24.lo": (
        "mov.u32 $r1, 0x01000003; mov.u32 $r2, 0x2; mov.u32 $r3, 0x1; mad24.lo.u32 $r6, $r1, $r2, $r3;",
        7,
        0x02000007,
    ),
    # the product 2^32 >> 16; its low word is zero
    "mad24.hi": ("mov.u32 $r1, 0x00010000; mad24.hi.u32 $r6, $r1, $r1, $r2;", 0x10000, 0),
    # (-65536 * 2) >> 16
    # 2^31 + 2^31; C is of the hardware's sum alone
    "flags of mad24": (
        f"mov.u32 $r1, 0x00010000; mov.u32 $r2, 0x8000; mov.u32 $r3, 0x80000000;"
        f" mad24.lo.u32 $p1|$r6, $r1, $r2, $r3; {FLAGS}",
        5,
        1,
    ),
    "mad24.hi.s32": (
        "mov.u32 $r1, 0xffff0000; mov.u32 $r2, 0x2; mad24.hi.s32 $r6, $r1, $r2, $r3;",
        0xFFFFFFFE,
        0xFFFFFFFE,
    ),
    "abs.u32": ("mov.u32 $r1, 0xfffffffb; abs.u32 $r6, $r1;", 5, 0xFFFFFFFB),
    "abs.u16": ("mov.u32 $r1, 0x0000fffb; abs.u16 $r6, $r1.lo;", 5, 0xFFFB),
    "abs.s32": ("mov.u32 $r1, 0xfffffffb; abs.s32 $r6, $r1;", 5, 5),
    # 1 / |-4| and 1 / -4
    "rcp.abs": ("mov.u32 $r1, 0xc0800000; rcp.abs.f32 $r6, $r1;", 0x3E800000, 0xBE800000),
    # |-4| > 1 in both
    "set.abs": (
        "mov.u32 $r1, 0xc0800000; mov.u32 $r2, 0x3f800000; set.gt.abs.u32.f32 $r6, $r1, $r2;",
        0xFFFFFFFF,
        0xFFFFFFFF,
    ),
    "selp !": (f"{TRUE} mov.u32 $r2, 0x2; selp.u32 $r6, $r1, $r2, !$p0;", 2, 1),
    "selp": (f"{TRUE} mov.u32 $r2, 0x2; selp.u32 $r6, $r1, $r2, $p0;", 1, 1),
    # floor of -1.5, ceiling of 1.25, the integer nearest to 2.75
    "cvt.rm": ("mov.u32 $r1, 0xbfc00000; cvt.rm.s32.f32 $r6, $r1;", 0xFFFFFFFE, 0xFFFFFFFF),
    "cvt.rp": ("mov.u32 $r1, 0x3fa00000; cvt.rp.s32.f32 $r6, $r1;", 2, 1),
    "cvt": ("mov.u32 $r1, 0x40300000; cvt.s32.f32 $r6, $r1;", 3, 2),
    "cvt.rmi": ("mov.u32 $r1, 0xbfc00000; cvt.rmi.s32.f32 $r6, $r1;", 0xFFFFFFFE, 0xFFFFFFFE),
    # 2.75 truncated, 2.75 as it is
    "cvt.rz.f32": ("mov.u32 $r1, 0x40300000; cvt.rz.f32.f32 $r6, $r1;", 0x40000000, 0x40300000),
    # the pair is 1.0; its lower word alone is 0.0
    "f64 source": ("mov.u32 $r3, 0x3ff00000; cvt.rn.f32.f64 $r6, $r2;", 0x3F800000, 0),
    # a lower word of all ones alone is a subnormal number, no negative one
    "f64 without sign": (
        "mov.u32 $r2, 0xffffffff; mov.u32 $r3, 0xbff00000; set.lt.u32.f64 $r6, $r2, {$r4,$r5};",
        0xFFFFFFFF,
        0,
    ),
    # the upper word of 1.0 goes into $r6, or is lost
    "f64 result": ("mov.u32 $r6, 0x7; mov.u32 $r1, 0x1; cvt.rn.f64.s32 $r5, $r1;", 0x3FF00000, 7),
    "s8 from shared memory": ("mov.s8 $r6, s[0x0018];", 0xFFFFFF80, 0x80),
    "s16 from shared memory": ("mov.s16 $r6, s[0x0018];", 0xFFFFFF80, 0xFFFFFF80),
    "cvt of s8": ("cvt.s32.s8 $r6, s[0x0018];", 0xFFFFFF80, 0xFFFFFF80),
    "ld.s8": (
        "mov.u32 $r1, s[0x0010]; mov.u32 $r2, 0x80; st.global.u32 [$r1], $r2; ld.global.s8 $r6, [$r1];",
        0xFFFFFF80,
        0x80,
    ),
}


@pytest.mark.parametrize("run", [ptxsim.run, run_reference], ids=["compiled", "reference"])
@pytest.mark.parametrize("name", CASES)
def test_both_meanings(name: str, run: Callable[..., Any]) -> None:
    body, *expected = CASES[name]
    assert [hex(result(body, s, run)) for s in BOTH] == [hex(value) for value in expected]


def test_the_default_is_the_hardware() -> None:
    out = np.zeros(1, np.uint32)
    ptxsim.run(kernel(CASES["abs.u32"][0]), 1, 1, [out, 0])
    assert out[0] == 5


@pytest.mark.parametrize("run", [ptxsim.run, run_reference], ids=["compiled", "reference"])
@pytest.mark.parametrize(("semantics", "expected"), [("hardware", 11 + 22 + 33), ("gpgpu-sim", 11)])
def test_a_parameter_that_is_an_array(semantics: str, expected: int, run: Callable[..., Any]) -> None:
    """Three words from 0x1c on, of which GPGPU-Sim copies the first."""
    body = "mov.u32 $r6, s[0x001c]; add.u32 $r6, s[0x0020], $r6; add.u32 $r6, s[0x0024], $r6;"
    out = np.zeros(1, np.uint32)
    array = np.array([11, 22, 33], np.uint32)
    run(kernel(body, " , .param .u32 a[3]"), 1, 1, [out, 0, array], ptxplus_semantics=semantics)
    assert out[0] == expected


@pytest.mark.parametrize("run", [ptxsim.run, run_reference], ids=["compiled", "reference"])
@pytest.mark.parametrize(("semantics", "expected"), [("hardware", 0x0A000304), ("gpgpu-sim", 4)])
def test_a_structure_by_value(semantics: str, expected: int, run: Callable[..., Any]) -> None:
    """As nvcc declares one, in bytes: the word 0x304 at its start, 10 in its last byte; one byte, 4, arrives."""
    body = "mov.u32 $r6, s[0x0020]; add.u32 $r6, s[0x002c], $r6;"
    out = np.zeros(1, np.uint32)
    structure = np.array([0x304, 0, 0, 0x0A000000], np.uint32)
    run(kernel(body, " , .param .align 8 .b8 a[16]"), 1, 1, [out, 0, structure], ptxplus_semantics=semantics)
    assert hex(out[0]) == hex(expected)


FETCHES = """.version 1.4+
.target sm_10, map_f64_to_f32
.tex .u64 image;
.entry k ( .param .u64 out , .param .u64 object )
{
	.reg .u32 $r<12>;
	mov.u32 $r1, 0x3f800000;
	mov.u32 $r2, 0x40000000;
	mov.u32 $r6, 0x00000006;
	mov.u32 $r7, 0x00000007;
	tex.2d.v4.f32.f32 {$r5,$r6,_,$r7}, TEXTURE, {$r1,$r2};
	mov.u32 $r8, 0x00000001;
	tex.1d.v4.f32.s32 {$r8,_,_,_}, TEXTURE, {$r8,_,_,_};
	tex.2d.b32.f32 {$r9,$r10,_,_}, TEXTURE, {$r1,$r2};
	mov.u32 $r11, s[0x0010];
	st.global.u32 [$r11], $r5;
	st.global.u32 [$r11+4], $r6;
	st.global.u32 [$r11+8], $r7;
	st.global.u32 [$r11+12], $r8;
	st.global.u32 [$r11+16], $r9;
	st.global.u32 [$r11+20], $r10;
	l_exit: exit;
}
"""


@pytest.mark.parametrize(
    "run", [ptxsim.run, ptxsim.launch, run_reference], ids=["run", "launch", "reference"]
)
@pytest.mark.parametrize("texture", ["image", "object"])
@pytest.mark.parametrize(
    ("semantics", "expected"),
    # texel (1,2) is 90 to 93: its x, y and w. As the converter prints it, 0x3f800000 is far beyond the first row, whose
    # last texel is 30 to 33, and one component is written; the second register of the result is that of y, 0x40000000,
    # the fourth keeps its 7. Texel 1 of a row is 10; decuda's texts are as they are
    [("hardware", [90, 91, 93, 10, 90, 91]), ("gpgpu-sim", [30, 0x40000000, 7, 10, 90, 91])],
)
def test_a_fetch(semantics: str, expected: list[int], texture: str, run: Callable[..., Any]) -> None:
    """4 x 3 texels of four whole numbers: 10 times the texel's number, and 1, 2, 3 more."""
    texels = (10 * np.arange(12)[:, None] + np.arange(4)).astype(np.int32).reshape(3, 4, 4)
    given = ptxsim.Texture(texels, channels=4)
    out = np.zeros(6, np.uint32)
    run(
        parse(FETCHES.replace("TEXTURE", texture)).kernels["k"],
        1,
        1,
        [out, given if texture == "object" else 0],
        textures={"image": given},
        ptxplus_semantics=semantics,
    )
    assert out.tolist() == expected


@pytest.mark.parametrize(("semantics", "destinations"), [("hardware", 3), ("gpgpu-sim", 1)])
def test_a_fetch_in_the_scoreboard(semantics: str, destinations: int) -> None:
    """$r5, $r6, $r7, of which one is written; all of them and both coordinates are named."""
    function = parse(FETCHES.replace("TEXTURE", "image")).kernels["k"]
    program = lower(function, load_gpu("tesla-c2050"), ptxplus_semantics=semantics)
    record = program.instructions[4]
    assert (record["n_destinations"], record["n_registers"]) == (destinations, 5)


UNDECLARED = """.version 1.4+
.target sm_10, map_f64_to_f32
.entry k ( .param .u64 out , .param .s32 n )
{{
	.reg .u32 $r<4>;
	{body}
	mov.u32 $r1, s[0x0010];
	st.global.u32 [$r1], $r2;
	l_exit: exit;
}}
"""


@pytest.mark.parametrize(
    "run", [ptxsim.run, ptxsim.launch, run_reference], ids=["run", "launch", "reference"]
)
@pytest.mark.parametrize(
    ("body", "hardware", "gpgpu_sim"),
    [
        ("mov.u32 $r2, s[$ofs1+=0x18]; mov.u32 $r2, s[$ofs1];", 0x123, 0x123),
        ("mov.u32 $r3, 0x3; shl.b32 $ofs2, $r3, 0x3; mov.u32 $r2, s[$ofs2+0x0];", 0x123, 0x123),
        ("mov.u32 $r124, 0x7; add.u32 $r2, $r124, 0x1;", 1, 8),
        ("mov.u32 $o127, 0x7; add.u32 $r2, $o127, 0x1;", 1, 8),
    ],
)
def test_registers_of_the_hardware_that_are_not_declared(
    body: str, hardware: int, gpgpu_sim: int, run: Callable[..., Any]
) -> None:
    """s[0x0018] is n, 0x123."""
    function = parse(UNDECLARED.format(body=body)).kernels["k"]
    for semantics, expected in zip(BOTH, (hardware, gpgpu_sim), strict=True):
        out = np.zeros(1, np.uint32)
        run(function, 1, 1, [out, 0x123], ptxplus_semantics=semantics)
        assert out[0] == expected


HEADER = """.version 1.4+
.target sm_10, map_f64_to_f32
.entry k ( .param .u64 out )
{
	.reg .u32 $r<8>;
	.reg .u32 $ofs<3>;
	mov.u32 $r1, %ctaid.x;
	mul24.lo.u32 $r2, %ctaid.y, 0x3;
	add.u32 $r1, $r1, $r2;
	shl.u32 $r1, $r1, 0x4;
	add.u32 $r1, s[0x0010], $r1;
	mov.u32 $r2, 0x2;
	shl.b32 $ofs1, $r2, 0x0;
	mov.u16 $r3, s[0x0000];
	st.global.u16 [$r1], $r3;
	mov.u16 $r3, s[$ofs1+=0x2];
	st.global.u16 [$r1+2], $r3;
	mov.u16 $r3, s[$ofs1+=0x2];
	st.global.u16 [$r1+4], $r3;
	mov.u16 $r3, s[$ofs1+=0x2];
	st.global.u16 [$r1+6], $r3;
	mov.u16 $r3, s[$ofs1+=0x2];
	st.global.u16 [$r1+8], $r3;
	mov.u16 $r3, s[$ofs1+=0x2];
	st.global.u16 [$r1+10], $r3;
	mov.u16 $r3, s[$ofs1+=0x2];
	st.global.u16 [$r1+12], $r3;
	mov.u16 $r3, s[$ofs1+=0x2];
	st.global.u16 [$r1+14], $r3;
	l_exit: exit;
}
"""


@pytest.mark.parametrize(
    "run", [ptxsim.run, ptxsim.launch, run_reference], ids=["run", "launch", "reference"]
)
@pytest.mark.parametrize("semantics", BOTH)
def test_the_header_of_shared_memory(semantics: str, run: Callable[..., Any]) -> None:
    """Blocks of 300 x 2 x 1 in a grid of 3 x 2; every thread of a CTA writes the same."""
    out = np.full((2, 3, 8), 0xFFFF, np.uint16)
    run(parse(HEADER).kernels["k"], (3, 2), (300, 2), [out], ptxplus_semantics=semantics)
    expected = [[[0, 300, 2, 1, 3, 2, x, y] for x in range(3)] for y in range(2)]
    assert out.tolist() == (expected if semantics == "hardware" else np.zeros_like(out).tolist())


@pytest.mark.parametrize(("semantics", "destinations"), [("hardware", 2), ("gpgpu-sim", 1)])
def test_a_post_increment_in_the_scoreboard(semantics: str, destinations: int) -> None:
    """$r6, and $ofs1 where it counts; both registers are named in both."""
    function = kernel("mov.u32 $r6, s[$ofs1+=0x0004];")
    record = lower(function, load_gpu("tesla-c2050"), ptxplus_semantics=semantics).instructions[0]
    assert (record["n_destinations"], record["n_registers"]) == (destinations, 2)


@pytest.mark.parametrize("semantics", BOTH)
def test_a_register_written_and_incremented_stays_a_destination(semantics: str) -> None:
    function = kernel("mov.u32 $ofs1, s[$ofs1+=0x0004];")
    program = lower(function, load_gpu("tesla-c2050"), ptxplus_semantics=semantics)
    assert program.instructions[0]["n_destinations"] == 1


@pytest.mark.parametrize(("semantics", "expected"), [("hardware", 5), ("gpgpu-sim", 0xFFFFFFFB)])
def test_a_timed_run(semantics: str, expected: int) -> None:
    out = np.zeros(1, np.uint32)
    ptxsim.launch(kernel(CASES["abs.u32"][0]), 1, 1, [out, 0], ptxplus_semantics=semantics)
    assert out[0] == expected


PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<2>;
	ld.param.u64 %rd1, [out];
	mov.f32 %f1, 0fBFC00000;
	cvt.rmi.s32.f32 %r1, %f1;
	st.global.u32 [%rd1], %r1;
	ld.global.s8 %r2, [%rd1];
	mad24.lo.u32 %r3, %r2, %r2, 0;
	st.global.u32 [%rd1], %r3;
	ret;
}
"""


@pytest.mark.parametrize("semantics", BOTH)
def test_ptx_has_one_meaning(semantics: str) -> None:
    """-2, of which 24 bits are 0xfffffe; the square's lower word is 0xfc000004."""
    out = np.zeros(1, np.uint32)
    ptxsim.run(parse(PTX).kernels["k"], 1, 1, [out], ptxplus_semantics=semantics)
    assert out[0] == 0xFC000004


def test_a_constant_segment_that_is_not_declared() -> None:
    with pytest.raises(PtxError) as problem:
        result("mov.u32 $r6, c0[0x0004];", "hardware")
    assert problem.value.diagnostics[0].message == (
        "'mov.u32' cannot be simulated: 'c0[...]' is not declared (add '.const .u32 c0[N] = { ... };')"
    )


def test_semantics_that_do_not_exist() -> None:
    with pytest.raises(PtxError) as problem:
        result("mov.u32 $r6, $r1;", "gpgpusim")
    (found,) = problem.value.diagnostics
    assert found.code == "E502"
    assert found.message == "PTXPlus has no semantics 'gpgpusim'"
    assert "did you mean 'gpgpu-sim'?" in (found.help or "")


LAUNCH = """grid = 1
block = 1
[[args]]
name = "out"
type = "u32"
value = 0
shape = [1]
[[args]]
name = "n"
type = "s32"
value = 0
"""


def files(folder: Path) -> tuple[Path, Path]:
    text, launch = folder / "k.ptxplus", folder / "launch.toml"
    text.write_text(kernel(CASES["abs.u32"][0]).source.text)
    launch.write_text(LAUNCH)
    return text, launch


@pytest.mark.parametrize(("semantics", "expected"), [("hardware", 5), ("gpgpu-sim", 0xFFFFFFFB)])
def test_the_functions_of_the_api(tmp_path: Path, semantics: str, expected: int) -> None:
    text, launch = files(tmp_path)
    function = api.load(text).kernels["k"]
    outcome = api.run(function, launch, ptxplus_semantics=semantics)
    assert outcome.buffers[0].array[0] == expected
    run = api.simulate(function, launch, ptxplus_semantics=semantics)
    assert run.arguments[0][0] == expected
    comparison = api.compare(function, launch, ptxplus_semantics=semantics)
    assert [rung.run.arguments[0][0] for rung in comparison.rungs] == [expected] * 5


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ptxtool", *words], capture_output=True, text=True, timeout=300, check=False
    )


def test_the_commands(tmp_path: Path) -> None:
    text, _ = files(tmp_path)
    done = command("run", str(text), "--ptxplus-semantics", "gpgpu-sim")
    assert "4294967291" in done.stdout, done.stderr
    for name in ("run", "sim", "compare"):
        assert command(name, str(text), "--ptxplus-semantics", "gpgpu-sim").returncode == 0
        refused = command(name, str(text), "--ptxplus-semantics", "none")
        assert refused.returncode != 0
        assert "E502" in refused.stderr


def test_the_launch_file_may_choose(tmp_path: Path) -> None:
    text, launch = files(tmp_path)
    launch.write_text(f'ptxplus_semantics = "gpgpu-sim"\n{LAUNCH}')
    function = api.load(text).kernels["k"]
    assert api.run(function, launch).buffers[0].array[0] == 0xFFFFFFFB
    assert api.simulate(function, launch).arguments[0][0] == 0xFFFFFFFB
    assert "4294967291" in command("run", str(text)).stdout
    assert "4294967291" not in command("run", str(text), "--ptxplus-semantics", "hardware").stdout
    for name in ("sim", "compare"):
        assert command(name, str(text), "--ptxplus-semantics", "hardware").returncode == 0
