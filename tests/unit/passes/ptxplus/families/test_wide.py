"""Integers of 64 bits in two words, by what their code computes."""

import pytest
from ptxplus_selection import HEAD, computed, kernel, refusals, virtual

A, B = 0x8123_4567_89AB_CDEF, 0x0FED_CBA9_8765_4321
ALL = (1 << 64) - 1


def signed(value: int) -> int:
    return value - (value >> 63 << 64)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("add.s64 %d0, %d1, %d2;", A + B),
        ("add.s64 %d0, %d1, -1;", A - 1),
        ("sub.s64 %d0, %d2, %d1;", B - A),
        ("neg.s64 %d0, %d1;", -A),
        ("abs.s64 %d0, %d1;", -signed(A)),
        ("min.s64 %d0, %d1, %d2;", A),
        ("min.u64 %d0, %d1, %d2;", B),
        ("max.s64 %d0, %d1, %d2;", B),
        ("xor.b64 %d0, %d1, %d2;", A ^ B),
        ("not.b64 %d0, %d1;", ~A),
        ("mul.lo.u64 %d0, %d1, %d2;", A * B),
        ("mul.hi.u64 %d0, %d1, %d2;", A * B >> 64),
        ("mul.hi.s64 %d0, %d1, %d2;", signed(A) * B >> 64),
        ("mul.hi.s64 %d0, %d1, %d1;", signed(A) * signed(A) >> 64),
        ("mad.lo.s64 %d0, %d1, %d2, %d1;", A * B + A),
        ("mul.wide.s32 %d0, %r1, %r2;", (0x89ABCDEF - (1 << 32)) * (0x87654321 - (1 << 32))),
        ("mad.wide.u32 %d0, %r1, %r2, %d1;", 0x89ABCDEF * 0x87654321 + A),
        ("bfe.u64 %d0, %d1, 28, 12;", A >> 28 & 0xFFF),
        ("bfe.s64 %d0, %d1, 52, 12;", signed(A) >> 52),
        ("bfi.b64 %d0, %d2, %d1, 32, 32;", 0x8765_4321_89AB_CDEF),
    ],
)
def test_arithmetic(code: str, expected: int) -> None:
    assert computed(code, "%d0", A, B) == expected & ALL


@pytest.mark.parametrize("amount", [0, 1, 31, 32, 33, 63, 64, 100])
def test_shifts_by_registers_and_by_numbers(amount: int) -> None:
    for operand in ("%r2", str(amount)):
        assert computed(f"shl.b64 %d0, %d1, {operand};", "%d0", A, amount) == A << amount & ALL
        assert computed(f"shr.u64 %d0, %d1, {operand};", "%d0", A, amount) == A >> amount
        assert computed(f"shr.s64 %d0, %d1, {operand};", "%d0", A, amount) == signed(A) >> amount & ALL


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        (0, (0, 64, 0xFFFFFFFF, 0xFFFFFFFF)),
        (1 << 31, (1, 32, 31, 32)),
        (1 << 63, (1, 0, 63, 0)),
        (ALL, (64, 0, 63, 0)),
    ],
)
def test_counts_of_bits(value: int, counts: tuple[int, ...]) -> None:
    codes = ("popc.b64", "clz.b64", "bfind.u64", "bfind.shiftamt.u64")
    assert tuple(computed(f"{code} %r0, %d1;", "%r0", value) for code in codes) == counts


def test_the_low_word_alone_where_nothing_reads_the_other() -> None:
    assert virtual("add.s64 %d1, %d2, %d3; st.global.u32 [%d1], %r1;")[0] == "add.u32 $v1, $v2, $v0;"


@pytest.mark.parametrize(
    "code", ["bfe.u64 %d1, %d2, %r1, 4;", "bfi.b64 %d1, %d2, %d3, 8, 8;", "div.s64 %d1, %d2, %d3;"]
)
def test_refused(code: str) -> None:
    assert len(refusals(HEAD + kernel(f"{code} st.global.u64 [%d5], %d1;"))) == 1
