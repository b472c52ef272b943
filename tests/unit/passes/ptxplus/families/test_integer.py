"""Integer arithmetic of up to 32 bits: what the dialect lacks, by what its code computes; what is refused."""

import pytest
from ptxplus_selection import HEAD, computed, kernel, refusals


@pytest.mark.parametrize("table", range(0, 256, 3))
def test_functions_of_three_bits(table: int) -> None:
    """PTX ISA, lop3: the table is the function of 0xF0, 0xCC and 0xAA."""
    assert computed(f"lop3.b32 %r0, %r1, %r2, %r3, {table};", "%r0", 0xF0, 0xCC, 0xAA) & 0xFF == table


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("shf.l.wrap.b32 %r0, %r1, %r2, 36;", 0x2345678A),
        ("shf.l.clamp.b32 %r0, %r1, %r2, 36;", 0xABCDEF01),
        ("shf.r.wrap.b32 %r0, %r1, %r2, 36;", 0x8ABCDEF0),
        ("shf.r.clamp.b32 %r0, %r1, %r2, 36;", 0x12345678),
        ("shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 0x2345678A),
        ("shf.r.clamp.b32 %r0, %r1, %r2, %r3;", 0x12345678),
        ("shf.l.wrap.b32 %r0, %r1, %r2, 0;", 0x12345678),
        ("bmsk.clamp.b32 %r0, 4, 8;", 0x00000FF0),
        ("bmsk.clamp.b32 %r0, 4, 40;", 0xFFFFFFF0),
        ("bmsk.wrap.b32 %r0, 36, 40;", 0x00000FF0),
        ("bfind.u32 %r0, %r2;", 28),
        ("bfind.s32 %r0, %r1;", 30),  # the highest bit that is not the sign
        ("bfind.shiftamt.u32 %r0, %r2;", 3),
        ("bfind.u32 %r0, 0;", 0xFFFFFFFF),
        ("bfind.shiftamt.s32 %r0, -1;", 0xFFFFFFFF),
    ],
)
def test_what_is_put_together(code: str, expected: int) -> None:
    """0xabcdef01 is the low word and 0x12345678 the high one of what `shf` shifts, by 36 (4 with `.wrap`)."""
    assert computed(code, "%r0", 0xABCDEF01, 0x12345678, 36) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("min.s16 %h1, %h1, %h2;", 0x8000),
        ("min.u16 %h1, %h1, %h2;", 0x0003),
        ("max.s16 %h1, %h1, -2;", 0xFFFE),
        ("shr.s16 %h1, %h1, 1;", 0xC000),
        ("shr.u16 %h1, %h1, 1;", 0x4000),
        ("abs.s16 %h1, %h2;", 0x0003),
        ("mul.hi.s16 %h1, %h1, %h2;", 0xFFFE),  # -32768 * 3 = -98304 = -2 * 65536 + 32768
        ("mul.hi.u16 %h1, %h1, %h2;", 0x0001),
        ("mad.hi.u16 %h1, %h1, %h2, %h2;", 0x0004),
        ("add.s16 %h1, %h1, %h1;", 0x0000),
    ],
)
def test_the_upper_half_of_16_bits_means_nothing(code: str, expected: int) -> None:
    body = f"mov.b32 {{%h1, _}}, %r1; mov.b32 {{%h2, _}}, %r2; {code} cvt.u32.u16 %r0, %h1;"
    assert computed(body, "%r0", 0x12348000, 0xABCD0003) == expected


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("add.sat.s32 %r1, %r2, %r3;", "PTXPlus does not limit the result of an integer 'add'"),
        ("add.u16x2 %r1, %r2, %r3;", "PTXPlus has no packed values ('.u16x2')"),
        ("prmt.b32.f4e %r1, %r2, %r3, %r4;", "'prmt' with a mode: only the general form is lowered"),
    ],
)
def test_refused(code: str, reason: str) -> None:
    assert refusals(HEAD.replace("75", "90") + kernel(code)) == [(7, reason)]
