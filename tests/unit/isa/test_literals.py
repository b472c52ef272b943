"""Literals by the PTX ISA's rules ("Constants") and IEEE 754 bit patterns."""

import math

import pytest

from ptxtool.isa.literals import integer, literal
from ptxtool.isa.types import TYPES


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("10", 10),
        ("-10", -10),
        ("8U", 8),
        ("0x1F", 31),
        ("0xffffffffU", 0xFFFFFFFF),
        ("-0x10", -16),
        ("010", 8),
        ("0b101", 5),
        ("0B11U", 3),
    ],
)
def test_integers(text: str, value: int) -> None:
    assert integer(text) == value
    assert literal(text).kind == "int"


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("0f3F800000", "f32", 1.0),
        ("0FBF800000", "f32", -1.0),
        ("-0f3F800000", "f32", -1.0),
        ("0d4000000000000000", "f64", 2.0),
        ("0D3FE0000000000000", "f64", 0.5),
        ("1.5", "f64", 1.5),
        ("-2.5e0", "f64", -2.5),
        ("1.", "f64", 1.0),
        ("1e3", "f64", 1000.0),
    ],
)
def test_floats(text: str, kind: str, value: float) -> None:
    assert (literal(text).kind, literal(text).value) == (kind, value)


def test_a_nan_keeps_its_bits() -> None:
    assert literal("0f7FC00001").payload == 0x7FC00001
    assert math.isnan(literal("0f7FC00001").value)
    assert literal("-0f7FC00001").payload == 0xFFC00001


@pytest.mark.parametrize(
    ("text", "type", "bits"),
    [
        ("-1", "u32", 0xFFFFFFFF),
        ("-1", "s64", 0xFFFFFFFFFFFFFFFF),
        ("0x12345", "u16", 0x2345),
        ("0x3f800000", "f32", 0x3F800000),  # PTXPlus: an integer is the float's bits
        ("0f3F800000", "f32", 0x3F800000),
        ("0f3F800000", "b32", 0x3F800000),
        ("0f3F800000", "f64", 0x3FF0000000000000),
        ("1.5", "f32", 0x3FC00000),
        ("1.0", "f16", 0x3C00),
        ("1e39", "f32", 0x7F800000),  # rounds to infinity
        ("-1e39", "f32", 0xFF800000),
        ("0.1", "f32", 0x3DCCCCCD),  # nearest even
    ],
)
def test_bits_in_a_register(text: str, type: str, bits: int) -> None:
    assert literal(text).bits(TYPES[type]) == bits


@pytest.mark.parametrize("text", ["089", "0b2", "x", "", "1.5.2"])
def test_what_is_no_literal(text: str) -> None:
    with pytest.raises(ValueError):
        literal(text)


def test_a_float_is_no_integer() -> None:
    with pytest.raises(ValueError):
        integer("1.5")
