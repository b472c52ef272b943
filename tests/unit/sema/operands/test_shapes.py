"""Shapes of operands: one object for equal ones, and their names in messages."""

import pytest

from ptxtool.sema.operands.shapes import OperandShape, description, shape


def test_equal_shapes_are_one_object() -> None:
    """Verdicts are remembered by the identity of shapes, which compare by nothing else."""
    assert shape("register", "u32") is shape("register", "u32")
    assert shape("vector", items=(shape("sink"),)) is shape("vector", items=(shape("sink"),))
    assert shape("register", "u32") is not shape("register", "s32")
    assert OperandShape("register", "u32") != shape("register", "u32")


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (shape("register", "u32"), "a '.u32' register"),
        (shape("register", "f32", (), 4), "a '.v4.f32' register"),
        (shape("constant", "f32"), "a floating-point constant"),
        (shape("variable", "param::in"), "a parameter"),
        (shape("variable", "shared"), "a '.shared' variable"),
        (shape("opaque", "texref"), "a '.texref'"),
        (shape("function", "entry"), "a kernel"),
        (shape("function", "func"), "a function"),
        (shape("vector", items=(shape("sink"), shape("sink"))), "a vector of 2"),
        (shape("sink"), "no register"),
    ],
)
def test_words(found: OperandShape, text: str) -> None:
    assert description(found) == text
