"""Which definitions may be written again anywhere."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.flow.constant_definitions import constant_definitions
from ptxtool.ir.defuse import def_use
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse


def constants(function: Function) -> str:
    """The names of the registers that are constant, in textual order."""
    return " ".join(
        function.registers[k].name for k in constant_definitions(function, def_use(function)).values()
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mov.u32 %r1, 7; mov.f32 %f1, 0f3f800000; mov.b64 %rd1, -1;", "%r1 %f1 %rd1"),
        ("mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %laneid; mov.u32 %r4, WARP_SZ;", "%r1 %r2 %r3 %r4"),
        ("mov.u32 %r1, %clock; mov.u32 %r2, %warpid; mov.u32 %r3, %smid; mov.u64 %rd1, %globaltimer;", ""),
        ("ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [a+4];", "%rd1 %r1"),
        ("ld.param.u64 %rd1, [a]; cvta.to.global.u64 %rd2, %rd1; add.u64 %rd3, %rd2, 8;", "%rd1 %rd2 %rd3"),
        ("ld.global.u64 %rd1, [a]; cvta.to.global.u64 %rd2, %rd1;", ""),
        ("ld.param.v2.u32 {%r1, %r2}, [a];", ""),
        (".shared .b32 t; mov.u32 %r1, t;", "%r1"),
        (".shared .b32 t; { .shared .b32 t; mov.u32 %r1, t; }", ""),
        ("mov.u32 %r1, 7; mov.u32 %r1, 7;", ""),
        ("@%p1 mov.u32 %r1, 7;", ""),
        ("mov.u32 %r1, 7; @%p1 mov.u32 %r1, 8;", ""),
        ("mov.u32 %r1, 7; add.u32 %r2, %r1, %r3;", "%r1"),
        ("mov.u32 %r1, 7; add.u32 %r2, %r1, %r1; add.u32 %r2, %r2, 1;", "%r1"),
        ("mov.u32 %r1, 7; add.cc.u32 %r2, %r1, 1; addc.u32 %r3, %r1, 1;", "%r1"),
        ("add.u32 %r1, %r1, 1;", ""),
        ("setp.eq.u32 %p1, 1, 2; vote.sync.any.pred %p2, %p1, -1;", ""),
        ("mov.b32 {%h1, %h2}, 7; mov.b32 %r1, {%h1, %h2};", ""),
    ],
)  # fmt: skip
def test_ptx(body: str, expected: str) -> None:
    assert constants(ptx(body + " exit;")) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mov.u32 $r1, 0x00000007; mov.u32 $r2, %ntid.x; add.u32 $r3, $r1, $r124;", "$r1 $r2 $r3"),
        ("mov.u32 $r1, s[0x0010]; mov.u32 $r2, -s[0x0010]; mov.u32 $r3, constant0[0x0000];", ""),
        ("mov.u16 $r1.lo, %ntid.x;", ""),
        ("mov.u32 $r1, %clock; mov.exit.u32 $r2, 0x00000001;", ""),
    ],
)
def test_ptxplus(body: str, expected: str) -> None:
    assert constants(ptxplus(body + " exit;", ".reg .u32 $r<9>; .reg .u32 $r124;")) == expected


def test_only_parameters_of_kernels_stay() -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    text = (
        head
        + ".func f (.param .u32 a, .reg .u32 b) { .reg .u32 %r<3>; ld.param.u32 %r1, [a]; mov.u32 b, 7; ret; }"
    )
    assert constants(parse(text).functions["f"]) == ""
