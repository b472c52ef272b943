"""Packed values: their elements, and functions of one element after the other."""

import pytest
from small_lowering import builder, emitted

from ptxsim.lowering.instructions.packed import each, element_type, is_packed, merge, split
from ptxtool.isa.types import TYPES


@pytest.mark.parametrize(
    ("name", "element", "apart", "together"),
    [
        ("f16x2", "f16", ["zext16_u32", "high16_u32"], "merge_high_u32"),
        ("u16x2", "u16", ["zext16_u32", "high16_u32"], "merge_high_u32"),
        ("s16x2", "s16", ["zext16_u32", "high16_u32", "sext16_u32", "sext16_u32"], "merge_high_u32"),
        ("f32x2", "f32", ["trunc_u64", "high_u64"], "pack_u64"),
    ],
)
def test_elements_are_taken_apart_and_put_together(
    name: str, element: str, apart: list[str], together: str
) -> None:
    b, type_ = builder(), TYPES[name]
    assert is_packed(type_)
    assert element_type(type_) is TYPES[element]
    rows = split(b, 0, type_)
    assert len(set(rows)) == 2
    assert emitted(b) == apart
    merge(b, rows, type_)
    assert emitted(b)[-1] == together
    assert b.uops[-1][2:4] == tuple(rows)  # the first element is the lower half


def test_a_scalar_is_its_own_element() -> None:
    b, type_ = builder(), TYPES["f16"]
    assert not is_packed(type_)
    assert split(b, 7, type_) == [7]
    assert merge(b, [7], type_) == 7
    assert emitted(b) == []


def test_a_function_sees_the_elements_of_all_values_at_one_place() -> None:
    b = builder()
    seen: list[list[int]] = []

    def compute(rows: list[int]) -> int:
        seen.append(rows)
        return rows[0]

    each(b, TYPES["u16x2"], [b.constant(1), b.constant(2)], compute)
    made = [uop[1] for uop in b.uops[:4]]  # lower and upper element of the first value, then of the second
    assert seen == [[made[0], made[2]], [made[1], made[3]]]
