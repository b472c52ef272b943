"""What is wrong with an instruction: the nearest form, and the simplest repair where there is one."""

import pytest

from ptxtool.ir.nodes import Immediate, Name, Operand
from ptxtool.sema.operands.shapes import OperandShape, shape
from ptxtool.sema.operands.verdict import Verdict, WrittenInstruction, takes_bounded


def judged(opcode: str, *operands: str) -> Verdict | None:
    """The verdict about an instruction whose operands are registers of these types, or numbers."""
    nodes: list[Operand] = []
    shapes: list[OperandShape] = []
    for text in operands:
        is_number = text.isdecimal()
        nodes.append(Immediate(text) if is_number else Name(f"%{text}"))
        kind = (
            shape("memory", "", (shape("register", "u64"),)) if text == "address" else shape("register", text)
        )
        shapes.append(shape("constant", "int") if is_number else kind)
    return WrittenInstruction(opcode, nodes, shapes, True).judge()


def test_nothing_is_wrong() -> None:
    assert judged("add.u32", "u32", "u32", "7") is None


def test_no_form_with_that_many_operands() -> None:
    assert judged("add.u32", "u32", "u32") == Verdict(False, ())


def test_two_operands_in_each_others_place() -> None:
    """A load written like a store."""
    found = judged("ld.global.u32", "address", "u32")
    assert found is not None
    assert found.swapped == (0, 1)
    assert not found.better


@pytest.mark.parametrize(
    ("opcode", "operands", "better"),
    [
        ("add.u32", ("f32", "f32", "f32"), "add.f32"),
        ("add.f32", ("u64", "u64", "u64"), "add.u64"),
        ("add.u32", ("u64", "u64", "u64"), "add.u64"),
        ("add.s32", ("u64", "u64", "u64"), "add.s64"),
        ("add.u32", ("u32", "f32", "u32"), ""),  # one misfit: the register is wrong
        ("add.u32", ("u64", "f32", "u64"), ""),  # no type suits both
        ("cvt.u32.u32", ("f32", "f32"), ""),  # two types: which of them?
    ],
)
def test_another_type_after_the_opcode(opcode: str, operands: tuple[str, ...], better: str) -> None:
    found = judged(opcode, *operands)
    assert found is not None
    assert found.better == better
    assert found.swapped is None


def test_the_value_of_a_constant_decides_where_there_are_bounds() -> None:
    assert takes_bounded("bar.sync", 1)
    assert not takes_bounded("add.u32", 3)
    assert judged("bar.sync", "15") is None
    found = judged("bar.sync", "16")
    assert found is not None
    assert [(k, trouble.code) for k, trouble in found.problems] == [(0, "E209")]
