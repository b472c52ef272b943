"""Integer arithmetic: carries and borrows, PTXPlus's flags of a sum, products, bit fields; refusals."""

import pytest
from small_lowering import PTX, PTXPLUS, constant, fields, lowered, refusal, steps
from three_ways import words

from ptxsim.execute.codes import PREDICATE


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # a borrow goes on as in the hardware: the flag means "no borrow", and an addition may read it
        ("sub.cc.u32 %r7, 5, 3; addc.u32 %r6, 10, 0;", 11),
        ("sub.cc.u32 %r7, 3, 5; addc.u32 %r6, 10, 0;", 10),
        ("sub.cc.u32 %r7, 3, 5; subc.u32 %r6, 10, 4;", 5),
        ("add.cc.u32 %r7, 0xFFFFFFFF, 1; madc.lo.u32 %r6, 3, 4, 5;", 18),
        # an instruction without `.cc` leaves the flag as it was
        ("add.cc.u32 %r7, 0xFFFFFFFF, 1; addc.u32 %r7, 0, 0; addc.u32 %r6, 0, 0;", 1),
        # the carry out of the second of two sums counts too: 0xFFFFFFFF + 0 + 1
        ("add.cc.u32 %r7, 0xFFFFFFFF, 1; addc.cc.u32 %r7, 0xFFFFFFFF, 0; addc.u32 %r6, 0, 0;", 1),
    ],
)
def test_the_carry_flag(body: str, expected: int) -> None:
    assert words(body, 1) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mul.lo.u32 %r1, %r2, %r3;", ["mul_u32"]),  # one micro-operation, without a move
        ("mul.wide.s32 %rd1, %r2, %r3;", ["mulwide_s32"]),
        ("mad.wide.u32 %rd1, %r2, %r3, %rd2;", ["madwide_u32"]),
        ("mad.hi.s32 %r1, %r2, %r3, %r4;", ["mulhi_s32", "add_u32"]),
        ("mul.lo.u64 %rd1, %rd2, %rd3;", ["mul_u64", "mov_u64"]),
        ("mul.hi.u16 %h1, %h2, %h3;", ["mul_u32", "high16_u32", "mov_u32", "zext16_u32"]),
        ("not.b64 %rd1, %rd2;", ["not_u64"]),
        ("bfind.shiftamt.s32 %r1, %r2;", ["bfindshift_s32"]),
    ],
)
def test_lane_operations(text: str, expected: list[str]) -> None:
    assert steps(lowered(text)) == expected


def test_a_minus_makes_ptxplus_subtract() -> None:
    """a - b is the sum of a, the complement of b and one, whose carry means "no borrow"."""
    program = lowered("add.u32 $p1|$r1, $r2, -$r3;", PTXPLUS)
    assert steps(program)[:3] == ["not_u32", "add_u32", "add_u32"]
    carry = steps(program).index("carry3_u32")
    assert constant(program, fields(program, "c")[carry]) == 1
    assert steps(program)[-2:] == [PREDICATE, PREDICATE]  # C and O


def test_a_product_of_ptxplus_halves_fills_a_whole_register() -> None:
    whole = lowered("mul.lo.u16 $r1, $r2.lo, $r3.lo;", PTXPLUS)
    assert steps(whole)[-1] == "mov_u32"
    half = lowered("mul.lo.u16 $r1.lo, $r2.lo, $r3.lo;", PTXPLUS)
    assert steps(half)[-1] == "merge_low_u32"
    as_gpgpu_sim = lowered("mul.lo.u16 $r1, $r2.lo, $r3.lo;", PTXPLUS, ptxplus_semantics="gpgpu-sim")
    assert steps(as_gpgpu_sim)[-1] == "zext16_u32"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("shf.l.wrap.b32 %r6, 0x80000000, 1, 33;", 3),  # by 1
        ("shf.l.clamp.b32 %r6, 0x80000000, 1, 33;", 0x80000000),  # by 32: the lower word
        ("shf.r.clamp.b32 %r6, 0x80000000, 1, 40;", 1),
        ("bmsk.clamp.b32 %r6, 4, 40;", 0xFFFFFFF0),
        ("bmsk.wrap.b32 %r6, 4, 36;", 0x000000F0),
        ("szext.wrap.s32 %r6, 0x0000000F, 36;", 0xFFFFFFFF),  # 4 bits
        ("lop3.b32 %r6, 12, 10, 6, 0xE8;", 14),  # majority
        ("max.s32.relu %r6, -7, -5;", 0),
    ],
)
def test_counts_beyond_32_and_functions_of_bits(body: str, expected: int) -> None:
    assert words(body, 1) == [expected]


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        ("lop3.b32 %r1, %r2, %r3, %r4, %r5;", PTX, "a truth table that is no number"),
        ("addp.u32 $r1, $r2, $r3, $r4;", PTXPLUS, "a carry that is no condition-code register"),
    ],
)
def test_what_is_refused(body: str, text: str, reason: str) -> None:
    assert refusal(body, text) == reason
