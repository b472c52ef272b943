"""`cvt`: integers by what the code computes; the steps of conversions of floats."""

import pytest
from ptxplus_selection import HEAD, computed, kernel, refusals, virtual


@pytest.mark.parametrize(
    ("code", "value", "expected"),
    [
        ("cvt.s32.s8 %r0, %r1;", 0x180, -128),
        ("cvt.u32.u8 %r0, %r1;", 0x180, 0x80),
        ("cvt.u32.s8 %r0, %r1;", 0x80, -128),
        ("cvt.s32.u16 %r0, %r1;", 0x18000, 0x8000),
        ("cvt.u8.u32 %r0, %r1;", 0x1FF, 0xFF),
        ("cvt.s8.s32 %r0, %r1;", 0x1FF, -1),
        ("cvt.u16.s8 %r0, %r1;", 0x80, 0xFF80),  # a sign to 16 bits, and zeros before them
        ("cvt.sat.u8.s32 %r0, %r1;", -5, 0),
        ("cvt.sat.u8.s32 %r0, %r1;", 300, 255),
        ("cvt.sat.s8.s32 %r0, %r1;", -300, -128),
        ("cvt.sat.s8.u32 %r0, %r1;", 0x80000000, 127),
        ("cvt.sat.s32.u32 %r0, %r1;", 0x80000000, 0x7FFFFFFF),
        ("cvt.sat.u32.s32 %r0, %r1;", -1, 0),
        ("cvt.u32.u64 %r0, %d1;", 0x1_0000_0005, 5),
    ],
)
def test_integers_of_32_bits(code: str, value: int, expected: int) -> None:
    assert computed(code, "%r0", value) == expected & 0xFFFFFFFF


@pytest.mark.parametrize(
    ("code", "value", "expected"),
    [
        ("cvt.s64.s32 %d0, %r1;", 0x80000000, -(1 << 31)),
        ("cvt.u64.u32 %d0, %r1;", 0x80000000, 1 << 31),
        ("cvt.u64.s32 %d0, %r1;", 0x80000000, -(1 << 31)),
        ("cvt.s64.s8 %d0, %r1;", 0x80, -128),
        (
            "cvt.s8.s64 %d0, %d1;",
            0x1_0000_0080,
            -128,
        ),  # a register wider than the result: extended by its type
        ("cvt.u8.u64 %d0, %d1;", 0x1_0000_0180, 0x80),
    ],
)
def test_integers_of_64_bits(code: str, value: int, expected: int) -> None:
    assert computed(code, "%d0", value) == expected & (1 << 64) - 1


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # a subnormal number rounds up to 1: it is made integral before the dialect flushes it
        ("cvt.rpi.s32.f32 %r1, %f1;", ["cvt.rpi.f32.f32 $v2, $v1;", "cvt.rpi.s32.f32 $v0, $v2;"]),
        ("cvt.rpi.ftz.s32.f32 %r1, %f1;", ["cvt.rpi.s32.f32 $v0, $v1;"]),
        ("cvt.rzi.s32.f32 %r1, %f1;", ["cvt.rzi.s32.f32 $v0, $v1;"]),
        # NaN is the highest bit alone where an f64 is converted
        (
            "cvt.rni.s32.f64 %r1, %x1;",
            [
                *("cvt.rni.s32.ff64 $v3, {$v1,$v2};", "set.nan.u32.ff64 $p0/$o127, {$v1,$v2}, {$v1,$v2};"),
                "selp.u32 $v0, 0x80000000, $v3, $p0;",
            ],
        ),
        # NaN is 0: the larger of NaN and 0 is 0
        (
            "cvt.sat.f32.f32 %f1, %f2;",
            ["cvt.f32.f32 $v2, $v1;", "max.f32 $v3, $v2, 0x00000000;", "min.f32 $v0, $v3, 0x3f800000;"],
        ),
        ("cvt.rn.f32.s16 %f1, %h1;", ["cvt.s32.s16 $v2, $v1;", "cvt.rn.f32.s32 $v0, $v2;"]),
    ],
)
def test_floats(code: str, expected: list[str]) -> None:
    assert virtual(code) == [*expected, "exit;"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("cvt.rn.f16.f32 %h1, %f1;", "PTXPlus does not convert '.f16'"),
        ("cvt.sat.f64.f32 %x1, %f1;", "a conversion with '.sat' of f64"),
        ("cvt.rp.f64.s64 %x1, %d1;", "PTXPlus does not convert 64-bit integers to '.f64' so rounded"),
        ("cvt.sat.s32.s64 %r1, %d1;", "a conversion with '.sat' of 64 bits"),
    ],
)
def test_refused(code: str, reason: str) -> None:
    ((_, found),) = refusals(HEAD + kernel(f"{code}\nst.global.f64 [%d2], %x1;"))
    assert found == reason
