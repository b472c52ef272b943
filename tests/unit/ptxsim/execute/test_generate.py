"""The text of lane operations that is generated from their table: reads, choices without a branch, results."""

import ast

from ptxsim.execute.generate import _operation, groups, source
from ptxtool.isa.lanes import LaneOperation, operations


def text(expression: str, result: str, *operands: str) -> str:
    return "\n".join(_operation(LaneOperation("made", 7, "int32", result, operands, expression), True))


def test_a_choice_has_no_branch() -> None:
    lines = text("a if b > 0 and not a > 1 else 3", "u32", "u32", "i32")
    assert " if " not in lines.partition("\n")[2]
    assert " and " not in lines
    assert lines.count("select(") == 2  # the choice, and `not`


def test_an_operand_that_is_used_twice_is_read_once() -> None:
    lines = text("a + a + b", "u64", "u64", "u64")
    assert lines.count("load_u64") == 2
    assert "a7 = load_u64(own64, all64, a, n7)" in lines


def test_a_predicate_is_a_bit_of_a_mask_of_lanes() -> None:
    lines = text("a", "p", "p")
    assert "pa7 = lane_mask(context, a)" in lines
    assert "found7 |= select(pa7 & BIT[n7] != 0, BIT[n7], np.uint32(0))" in lines
    assert lines.endswith("kind = 1")


def test_results_of_32_bits_are_stored_as_their_low_half() -> None:
    assert "store_u32(to32, n7, np.int64(" in text("a - b", "i32", "i32", "i32")
    assert "store_f32(to32, n7, load_f32" in text("a", "f32", "f32")


def test_the_module_of_a_group_has_a_branch_for_each_of_its_operations() -> None:
    for group in groups():
        made = source(group)
        ast.parse(made)
        for operation in operations().values():
            assert (f" op == {operation.number}:" in made) == (operation.group == group)
