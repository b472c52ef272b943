"""Video instructions by hand: parts of words, saturation, what is merged and what is summed up."""

import pytest
from small_lowering import lowered, steps
from three_ways import words

A, B, C = 0x80FF7F01, 0x01020304, 0xAABBCCDD
MOVES = f"mov.b32 %r10, {A}; mov.b32 %r11, {B}; mov.b32 %r12, {C};"


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        # byte 3 of A is -128, byte 0 of B is 4
        ("vadd.s32.s32.u32 %r6, %r10.b3, %r11.b0;", 0xFFFFFF84),
        ("vadd.s32.u32.u32 %r6, %r10.b3, %r11.b0;", 132),
        ("vadd.s32.s32.s32 %r6, %r10.h1, %r11.h0;", 0xFFFF8403),  # 0x80FF - 2^16 + 0x0304
        ("vsub.u32.u32.u32.sat %r6, %r11.b0, %r10.b3;", 0),
        ("vabsdiff.u32.u32.u32 %r6, %r11.b0, %r10.b3;", 124),
        # a secondary operation with c, or a part of it replaced
        ("vadd.u32.u32.u32.add %r6, %r10.b0, %r11.b1, %r12;", 0xAABBCCE1),
        ("vadd.u32.u32.u32 %r6.b2, %r10.b0, %r11.b1, %r12;", 0xAA04CCDD),
        ("vadd.u32.u32.u32.sat %r6.b2, %r10.b3, %r10.b2, %r12;", 0xAAFFCCDD),
        ("vset.u32.u32.gt %r6, %r10.b3, %r11.b0;", 1),
        ("vset.s32.s32.gt %r6, %r10.b3, %r11.b0;", 0),
        ("vshl.u32.u32.u32.wrap %r6, %r11.b0, 33;", 8),
        ("vshl.u32.u32.u32.clamp %r6, %r11.b0, 33;", 0),
        ("vshl.u32.u32.u32.sat.clamp %r6, %r11.b0, 31;", 0xFFFFFFFF),
        ("vshr.s32.s32.u32.clamp %r6, %r10, 40;", 0xFFFFFFFF),
        # 255 * 2 + c, shifted to the right by 7; a and b with different signs
        ("vmad.u32.u32.u32.shr7 %r6, %r10.b2, %r11.b2, 100;", 4),
        ("vmad.s32.u32.u32 %r6, -%r10.b2, %r11.b2, 100;", 0xFFFFFE66),
        ("vmad.u32.u32.u32.po %r6, %r10.b2, %r11.b2, 100;", 611),
    ],
)
def test_one_value(instruction: str, expected: int) -> None:
    assert words(MOVES + instruction, 1) == [expected]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        # bytes of A, signed: 1, 127, -1, -128; of B: 4, 3, 2, 1
        ("vadd4.s32.s32.s32.sat %r6, %r10, %r11, %r12;", 0x81017F05),
        ("vadd4.s32.s32.s32 %r6.b10, %r10, %r11, %r12;", 0xAABB8205),
        ("vadd2.u32.u32.u32 %r6, %r10, %r11, %r12;", 0x82018205),
        # the halves of A exchanged
        ("vadd2.u32.u32.u32 %r6, %r10.h01, %r11, %r12;", 0x80038403),
        ("vabsdiff4.u32.u32.u32.add %r6, %r10, %r11, %r12;", C + 127 + 253 + 124 + 3),
        ("vavrg4.s32.s32.s32 %r6, %r10, %r11, %r12;", 0xC0014103),
        ("vset4.s32.s32.lt.add %r6, %r10, %r11, %r12;", C + 3),
    ],
)
def test_several_values(instruction: str, expected: int) -> None:
    assert words(MOVES + instruction, 1) == [expected]


def test_sources_of_one_value_meet_in_64_bits() -> None:
    assert "add_u64" in steps(lowered("vadd.u32.u32.u32 %r1, %r2, %r3;"))
    assert "add_u64" not in steps(lowered("vadd2.u32.u32.u32 %r1, %r2, %r3, %r4;"))
