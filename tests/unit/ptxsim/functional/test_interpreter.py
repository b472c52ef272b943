"""Whole kernels through lowering and execution, without time: corpus kernels, hand-worked PTXPlus and PTX."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import CHECKOUT
from reference_kernels import launches

from ptxsim.functional_run import run
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse

PTXPLUS = """.version 1.4+
.target sm_10, map_f64_to_f32
.const .u32 constant0[4] = {{ 0x00000001, 0x00000002, 0x3f800000, 0x40000000 }};
.entry k ( .param .u64 out , .param .u64 in , .param .s32 n )
{{
	.reg .u32 $r<20>;
	.reg .u32 $ofs<5>;
	.reg .pred $p<4>;
	.reg .u32 $r124;
	.reg .u32 $o127;
	cvt.u32.u16 $r1, $r0.lo;
	shl.u32 $r2, $r1, 0x00000002;
	add.u32 $r3, s[0x0010], $r2;
	add.u32 $r4, s[0x0018], $r2;
	ld.global.u32 $r5, [$r4];
{body}
	st.global.u32 [$r3], $r6;
	l_exit: exit;
}}
"""

PTX = """.version 7.0
.target sm_75
.address_size 64
{module}
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{{
	.reg .pred %p<8>;
	.reg .b16 %h<8>;
	.reg .b32 %r<16>;
	.reg .f32 %f<8>;
	.reg .b64 %d<16>;
	{declarations}
	ld.param.u64 %d1, [out];
	ld.param.u64 %d2, [in];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d3, %r1, 4;
	add.s64 %d4, %d1, %d3;
	add.s64 %d5, %d2, %d3;
	ld.global.u32 %r5, [%d5];
{body}
	st.global.u32 [%d4], %r6;
	ret;
}}
"""


def kernel_of(module: Module) -> Function:
    return next(iter(module.kernels.values()))


def words(values: Any, count: int) -> np.ndarray:
    """Values repeated to a buffer of 32-bit words."""
    array = np.asarray(values)
    bits = array if array.dtype == np.float32 else array.astype(np.int64).astype(np.uint32)
    return np.ascontiguousarray(np.resize(bits, count)).view(np.uint32)


def ptxplus(body: str, values: Any, n: int = 0, block: int = 32, **more: Any) -> np.ndarray:
    """Run a PTXPlus body: $r1 is tid.x, $r5 the input word, $r6 the result."""
    given = words(values, block)
    out = np.zeros(block, np.uint32)
    run(kernel_of(parse(PTXPLUS.format(body=body))), (1,), (block,), [out, given, n], **more)
    return out


def ptx(
    body: str, values: Any, n: int = 0, block: int = 32, module: str = "", declarations: str = ""
) -> np.ndarray:
    """Run a PTX body: %r1 is tid.x, %r5 the input word, %r6 the result."""
    given = words(values, block)
    out = np.zeros(block, np.uint32)
    text = PTX.format(body=body, module=module, declarations=declarations)
    run(kernel_of(parse(text)), (1,), (block,), [out, given, n])
    return out


# ---- the corpus


@pytest.mark.parametrize("target", ["sm35", "sm75"])
def test_reference_kernels(shared: Path, target: str) -> None:
    """All 34 kernels in all 61 launches leave the bytes that the plain C++ reference computed."""
    path = shared / "corpus" / "reference_kernels" / f"kernels.{target}.ptx"
    module = parse(path.read_text(encoding="utf-8"), str(path))
    for launch in launches(shared):
        args, buffers = launch.arguments()
        data = launch.data
        run(
            module.kernels[data["kernel"]],
            data["grid"],
            data["block"],
            args,
            constants=launch.constants(),
            dynamic_shared=data["dynamic_shared_bytes"],
        )
        launch.check(buffers)


# ---- PTXPlus, worked out by hand


@pytest.mark.parametrize(
    ("body", "values", "expected"),
    [
        # halves: the destination's other half stays
        ("mov.u32 $r6, 0xaaaabbbb; mov.u16 $r6.lo, $r5.hi;", [0x12345678], [0xAAAA1234]),
        ("mov.u32 $r6, 0xaaaabbbb; add.u16 $r6.hi, $r5.lo, 0x0001;", [0x1234FFFF], [0x0000BBBB]),
        # a signed half of a register
        ("cvt.s32.s16 $r6, $r5.hi;", [0x8000FFFF], [0xFFFF8000]),
        # `.wide` of halves; a full destination keeps 32 bits of a `.lo` product too
        ("mul.wide.u16 $r6, $r5.lo, $r5.hi;", [0xFFFF0003], [0x0002FFFD]),
        ("mul.half.lo.u16 $r6, $r5.lo, $r5.hi;", [0xFFFF0003], [0x0002FFFD]),
        ("mov.u32 $r6, $r124; mul.lo.u16 $r6.lo, $r5.lo, $r5.hi;", [0xFFFF0003], [0x0000FFFD]),
        ("mad.wide.s16 $r6, $r5.lo, $r5.hi, $r1;", [0xFFFF0003], [0xFFFFFFFD]),  # 3 * -1 + 0
        # 24 bits
        ("mul24.lo.u32 $r6, $r5, 0x01000003;", [0xFF000005], [15]),
        ("mul24.hi.u32 $r6, $r5, $r5;", [0xFFFFFF], [0xFFFFFE00]),  # (2^24 - 1)^2 >> 16
        ("mad24.lo.u32 $r6, $r5, $r5, 0x00000007;", [0x01000002], [11]),
        ("sad.u32 $r6, $r5, 0x0000000a, 0x00000064;", [3], [107]),
        # negated sources
        ("add.u32 $r6, 0x00000007, -$r5;", [9], [0xFFFFFFFE]),
        ("mov.u32 $r7, 0x00000002; mad.f32 $r6, -$r5, $r5, -$r124;", [0x40000000], [0xC0800000]),
        # memory as an operand of arithmetic: shared, constant, and with a sign
        ("add.u32 $r6, s[0x0020], $r5;", [5], [12]),
        ("add.u32 $r6, $r5, constant0[0x0004];", [5], [7]),
        ("mov.u32 $ofs1, 0x00000004; add.u32 $r6, $r5, -constant0[$ofs1+0x0000];", [5], [3]),
        ("mul.f32 $r6, $r5, constant0[0x000c];", [0x3FC00000], [0x40400000]),
        # post-increment: the old address, then the register
        (
            "mov.u32 $ofs1, 0x00000000; mov.u32 $r7, constant0[$ofs1+=0x0004];"
            "mov.u32 $r8, constant0[$ofs1+=0x0004]; shl.u32 $r8, $r8, 0x8; or.b32 $r6, $r7, $r8;"
            "mov.u32 $r9, $ofs1; shl.u32 $r9, $r9, 0x10; or.b32 $r6, $r6, $r9;",
            [0],
            [0x00080201],
        ),
        # shifts of at least the width
        ("shl.u32 $r6, $r5, 0x00000020;", [1], [0]),
        ("shr.s32 $r6, $r5, 0x00000040;", [0x80000000], [0xFFFFFFFF]),
        # absolute value, printed `.u32`
        ("abs.u32 $r6, $r5;", [0xFFFFFFFB], [5]),
        # inverted logic
        ("andn.b32 $r6, $r5, 0x0000000f;", [0xFF], [0xF0]),
        ("orn.b32 $r6, $r5, 0xfffffff0;", [0x30], [0x3F]),
        ("nandn.b32 $r6, $r5, 0x0000000f;", [0xFF], [0xFFFFFF0F]),
        ("norn.b32 $r6, $r5, 0x0000000f;", [0x3], [0xC]),
        # conversions: rz truncates, rm is floor, rp ceil, none to nearest even
        ("cvt.rz.s32.f32 $r6, $r5;", np.float32([-2.5]), [0xFFFFFFFE]),
        ("cvt.rm.s32.f32 $r6, $r5;", np.float32([-2.5]), [0xFFFFFFFD]),
        ("cvt.rp.s32.f32 $r6, $r5;", np.float32([-2.5]), [0xFFFFFFFE]),
        ("cvt.s32.f32 $r6, $r5;", np.float32([3.5]), [4]),
        ("cvt.rz.f32.f32 $r6, $r5;", np.float32([3.5]), [0x40400000]),
        ("cvt.f32.s32 $r6, $r5;", [0xFFFFFFFF], [0xBF800000]),
        ("cvt.f32.u32 $r6, $r5;", [0xFFFFFFFF], [0x4F800000]),
        # select
        ("slct.u32.s32 $r6, 0x00000001, 0x00000002, $r5;", [0x80000000], [2]),
        ("set.lt.u32.u32 $r6, $r5, 0x00000003;", [2, 3], [0xFFFFFFFF, 0]),
        ("set.lt.f32.f32 $r6, $r5, 0x40400000;", np.float32([2, 3]), [0x3F800000, 0]),
        ("set.abs.gt.f32.f32 $p0/$r6, $r5, 0x3f800000;", np.float32([-2, 0.5]), [0x3F800000, 0]),
    ],
)
def test_ptxplus_values(body: str, values: Any, expected: list[int]) -> None:
    found = ptxplus(body, values, n=7)
    assert [hex(v) for v in found[: len(expected)]] == [hex(v) for v in expected]


@pytest.mark.parametrize(
    ("body", "values", "expected"),
    [
        # Z: result zero; S: sign; the raw register is Z + 2 S + 4 C + 8 O
        ("set.eq.u32.u32 $p0/$o127, $r5, 0x00000003; mov.u32 $r6, $p0;", [3, 4], [2, 1]),
        ("set.lt.f32.f32 $p0/$o127, $r5, 0x00000000; mov.u32 $r6, $p0;", np.float32([-1, 1]), [0, 1]),
        # add: carry out; overflow for signed types only
        ("add.u32 $p0|$o127, $r5, 0x00000001; mov.u32 $r6, $p0;", [0xFFFFFFFF, 0x7FFFFFFF], [1 + 4, 2]),
        ("add.s32 $p0|$o127, $r5, 0x00000001; mov.u32 $r6, $p0;", [0xFFFFFFFF, 0x7FFFFFFF], [1 + 4, 2 + 8]),
        # sub: carry means no borrow, with a minus too, and for b = 0
        ("sub.u32 $p0|$o127, $r5, 0x00000002; mov.u32 $r6, $p0;", [1, 2, 3], [2, 1 + 4, 4]),
        ("add.u32 $p0|$o127, $r5, -$r124; mov.u32 $r6, $p0;", [0, 1], [1 + 4, 4]),
        ("sub.s32 $p0|$o127, $r5, 0x00000001; mov.u32 $r6, $p0;", [0x80000000], [4 + 8]),
        # 16 bits
        ("add.u16 $p0|$r7.lo, $r5.lo, 0x0001; mov.u32 $r6, $p0;", [0xFFFF, 0x7FFF], [1 + 4, 2]),
        ("add.s16 $p0|$r7.lo, $r5.lo, 0x0001; mov.u32 $r6, $p0;", [0xFFFF, 0x7FFF], [1 + 4, 2 + 8]),
        # logic sets no C and O; the smallest integer is not zero
        ("and.b32 $p0|$r7, $r5, 0x80000000; mov.u32 $r6, $p0;", [0x80000001, 1], [2, 1]),
        ("mov.s32 $p0|$r7, $r5; mov.u32 $r6, $p0;", [0x80000000], [2]),
        # a NaN is unordered: Z and S
        ("add.f32 $p0|$r7, $r5, $r124; mov.u32 $r6, $p0;", [0x7FC00000, 0xBF800000, 0], [3, 2, 1]),
        # raw moves
        ("mov.pred $p1, $r5; mov.u32 $r6, $p1;", [0x1B], [0xB]),
        ("mov.pred $p1, $r5; not.pred $p2, $p1; mov.u32 $r6, $p2;", [0x1], [0xE]),
        # truth is Z clear: `and` is true where both are
        (
            "set.eq.u32.u32 $p0/$o127, $r5, 0x1; set.eq.u32.u32 $p1/$o127, $r1, 0x0; and.pred $p2, $p0, $p1;"
            "mov.u32 $r6, 0x0; @$p2 mov.u32 $r6, 0x1;",
            [1, 1],
            [1, 0],
        ),
        ("set.eq.u32.u32 $p0/$o127, $r5, 0x1; selp.u32 $r6, 0xa, 0xb, $p0;", [1, 2], [0xA, 0xB]),
        ("set.eq.u32.u32 $p0/$o127, $r5, 0x1; selp.u32 $r6, 0xa, 0xb, !$p0;", [1, 2], [0xB, 0xA]),
        ("mov.u32 $r6, 0x0; setp.eq.u32 $p0, $r5, 0x1; @$p0.ne mov.u32 $r6, 0x1;", [1, 2], [1, 0]),
    ],
)
def test_ptxplus_condition_codes(body: str, values: Any, expected: list[int]) -> None:
    assert list(ptxplus(body, values)[: len(expected)]) == expected


def test_every_guard_follows_its_truth_table() -> None:
    """All conditions the parser accepts, for the 16 states of a condition-code register."""
    flags = {name: n for n, name in enumerate("ZSCO")}

    def bit(state: int, name: str) -> bool:
        return bool(state >> flags[name] & 1)

    rules = {
        "": lambda z, s, c, o: not z,
        ".lt": lambda z, s, c, o: (s and not z) != o,
        ".eq": lambda z, s, c, o: z and not s,
        ".le": lambda z, s, c, o: not s if o else z != s,
        ".ne": lambda z, s, c, o: not z,
        ".ge": lambda z, s, c, o: s == o,
        ".equ": lambda z, s, c, o: z,
        ".gtu": lambda z, s, c, o: s if o else z == s,
        ".neu": lambda z, s, c, o: not (z and not s),
        ".cf": lambda z, s, c, o: c,
        ".sf": lambda z, s, c, o: s,
        ".nsf": lambda z, s, c, o: not s,
    }
    for suffix, rule in rules.items():
        body = f"mov.pred $p1, $r5; mov.u32 $r6, $r124; @$p1{suffix} mov.u32 $r6, 0x00000001;"
        found = ptxplus(body, np.arange(16, dtype=np.uint32))[:16]
        wanted = [int(bool(rule(*(bit(state, name) for name in "ZSCO")))) for state in range(16)]
        assert list(found) == wanted, suffix


def test_ptxplus_carry_chain_adds_one() -> None:
    body = """
	add.u32 $p0|$r7, $r5, $r5;
	addp.u32 $r6, $r124, 0x00000005, $p0;"""
    assert list(ptxplus(body, [0x80000000, 1])[:2]) == [6, 5]


def test_ptxplus_borrow_chain() -> None:
    # (in + 2^32 * 7) - 2^32 * 3 - 1: the upper word is 4, or 3 after a borrow
    body = """
	sub.u32 $p0|$r7, $r5, 0x00000001;
	mov.u32 $r8, 0x00000003;
	addp.u32 $r6, 0x00000007, -$r8, $p0;"""
    assert list(ptxplus(body, [0, 1])[:2]) == [3, 4]


def test_ptxplus_doubles_in_pairs() -> None:
    # 1.5 + 2.25 * -0.5 = 0.375, whose upper word is 0x3fd80000
    body = """
	mov.u32 $r8, $r124;
	mov.u32 $r9, 0x3ff80000;
	mov.u32 $r10, $r124;
	mov.u32 $r11, 0x40020000;
	mov.u32 $r12, $r124;
	mov.u32 $r13, 0x3fe00000;
	fma.rz.ff64 {$r14,$r15}, {$r10,$r11}, -{$r12,$r13}, {$r8,$r9};
	mov.u32 $r6, $r15;"""
    assert hex(ptxplus(body, [0])[0]) == "0x3fd80000"


def test_ptxplus_fma_rounds_to_zero() -> None:
    # 1 + 2^-53 - 2^-106 is cut to 1 and would be rounded up to 1 + 2^-52 by no other mode but rp
    body = """
	mov.u32 $r8, 0x00000001;
	mov.u32 $r9, 0x3ff00000;
	mov.u32 $r10, 0x00000001;
	mov.u32 $r11, 0x3ca00000;
	fma.rp.ff64 {$r12,$r13}, {$r8,$r9}, {$r10,$r11}, {$r8,$r9};
	fma.rz.ff64 {$r14,$r15}, {$r8,$r9}, {$r10,$r11}, {$r8,$r9};
	add.u32 $r6, $r12, -$r14;"""
    assert ptxplus(body, [0])[0] == 1


def test_ptxplus_calls_and_breaks() -> None:
    """Lanes call a function twice with shared registers, then leave a loop one by one through `break`."""
    body = """
	mov.u32 $r6, $r124;
	callp l_add;
	set.lt.u32.u32 $p0/$o127, $r1, 0x00000010;
	@$p0.ne callp l_add;
	breakaddr l_out;
	l_loop: set.ge.u32.u32 $p1/$o127, $r7, $r1;
	@$p1.ne break;
	add.u32 $r7, $r7, 0x00000001;
	add.u32 $r6, $r6, 0x00000100;
	bra l_loop;
	l_add: add.u32 $r6, $r6, $r5;
	retp;
	l_out: nop;"""
    found = ptxplus(body.replace("$r6, $r124;", "$r6, $r124; mov.u32 $r7, $r124;", 1), [3])
    assert list(found) == [256 * n + (6 if n < 16 else 3) for n in range(32)]


def test_ptxplus_jump_to_a_pc() -> None:
    """The label's name says the address; an address of no instruction is a fault."""
    body = """
	mov.u32 $r7, 0x00000400;
	brx.u32 $r7;
	mov.u32 $r6, 0x00000001;
	l0x00000400: mov.u32 $r6, 0x00000007;"""
    assert ptxplus(body.replace("0x00000001", "0x00000002"), [0])[0] == 7
    with pytest.raises(PtxError, match="target"):
        ptxplus(body.replace("$r7, 0x00000400", "$r7, 0x00000401"), [0])


def test_ptxplus_atomics_and_vote() -> None:
    body = """
	atom.global.add.u32 $r7, [$r3], $r5;
	atom.global.max.u32 _,  [$r3], 0x00000007;
	ld.global.u32 $r6, [$r3];
	set.lt.u32.u32 $p0/$o127, $r1, 0x00000005;
	vote.any $p1, $p0;
	@$p1 add.u32 $r6, $r6, 0x00000100;
	vote.all $p2, $p0;
	@$p2 add.u32 $r6, $r6, 0x00001000;
	vote.any $p3, !$p0;
	@$p3 add.u32 $r6, $r6, 0x00010000;"""
    assert list(ptxplus(body, [3, 9])[:2]) == [0x10107, 0x10109]


def test_ptxplus_shared_memory_and_barrier() -> None:
    """Two warps exchange words through shared memory after the parameters; 0x28 is where they end."""
    body = """
	shl.b32 $ofs1, $r1, 0x00000002;
	mov.u32 s[$ofs1+0x0030], $r5;
	bar.sync 0x00000000;
	mov.u32 $r7, 0x0000003f;
	add.u32 $r7, $r7, -$r1;
	shl.b32 $ofs2, $r7, 0x00000002;
	mov.u32 $r6, s[$ofs2+0x0030];"""
    values = np.arange(64, dtype=np.uint32)
    assert list(ptxplus(body, values, block=64, dynamic_shared=256)) == list(values[::-1])


def test_ptxplus_thread_id_is_packed() -> None:
    text = PTXPLUS.format(body="mov.u32 $r6, $r0;").replace("$r3, s[0x0010], $r2", "$r3, s[0x0010], $r124")
    text = text.replace("$r4, s[0x0018], $r2", "$r4, s[0x0018], $r124")
    text = text.replace("st.global", "set.eq.u32.u32 $p0/$o127, $r0, 0x04010002; @$p0 st.global")
    out = np.zeros(1, np.uint32)
    run(kernel_of(parse(text)), (1,), (3, 2, 2), [out, np.zeros(1, np.uint32), 0])
    assert out[0] == 2 + (1 << 16) + (1 << 26)


def test_ptxplus_local_memory_is_per_thread() -> None:
    body = """
	st.local.u32 [0x0004], $r1;
	mov.u32 $ofs1, 0x00000004;
	ld.local.u32 $r6, [$ofs1+0x0000];"""
    assert list(ptxplus(body, [0])) == list(range(32))


def test_ptxplus_constptr_and_module_variables() -> None:
    text = """.version 1.4+
.target sm_10
.const .u32 constant0[2] = { 0x00000005, 0x00000006 };
.global .b8 total[4];
.const .b8 scale[4];
.constptr scale, constant0, 4;
.entry k ( .param .u64 out )
{
	.reg .u32 $r<4>;
	mov.u32 $r1, constant0[0x0004];
	mov.u32 $r2, total;
	atom.global.add.u32 _, [$r2], $r1;
	ld.global.u32 $r3, [$r2];
	mov.u32 $r2, s[0x0010];
	st.global.u32 [$r2], $r3;
	exit;
}
"""
    out = np.zeros(1, np.uint32)
    run(
        kernel_of(parse(text)),
        (1,),
        (1,),
        [out],
        constants={"scale": np.uint32([40]), "total": np.uint32([2])},
    )
    assert out[0] == 42


# ---- PTX


@pytest.mark.parametrize(
    ("body", "values", "expected"),
    [
        ("mul.hi.s32 %r6, %r5, %r5;", [0x80000000], [0x40000000]),
        ("mad.hi.u32 %r6, %r5, 65536, 1;", [0x30000], [4]),
        ("add.sat.s32 %r6, %r5, 1;", [0x7FFFFFFF], [0x7FFFFFFF]),
        ("div.s32 %r6, %r5, 0;", [7], [0xFFFFFFFF]),
        ("rem.s32 %r6, %r5, 3;", [0xFFFFFFF9], [0xFFFFFFFF]),  # -7 rem 3 = -1
        ("shf.l.wrap.b32 %r6, 0x80000000, %r5, 33;", [1], [3]),
        ("shf.r.clamp.b32 %r6, 5, %r5, 40;", [9], [9]),
        ("bfe.s32 %r6, %r5, 4, 4;", [0x80], [0xFFFFFFF8]),
        ("bfi.b32 %r6, 3, %r5, 8, 2;", [0], [0x300]),
        ("prmt.b32 %r6, %r5, 0x44556677, 0x7541;", [0x00112233], [0x44667722]),
        ("lop3.b32 %r6, %r5, 0xff00, 0xf0f0, 0x96;", [0x1234], [0x1234 ^ 0xFF00 ^ 0xF0F0]),
        ("dp4a.s32.s32 %r6, %r5, 0x01010101, 10;", [0xFF020304], [18]),
        ("add.cc.u32 %r7, %r5, 1; addc.u32 %r6, 0, 0;", [0xFFFFFFFF, 1], [1, 0]),
        ("sub.cc.u32 %r7, %r5, 1; subc.u32 %r6, 5, 0;", [0, 1], [4, 5]),
        # after a subtraction the carry flag says "no borrow"
        ("sub.cc.u32 %r7, %r5, 1; addc.u32 %r6, 0, 0;", [0, 1], [0, 1]),
        ("add.cc.u32 %r7, %r5, 1; subc.u32 %r6, 5, 0;", [0, 0xFFFFFFFF], [4, 5]),
        # 16 bits
        (
            "cvt.u16.u32 %h1, %r5; add.s16 %h2, %h1, 1; cvt.s32.s16 %r6, %h2;",
            [0x17FFF],
            [0xFFFF8000],
        ),
        ("cvt.u16.u32 %h1, %r5; shr.s16 %h2, %h1, 20; cvt.u32.u16 %r6, %h2;", [0x8000], [0xFFFF]),
        ("cvt.sat.s8.s32 %r6, %r5;", [300], [127]),
        ("cvt.rn.f16.f32 %h1, 0f3FC00000; cvt.f32.f16 %f1, %h1; mov.b32 %r6, %f1;", [0], [0x3FC00000]),
        ("mov.b32 {%h1,%h2}, %r5; mov.b32 %r6, {%h2,%h1};", [0x12345678], [0x56781234]),
        ("mov.b64 %d6, {%r5,%r1}; shl.b64 %d6, %d6, 4; mov.b64 {%r7,%r6}, %d6;", [0xF0000000], [0xF]),
        # floating point: directed rounding, saturation, NaN
        (
            "mov.b32 %f1, %r5; add.rz.f32 %f2, %f1, 0f33800000; mov.b32 %r6, %f2;",
            np.float32([1]),
            [0x3F800000],
        ),
        (
            "mov.b32 %f1, %r5; add.rp.f32 %f2, %f1, 0f00000001; mov.b32 %r6, %f2;",
            np.float32([1]),
            [0x3F800001],
        ),
        (
            "mov.b32 %f1, %r5; add.sat.f32 %f2, %f1, %f1; mov.b32 %r6, %f2;",
            np.float32([3, -3]),
            [0x3F800000, 0],
        ),
        ("mov.b32 %f1, %r5; min.f32 %f2, %f1, 0f7FC00000; mov.b32 %r6, %f2;", np.float32([3]), [0x40400000]),
        ("mov.b32 %f1, %r5; mul.ftz.f32 %f2, %f1, 0f3F000000; mov.b32 %r6, %f2;", [0x00800000], [0]),
        ("mov.b32 %f1, %r5; cvt.rzi.u32.f32 %r6, %f1;", np.float32([-3.5, 5e9, np.nan]), [0, 0xFFFFFFFF, 0]),
        (
            "mov.b32 %f1, %r5; setp.neu.f32 %p1, %f1, 0f00000000; selp.b32 %r6, 1, 2, %p1;",
            [0x7FC00000, 0],
            [1, 2],
        ),
        ("mov.b32 %f1, %r5; setp.ne.f32 %p1, %f1, 0f00000000; selp.b32 %r6, 1, 2, %p1;", [0x7FC00000], [2]),
        # predicates: two destinations, logic, guards both ways
        ("setp.lt.and.u32 %p1|%p2, %r5, 3, %p0; selp.b32 %r6, 1, 2, %p2;", [1], [2]),
        (
            "setp.lt.u32 %p1, %r5, 3; mov.u32 %r6, 0; @!%p1 mov.u32 %r6, 9; @%p1 add.s32 %r6, %r6, 1;",
            [2, 3],
            [1, 9],
        ),
        ("setp.eq.u32 %p1, %r5, 3; xor.pred %p2, %p1, !%p1; selp.b32 %r6, 7, 8, %p2;", [3], [7]),
        # warps
        ("shfl.sync.down.b32 %r6|%p1, %r1, 4, 31, -1; @!%p1 mov.u32 %r6, 99;", [0], [4, 5, 6]),
        ("setp.lt.u32 %p1, %r1, 8; vote.sync.ballot.b32 %r6, %p1, -1;", [0], [0xFF]),
        ("and.b32 %r7, %r1, 1; match.any.sync.b32 %r6, %r7, -1;", [0], [0x55555555, 0xAAAAAAAA]),
        ("redux.sync.add.u32 %r6, %r1, -1;", [0], [496]),
        # each half of the warp with its own mask: 0 + ... + 15, 16 + ... + 31
        (
            "setp.lt.u32 %p1, %r1, 16; selp.b32 %r7, 0xffff, 0xffff0000, %p1; redux.sync.add.u32 %r6, %r1, %r7;",
            [0],
            [120] * 16 + [376] * 16,
        ),
        ("elect.sync %r6|%p1, -1; @%p1 add.s32 %r6, %r6, 100;", [0], [100, 0]),
        ("activemask.b32 %r6;", [0], [0xFFFFFFFF]),
        # special registers
        ("mov.u32 %r6, %laneid;", [0], [0, 1, 2]),
        ("mov.u32 %r6, %lanemask_lt;", [0], [0, 1, 3]),
        ("mov.u32 %r6, WARP_SZ;", [0], [32]),
        ("mov.u32 %r6, %nsmid; mov.u32 %r7, %nwarpid; mad.lo.s32 %r6, %r6, 100, %r7;", [0], [1448]),
        # indirect jumps
        (
            "ts: .branchtargets A, B, C; brx.idx %r5, ts;"
            "A: mov.u32 %r6, 10; bra D; B: mov.u32 %r6, 11; bra D; C: mov.u32 %r6, 12; D:",
            [0, 1, 2],
            [10, 11, 12],
        ),
    ],
)
def test_ptx_values(body: str, values: Any, expected: list[int]) -> None:
    found = ptx(body, values)
    assert [hex(v) for v in found[: len(expected)]] == [hex(v) for v in expected]


def test_generic_addresses_of_all_spaces() -> None:
    """A shared, a local, a constant and a global word through generic loads; lanes 0 to 3 use one each."""
    module = ".const .align 4 .u32 c[2] = {7, 8};\n.global .align 4 .u32 g[1] = {9};"
    declarations = ".shared .align 4 .b8 sh[128];\n\t.local .align 4 .b8 lo[16];"
    body = """
	mov.u32 %r7, sh;
	shl.b32 %r8, %r1, 2;
	add.s32 %r7, %r7, %r8;
	st.shared.u32 [%r7], %r1;
	st.local.u32 [lo+4], 55;
	mov.u64 %d6, sh;
	cvta.shared.u64 %d6, %d6;
	setp.eq.s32 %p1, %r1, 1;
	@%p1 mov.u64 %d7, lo;
	@%p1 cvta.local.u64 %d6, %d7;
	@%p1 add.s64 %d6, %d6, 4;
	setp.eq.s32 %p2, %r1, 2;
	@%p2 mov.u64 %d7, c;
	@%p2 cvta.const.u64 %d6, %d7;
	@%p2 add.s64 %d6, %d6, 4;
	setp.eq.s32 %p3, %r1, 3;
	@%p3 mov.u64 %d7, g;
	@%p3 cvta.global.u64 %d6, %d7;
	ld.u32 %r6, [%d6];
	isspacep.shared %p4, %d6;
	@%p4 add.s32 %r6, %r6, 1000;"""
    found = ptx(body, [0], module=module, declarations=declarations)
    assert list(found[:5]) == [1000, 55, 8, 9, 1000]


def test_vectors_and_narrow_memory() -> None:
    body = """
	ld.global.v4.u8 {%h1,%h2,%h3,%h4}, [%d5];
	cvt.u32.u16 %r6, %h3;
	ld.global.s8 %r7, [%d5+3];
	shl.b32 %r7, %r7, 8;
	or.b32 %r6, %r6, %r7;"""
    assert hex(ptx(body, [0x80123456])[0]) == "0xffff8012"


def test_atomics_of_all_kinds() -> None:
    cases = {
        "add.u32": (5, 5 + 32 * 3),
        "min.s32": (0xFFFFFFFE, 0xFFFFFFFE),
        "max.u32": (2, 3),
        "exch.b32": (5, 3),
        "inc.u32": (0, 0),  # 32 lanes count 0 1 2 3 0 1 2 3 ...
        "dec.u32": (0, 0),
        "xor.b32": (1, 1),
    }
    for name, (start, expected) in cases.items():
        body = f"atom.global.{name} %r7, [%d2], 3; bar.sync 0; ld.global.u32 %r6, [%d2];"
        assert ptx(body, [start])[0] == expected, name
    body = "atom.global.cas.b32 %r7, [%d5], 4, 9; ld.global.u32 %r6, [%d5]; shl.b32 %r7, %r7, 8; or.b32 %r6, %r6, %r7;"
    assert list(ptx(body, [4, 5])[:2]) == [0x409, 0x505]
    body = "atom.global.add.f32 %f1, [%d2], 0f3F000000; bar.sync 0; ld.global.u32 %r6, [%d2];"
    assert ptx(body, np.float32([1]))[0] == np.float32([17]).view(np.uint32)[0]


def test_conversions_of_64_bit_integers_round_once() -> None:
    # 2^63 + 2^39 + 1 lies just above the middle of two f32; through f64 it would be the middle, and round to even
    body = """
	mov.u64 %d6, 0x8000008000000001;
	cvt.rn.f32.u64 %f1, %d6;
	mov.b32 %r6, %f1;"""
    assert hex(ptx(body, [0])[0]) == "0x5f000001"


def test_loops_and_divergence() -> None:
    body = """
	mov.u32 %r6, 0;
	mov.u32 %r7, 0;
LOOP:
	setp.ge.u32 %p1, %r7, %r1;
	@%p1 bra DONE;
	and.b32 %r8, %r7, 1;
	setp.eq.u32 %p2, %r8, 0;
	@%p2 bra EVEN;
	add.s32 %r6, %r6, 100;
	bra NEXT;
EVEN:
	add.s32 %r6, %r6, 1;
NEXT:
	add.s32 %r7, %r7, 1;
	bra LOOP;
DONE:"""
    assert list(ptx(body, [0])) == [100 * (n // 2) + (n + 1) // 2 for n in range(32)]


# ---- faults and refusals


def fault(body: str, values: Any = (0,), block: int = 32) -> PtxError:
    with pytest.raises(PtxError) as caught:
        ptx(body, values, block=block)
    return caught.value


def test_out_of_bounds_names_the_place_and_stores_nothing() -> None:
    given, out = np.zeros(8, np.uint32), np.zeros(8, np.uint32)
    kernel = kernel_of(parse(PTX.format(body="mov.u32 %r6, 1;", module="", declarations="")))
    with pytest.raises(PtxError) as caught:
        run(kernel, (1,), (16,), [out, given, 0])
    message = str(caught.value)
    assert "E404" in message
    assert "'ld.global.u32 %r5, [%d5];'" in message
    assert "thread (8,0,0)" in message
    assert not out.any()


def test_misaligned_access() -> None:
    error = fault("ld.global.u32 %r6, [%d2+2];")
    assert error.diagnostics[0].code == "E405"


def test_null_and_freed_addresses_fault() -> None:
    assert fault("mov.u64 %d6, 0; ld.global.u32 %r6, [%d6];").diagnostics[0].code == "E404"
    assert fault("ld.shared.u32 %r6, [4096];").diagnostics[0].code == "E404"


def test_a_warp_that_ended_holds_up_no_barrier() -> None:
    body = "mov.u32 %r6, 3; setp.lt.u32 %p1, %r1, 32; @%p1 ret; bar.sync 0;"
    found = ptx(body, [0], block=64)
    assert list(found) == [0] * 32 + [3] * 32


def test_everything_unsupported_is_reported_before_the_start() -> None:
    body = "mov.u32 %r6, %pm0; fence.proxy.generic::fabric.alias.acquire.sys; mov.u32 %r6, %pm0;"
    error = fault(body)
    assert [d.code for d in error.diagnostics] == ["E403", "E403"]
    assert "'%pm0'" in str(error)
    assert "'fence.proxy.generic::fabric.alias.acquire.sys'" in str(error)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([np.zeros(4, np.uint32)], "takes 3 arguments, not 1"),
        ([np.zeros(4, np.uint32), np.zeros(4, np.uint32), np.zeros(4)], "an array for a number"),
        ([np.zeros(4, np.uint32), np.zeros(4, np.uint32), 1.5], "1.5 is no whole number"),
        ([np.zeros(4, np.uint32), np.zeros(4, np.uint32), 1 << 32], "does not fit 32 bits"),
        ([np.zeros((4, 4), np.uint32).T, np.zeros(4, np.uint32), 1], "not C-contiguous"),
        ([np.zeros(4, np.uint32), "text", 1], "neither a number nor a numpy array"),
    ],
)
def test_wrong_arguments(args: list[Any], message: str) -> None:
    kernel = kernel_of(parse(PTX.format(body="mov.u32 %r6, 1;", module="", declarations="")))
    with pytest.raises(PtxError) as caught:
        run(kernel, (1,), (4,), args)
    assert caught.value.diagnostics[0].code == "E401"
    assert message in str(caught.value)


def test_read_only_arrays_are_refused() -> None:
    kernel = kernel_of(parse(PTX.format(body="mov.u32 %r6, 1;", module="", declarations="")))
    frozen = np.zeros(4, np.uint32)
    frozen.flags.writeable = False
    with pytest.raises(PtxError, match="read-only"):
        run(kernel, (1,), (4,), [frozen, np.zeros(4, np.uint32), 1])


def test_an_array_passed_twice_is_one_buffer() -> None:
    both = np.arange(32, dtype=np.uint32)
    kernel = kernel_of(parse(PTX.format(body="add.s32 %r6, %r5, 1;", module="", declarations="")))
    run(kernel, (1,), (32,), [both, both, 0])
    assert list(both) == list(range(1, 33))


@pytest.mark.slow
def test_uncompiled_runs_give_the_same() -> None:
    """The programs of this file once more without the compiler: expressions must not rely on wrap-around."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    selected = "ptxplus or ptx_values or generic or atomics or loops or conversions"
    command = [sys.executable, "-m", "pytest", "-k", selected, "-p", "no:cacheprovider", __file__]
    root = CHECKOUT
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
