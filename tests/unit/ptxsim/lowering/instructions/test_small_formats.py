"""Conversions of small formats, by hand from the tables of OCP: which element is which, random bits, scale factors."""

import pytest
from small_lowering import builder, constant, fields, lowered, steps
from three_ways import words

from ptxsim.execute.small_floats import ONE_NAN, STOCHASTIC
from ptxsim.lowering.instructions.floating import MODES
from ptxsim.lowering.instructions.small_formats import to_format


def test_a_format_is_one_number() -> None:
    """e4m3: 3 bits of mantissa, 4 of exponent, one NaN; rounded down, saturated, with 8 random bits."""
    b = builder()
    to_format(b, 0, "e4m3", MODES["rm"], satfinite=True, noise=(3, 8))
    assert b.uops[-1][-1] == 3 | 4 << 4 | MODES["rm"] << 8 | ONE_NAN << 11 | 1 << 13 | 8 << 14
    assert b.uops[-1][3] == 3


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # the first source becomes the upper element: 1 and 2
        ("cvt.rn.f16x2.f32 %r6, 0f3F800000, 0f40000000;", 0x3C004000),
        ("cvt.rn.bf16x2.f32 %r6, 0f3F800000, 0f40000000;", 0x3F804000),
        ("cvt.rn.relu.f16x2.f32 %r6, 0fBF800000, 0f40000000;", 0x00004000),
        # a tf32 lies in the upper 19 bits: 1 + 2^-11 is halfway, away from zero
        ("cvt.rna.tf32.f32 %r6, 0f3F801000;", 0x3F802000),
    ],
)
def test_pairs_and_tf32(body: str, expected: int) -> None:
    assert words(body, 1) == [expected]


@pytest.mark.parametrize(
    ("instruction", "source", "expected"),
    [
        # 1.5 in e4m3 is 0 0111 100
        ("cvt.rn.f16x2.e4m3x2 %r6, %h1;", 0x3CBC, 0x3E00BE00),
        ("cvt.rn.f16x2.e5m2x2 %r6, %h1;", 0x7C01, 0x7C000100),  # infinity; the smallest, 2^-16
    ],
)
def test_bytes_to_halves(instruction: str, source: int, expected: int) -> None:
    assert words(f"mov.b16 %h1, {source}; {instruction}", 1) == [expected]


def test_random_bits_of_each_element() -> None:
    """Of two halves 13 bits of each half of `rbits`, of four bytes a byte each."""
    program = lowered("cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;")
    shifts = [k for k, step in enumerate(steps(program)) if step == "shr_u32"]
    assert [constant(program, fields(program, "b")[k]) for k in shifts] == [0, 16]
    masks = [k for k, step in enumerate(steps(program)) if step == "and_u32"]
    assert [constant(program, fields(program, "b")[k]) for k in masks] == [0x1FFF, 0x1FFF]
    program = lowered("cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;")
    shifts = [k for k, step in enumerate(steps(program)) if step == "shr_u32"]
    assert [constant(program, fields(program, "b")[k]) for k in shifts] == [0, 8, 16, 24]
    formats = [fields(program, "e")[k] for k, step in enumerate(steps(program)) if step == "d2x"]
    assert {form >> 8 & 7 for form in formats} == {STOCHASTIC}


@pytest.mark.parametrize(
    ("rounding", "source", "expected"),
    [
        ("rz", 0x3FC00000, 127),  # 1.5
        ("rp", 0x3FC00000, 128),
        ("rp", 0x3F800000, 127),  # 1 is a power of two
        ("rp", 0x00400000, 0),  # 2^-127, the smallest one
        ("rp", 0x00400001, 1),
        ("rz", 0x7F800000, 254),  # with .satfinite
        ("rp", 0xFFC00000, 255),  # a NaN
    ],
)
def test_scale_factors(rounding: str, source: int, expected: int) -> None:
    body = f"""mov.b32 %f1, {source}; mov.b32 %f2, 0;
	cvt.{rounding}.satfinite.ue8m0x2.f32 %h1, %f1, %f2; cvt.u32.u16 %r6, %h1; shr.u32 %r6, %r6, 8;"""
    assert words(body, 1) == [expected]


def test_scale_factors_as_halves() -> None:
    """127 is 1; 0 is 2^-127, a subnormal; 255 is a NaN."""
    for source, expected in ((0x7F00, 0x3F800040), (0xFF80, 0x7FFF4000)):
        assert words(f"mov.b16 %h1, {source}; cvt.rn.bf16x2.ue8m0x2 %r6, %h1;", 1) == [expected]
