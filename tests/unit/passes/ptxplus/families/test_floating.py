"""Floating-point arithmetic: roundings, approximations, limits, signs of doubles; what is refused."""

import pytest
from ptxplus_selection import HEAD, kernel, refusals, virtual


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("rcp.rn.f32 %f1, %f2;", ["rcp.rn.f32 $v0, $v1;"]),
        ("rcp.approx.f32 %f1, %f2;", ["rcp.f32 $v0, $v1;"]),
        ("rcp.approx.ftz.f32 %f1, %f2;", ["rcp.approx.ftz.f32 $v0, $v1;"]),
        ("sqrt.approx.f32 %f1, %f2;", ["sqrt.approx.f32 $v0, $v1;"]),
        ("div.full.f32 %f1, %f2, %f3;", ["div.full.f32 $v0, $v1, $v2;"]),
        ("add.rn.f32 %f1, %f2, %f3;", ["add.f32 $v0, $v1, $v2;"]),
        ("add.rz.f32 %f1, %f2, %f3;", ["add.rz.f32 $v0, $v1, $v2;"]),
        ("fma.rn.ftz.f32 %f1, %f2, %f3, %f1;", ["fma.rn.ftz.f32 $v0, $v1, $v2, $v0;"]),
        # NaN is 0: it is the smaller operand of `max`
        (
            "mul.sat.f32 %f1, %f2, %f3;",
            ["mul.f32 $v3, $v1, $v2;", "max.f32 $v4, $v3, 0x00000000;", "min.f32 $v0, $v4, 0x3f800000;"],
        ),
    ],
)
def test_single(code: str, expected: list[str]) -> None:
    assert virtual(code) == [*expected, "exit;"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("neg.f64 %x1, %x2;", "xor.b32 $v1, $v3, 0x80000000;"),
        ("abs.f64 %x1, %x2;", "and.b32 $v1, $v3, 0x7fffffff;"),
        ("fma.rn.f64 %x1, %x2, %x2, %x2;", "fma.rn.ff64 {$v0,$v1}, {$v2,$v3}, {$v2,$v3}, {$v2,$v3};"),
        ("rcp.rn.f64 %x1, %x2;", "div.ff64 {$v0,$v1}, {$v4,$v5}, {$v2,$v3};"),
    ],
)
def test_double(code: str, expected: str) -> None:
    found = virtual(f"{code} st.global.f64 [%d1], %x1;")
    assert expected in found
    if code.startswith("rcp"):  # 1.0 is the bits 0x3ff00000 of the high word
        assert found[:2] == ["mov.u32 $v4, 0x00000000;", "mov.u32 $v5, 0x3ff00000;"]


def test_the_sign_of_one_and_the_size_of_the_other() -> None:
    found = virtual("copysign.f32 %f1, %f2, %f3;")
    assert found[:3] == [
        *("and.b32 $v2, $v0, 0x80000000;", "and.b32 $v3, $v1, 0x7fffffff;"),
        "or.b32 $v5, $v2, $v3;",
    ]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("add.f16 %h1, %h2, %h3;", "PTXPlus has no arithmetic on '.f16'"),
        ("mul.rp.f32 %f1, %f2, %f3;", "PTXPlus does not round 'mul' with '.rp'"),
        ("div.rz.f64 %x1, %x2, %x3;", "PTXPlus does not round 'div' of f64 towards zero"),
        ("rsqrt.approx.f64 %x1, %x2;", "PTXPlus has no 'rsqrt.approx.f64'"),
    ],
)
def test_refused(code: str, reason: str) -> None:
    assert refusals(HEAD + kernel(f"{code}\nst.global.f64 [%d1], %x1;"))[0] == (7, reason)
