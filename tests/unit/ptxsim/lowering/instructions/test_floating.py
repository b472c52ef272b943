"""Floating-point arithmetic: how each width and rounding is computed so that it is rounded once."""

import pytest
from small_lowering import constant, fields, lowered, steps
from three_ways import words

from ptxsim.execute.arithmetic import DOWN, TO_ODD


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add.f32 %f1, %f2, %f3;", ["add_f32"]),
        ("fma.rn.f64 %fd1, %fd2, %fd3, %fd1;", ["fma_f64"]),
        # a product of two halves is exact in f64
        ("mul.f16 %h1, %h2, %h3;", ["h2d", "h2d", "mul_f64", "d2h", "zext16_u32"]),
        # a bf16 is the upper half of an f32
        ("mul.bf16 %h1, %h2, %h3;", ["shl_u32", "f2d", "shl_u32", "f2d", "mul_f64", "d2b", "zext16_u32"]),
        # the error of the sum in f64 rounds it to odd, so that rounding again is right
        ("add.rz.f32 %f1, %f2, %f3;", ["f2d", "f2d", "add_f64", "add_error", "adjust", "d2f_rz"]),
        ("mul.rz.f32 %f1, %f2, %f3;", ["f2d", "f2d", "mul_f64", "d2f_rz"]),
        ("sub.f32 %f1, %f2, %f3;", ["sub_f32"]),
        ("sub.rz.f32 %f1, %f2, %f3;", ["neg_f32", "f2d", "f2d", "add_f64", "add_error", "adjust", "d2f_rz"]),
    ],
)
def test_one_rounding(text: str, expected: list[str]) -> None:
    assert steps(lowered(text)) == expected


def test_f64_is_adjusted_by_its_error_in_the_direction_asked_for() -> None:
    program = lowered("mul.rm.f64 %fd1, %fd2, %fd3;")
    assert steps(program) == ["mul_f64", "mul_error", "adjust", "mov_u64"]
    assert fields(program, "e")[2] == DOWN
    program = lowered("fma.rp.f32 %f1, %f2, %f3, %f4;")
    assert fields(program, "e")[steps(program).index("adjust")] == TO_ODD


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # rounded down, a sum of 1 and -1 is -0, and to any other side +0
        ("add.rm.f32 %f1, 0f3F800000, 0fBF800000;", 0x80000000),
        ("add.rz.f32 %f1, 0f3F800000, 0fBF800000;", 0x00000000),
        # 1 + 2^-30, up and down
        ("add.rp.f32 %f1, 0f3F800000, 0f30800000;", 0x3F800001),
        ("add.rm.f32 %f1, 0f3F800000, 0f30800000;", 0x3F800000),
        # the largest number, doubled
        ("mul.rz.f32 %f1, 0f7F7FFFFF, 0f40000000;", 0x7F7FFFFF),
        ("mul.rn.f32 %f1, 0f7F7FFFFF, 0f40000000;", 0x7F800000),
        # subnormals are zero with their sign; a NaN saturates to +0
        ("mul.ftz.f32 %f1, 0f80000001, 0f40000000;", 0x80000000),
        ("add.sat.f32 %f1, 0f7FC00000, 0f3F800000;", 0x00000000),
        # 1 / 2^127 is subnormal: div.approx takes it as zero, a full division does not
        ("div.approx.f32 %f1, 0f7F000000, 0f7F000000;", 0x00000000),
        ("div.full.f32 %f1, 0f7F000000, 0f7F000000;", 0x3F800000),
    ],
)
def test_values_of_f32(body: str, expected: int) -> None:
    assert words(f"{body} mov.b32 %r6, %f1;", 1) == [expected]


def test_ftz_flushes_f32_and_f16_not_bf16() -> None:
    assert "flush_f16" in steps(lowered("mul.ftz.f16 %h1, %h2, %h3;"))
    assert [step for step in steps(lowered("ex2.approx.ftz.bf16 %h1, %h2;")) if step == "flush_bf16"] == []


@pytest.mark.parametrize(
    ("text", "operation", "mask"),
    [
        ("neg.f16 %h1, %h2;", "xor_u32", 0x8000),
        ("neg.f16x2 %r1, %r2;", "xor_u32", 0x80008000),
        ("abs.bf16x2 %r1, %r2;", "andn_u32", 0x80008000),
    ],
)
def test_signs_of_halves_are_bits(text: str, operation: str, mask: int) -> None:
    program = lowered(text)
    assert steps(program)[0] == operation
    assert constant(program, fields(program, "b")[0]) == mask
