"""Comparisons: which lane operation, its operands exchanged or its result inverted; two results; refusals."""

import pytest
from small_lowering import PTXPLUS, fields, lowered, steps
from three_ways import words

from ptxsim.execute.codes import PREDICATE


@pytest.mark.parametrize(
    ("text", "operation", "exchanged", "inverted"),
    [
        ("lt.s32", "lt_s32", False, 0),
        ("gt.s32", "lt_s32", True, 0),
        ("ge.u32", "le_u32", True, 0),
        ("ne.u32", "eq_u32", False, 1),
        ("lo.u32", "lt_u32", False, 0),
        ("hi.u32", "lt_u32", True, 0),
        ("hs.u32", "le_u32", True, 0),
        ("geu.f32", "lt_f32", False, 1),  # not less, or unordered
        ("ltu.f32", "le_f32", True, 1),
        ("nan.f32", "num_f32", False, 1),
    ],
)
def test_every_relation_is_one_of_four(text: str, operation: str, exchanged: bool, inverted: int) -> None:
    a, b = ("%f1", "%f2") if text.endswith("f32") else ("%r1", "%r2")
    program = lowered(f"setp.{text} %p1, {a}, {b};")
    assert steps(program)[0] == operation
    rows = fields(program, "a")[0], fields(program, "b")[0]
    plain = lowered(f"setp.lt.{text.partition('.')[2]} %p1, {a}, {b};")
    expected = fields(plain, "a")[0], fields(plain, "b")[0]
    assert rows == (expected[::-1] if exchanged else expected)
    assert fields(program, "e")[0] & 1 == inverted


def test_ne_of_floats_is_false_for_a_nan() -> None:
    assert {"eq_f32", "num_f32", PREDICATE} == set(steps(lowered("setp.ne.f32 %p1, %f1, %f2;")))


@pytest.mark.parametrize(
    ("relation", "expected"), [("ne", 2), ("neu", 1), ("equ", 1), ("num", 2), ("lt", 2), ("ltu", 1)]
)
def test_relations_with_a_nan(relation: str, expected: int) -> None:
    body = f"setp.{relation}.f32 %p1, 0f7FC00000, 0f3F800000; selp.u32 %r6, 1, 2, %p1;"
    assert words(body, 1) == [expected]


@pytest.mark.parametrize(
    ("test", "values"),
    [
        # 1, 0, the smallest subnormal, -infinity, NaN
        ("finite", [1, 1, 1, 0, 0]),
        ("infinite", [0, 0, 0, 1, 0]),
        ("number", [1, 1, 1, 1, 0]),
        ("notanumber", [0, 0, 0, 0, 1]),
        ("normal", [1, 1, 0, 0, 0]),  # zeros count as normal
        ("subnormal", [0, 0, 1, 0, 0]),
    ],
)
def test_testp(test: str, values: list[int]) -> None:
    body = f"ld.global.f32 %f1, [%d5]; testp.{test}.f32 %p1, %f1; selp.u32 %r6, 1, 0, %p1;"
    assert words(body, 5, [0x3F800000, 0, 1, 0xFF800000, 0x7FC00000]) == values


def test_logic_on_flags_is_that_of_their_complements() -> None:
    """A PTXPlus predicate is true where its Z is clear: its `and` is an `or` of flags, bit 2 a + b of a table."""
    program = lowered("and.pred $p1, $p2, $p3;", PTXPLUS)
    assert steps(program) == [PREDICATE] * 4
    assert fields(program, "e") == [0b1110] * 4
    assert fields(lowered("and.pred %p1, %p2, %p3;"), "e") == [0b1000]
