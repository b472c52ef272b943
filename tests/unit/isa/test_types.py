"""The fundamental types."""

import pytest

from ptxtool.isa.types import TYPES, arithmetic_class


@pytest.mark.parametrize(
    ("name", "kind", "n_bytes"),
    [
        ("u8", "u", 1),
        ("s64", "s", 8),
        ("f16x2", "f", 4),
        ("b128", "b", 16),
        ("e4m3x2", "b", 2),
        ("ff64", "f", 8),
    ],
)
def test_kinds_and_sizes(name: str, kind: str, n_bytes: int) -> None:
    found = TYPES[name]
    assert (found.name, found.kind, found.bytes) == (name, kind, n_bytes)
    assert found.is_float is (kind == "f")
    assert found.is_signed is (kind == "s")


@pytest.mark.parametrize("name", ["pred", "b1", "e2m1", "u4"])
def test_less_than_a_byte_takes_one(name: str) -> None:
    assert TYPES[name].bits < 8
    assert TYPES[name].bytes == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("f32", "fp32"), ("tf32", "fp32"), ("f64", "fp64"), ("ff64", "fp64"), ("f32x2", "fp32")),
        *(("f16x2", "int"), ("f16", "int"), ("u64", "int"), ("pred", "int"), ("", "int")),
    ],
)
def test_arithmetic_class(name: str, expected: str) -> None:
    """The columns of a GPU file's latencies: halves and unknown types are in the first."""
    assert arithmetic_class(name) == expected
