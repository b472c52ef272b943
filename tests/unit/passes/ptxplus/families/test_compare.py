"""Comparisons, selections and predicates: their code, and what it computes."""

import operator

import pytest
from ptxplus_selection import HEAD, computed, kernel, refusals, virtual

EDGES = (0, 1, 0xFFFFFFFF, 1 << 32, 1 << 63, (1 << 64) - 1)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("type_", ["s64", "u64"])
def test_comparisons_of_64_bits(name: str, type_: str) -> None:
    body = f"setp.{name}.{type_} %p1, %d1, %d2; selp.u32 %r0, 1, 0, %p1;"
    for a in EDGES:
        for b in EDGES:
            x, y = (v - (v >> 63 << 64) if type_ == "s64" else v for v in (a, b))
            assert computed(body, "%r0", a, b) == getattr(operator, name)(x, y), (a, b)


@pytest.mark.parametrize(("a", "b", "c"), [(1, 2, 0), (1, 2, 5), (2, 1, 0), (2, 1, 5)])
def test_two_results_and_a_third_predicate(a: int, b: int, c: int) -> None:
    """The second result is of the negated comparison, combined with the same predicate."""
    body = "setp.eq.s32 %p3, %r3, 0; setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3; selp.u32 %r0, 1, 0, {};"
    assert computed(body.format("%p1"), "%r0", a, b, c) == (a < b and c != 0)
    assert computed(body.format("%p2"), "%r0", a, b, c) == (a >= b and c != 0)


@pytest.mark.parametrize(
    ("bits", "holds"),
    [
        (0, "finite number normal"),  # zeros are normal: PTX ISA, testp
        (0x80000001, "finite number subnormal"),
        (0x007FFFFF, "finite number subnormal"),
        (0x00800000, "finite number normal"),
        (0xFF7FFFFF, "finite number normal"),
        (0xFF800000, "infinite number"),
        (0x7F800001, "notanumber"),
    ],
)
def test_classes_of_floats(bits: int, holds: str) -> None:
    tests = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    body = "mov.b32 %f1, %r1; testp.{}.f32 %p1, %f1; selp.u32 %r0, 1, 0, %p1;"
    assert [test for test in tests if computed(body.format(test), "%r0", bits)] == holds.split()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("setp.gtu.f64 %p1, %x1, %x2;", "set.gtu.u32.ff64 $p0/$o127, {$v0,$v1}, {$v2,$v3};"),
        ("setp.ls.u32 %p1, %r1, %r2;", "set.le.u32.u32 $p0/$o127, $v0, $v1;"),
        ("setp.lt.s16 %p1, %h1, %h2;", "set.lt.u32.s16 $p0/$o127, $v0, $v1;"),
        ("set.gt.f32.s32 %f1, %r1, %r2;", "selp.u32 $v0, 0x3f800000, 0x00000000, $p0;"),
        ("set.gt.u32.s32 %r3, %r1, %r2;", "selp.u32 $v0, 0xffffffff, 0x00000000, $p0;"),
        ("slct.f32.s32 %f1, %f2, %f3, %r1;", "set.ge.u32.s32 $p0/$o127, $v0, 0x00000000;"),
        ("setp.lt.ftz.f32 %p1, %f1, %f2;", "add.ftz.f32 $v2, $v0, 0x80000000;"),  # onto -0
    ],
)
def test_code(code: str, expected: str) -> None:
    assert expected in virtual(code)


def test_halves_are_refused() -> None:
    assert refusals(HEAD + kernel("setp.lt.f16 %p1, %h1, %h2;")) == [(7, "PTXPlus does not compare '.f16'")]
