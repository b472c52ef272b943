"""Which registers and constants fit a type, and what the elements of a vector have in common."""

import pytest

from ptxtool.sema.operands.shapes import OperandShape, shape
from ptxtool.sema.operands.type_fit import (
    CLASH_OF_TYPES,
    CLASH_OF_WIDTHS,
    constant_fits,
    joined_type,
    register_mismatch,
)


@pytest.mark.parametrize(
    ("declared", "wanted", "trouble"),
    [
        ("b32", "f32", ""),
        ("u32", "s32", ""),
        ("u32", "f32", "type"),
        ("f32", "u32", "type"),
        ("u16", "u32", "width"),
        ("f32", "f64", "width"),
        ("u64", "f32", "type"),
        ("b64", "f32", "width"),
        ("f16x2", "u32", ""),
        ("f16x2", "f32", "type"),
        ("b32", "f16x2", ""),
        ("u32", "f16x2", "type"),
        ("pred", "b32", "type"),
        ("pred", "pred", ""),
        ("b16", "bf16", ""),
    ],
)
def test_registers_by_the_rules_of_the_manual(declared: str, wanted: str, trouble: str) -> None:
    """PTX ISA, section 9.2: untyped bits, or integers of one size, or the same type."""
    assert register_mismatch(declared, wanted, False) == trouble


@pytest.mark.parametrize(
    ("declared", "wanted", "trouble"),
    [
        ("b64", "u8", ""),
        ("u32", "s16", ""),
        ("u16", "u32", "width"),
        ("f32", "u8", "type"),
        ("f64", "f32", "type"),
    ],
)
def test_a_relaxed_place_takes_wider_registers(declared: str, wanted: str, trouble: str) -> None:
    """PTX ISA, section 9.4.1: untyped bits and integers; floating-point registers are of the size itself."""
    assert register_mismatch(declared, wanted, True) == trouble


@pytest.mark.parametrize(
    ("kind", "fits", "does_not"),
    [
        ("int", ("u8", "s64", "b16", "pred"), ("f32", "f64", "f16x2")),
        ("f32", ("f32", "f64", "b32"), ("u32", "b64", "pred")),
        ("f64", ("f32", "f64", "b64"), ("s64", "b32")),
    ],
)
def test_constants(kind: str, fits: tuple[str, ...], does_not: tuple[str, ...]) -> None:
    assert all(constant_fits(kind, name) for name in fits)
    assert not any(constant_fits(kind, name) for name in does_not)


def vector(*items: str) -> OperandShape:
    kinds = {"_": shape("sink"), "1": shape("constant", "int"), "1.0": shape("constant", "f64")}
    return shape("vector", items=tuple(kinds.get(item) or shape("register", item) for item in items))


@pytest.mark.parametrize(
    ("items", "joined"),
    [
        (("u32", "s32"), "u32"),
        (("f32", "b32"), "b32"),
        (("b32", "f32"), "b32"),
        (("u32", "f32"), CLASH_OF_TYPES),
        (("u32", "u64"), CLASH_OF_WIDTHS),
        (("u32", "u64", "u32"), CLASH_OF_WIDTHS),
        (("_", "f32", "_"), "f32"),
        (("_", "_"), ""),
        (("1", "s32"), "s32"),
        (("s32", "1.0"), CLASH_OF_TYPES),
        (("f32", "1.0"), "f32"),
        (("1", "1"), "constant int"),
        (("1", "1.0"), CLASH_OF_TYPES),
    ],
)
def test_what_elements_have_in_common(items: tuple[str, ...], joined: str) -> None:
    assert joined_type(vector(*items)) == joined
