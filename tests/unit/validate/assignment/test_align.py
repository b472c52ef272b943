"""The statements of two texts side by side: kept, dropped and inserted instructions, and what may not be."""

from collections.abc import Sequence

import pytest
from kernels import ptx

from ptxtool.ir.nodes import Immediate, Memory, Name, Operand
from ptxtool.validate.assignment.align import Alignment, align, label_items, same_operation, same_shape

REGISTERS = ".reg .b32 %r<4>;"


def aligned(before: str, after: str, origins: Sequence[int]) -> Alignment:
    return align(ptx(before, REGISTERS), ptx(after, REGISTERS), origins)


def test_inserted_instructions_come_before_dropped_ones() -> None:
    before = "mov.u32 %r1, 1; mov.u32 %r2, 2; exit; L: ret;"
    after = "mov.u32 %r3, 3; exit; mov.u32 %r3, 4; L: ret;"
    found = aligned(before, after, [-1, 2, -1, 3])
    assert found.problem is None
    items = [(-1, 0), (0, -1), (1, -1), (2, 1), (-1, 2), (3, 3)]
    assert [*found.items] == items
    assert [found.items[k] for k in range(len(items))] == items
    assert found.items[1:3] == items[1:3]
    assert found.labels == {(3, 3): 5}


@pytest.mark.parametrize(
    ("after", "origins", "problem"),
    [
        ("mov.u32 %r1, 1; L: ret;", [0], "1 origins for the 2 instructions of 'k'"),
        ("ret; L: mov.u32 %r1, 1;", [1, 0], "'ret;' stands where 'L:' stood"),
        (
            "mov.u32 %r1, 1; mov.u32 %r1, 1; L: ret;",
            [0, 0, 1],
            "instruction 0 of 'k' stands in another place or twice",
        ),
        ("mov.u32 %r1, 1; ret;", [0, 1], "'ret;' stands where 'L:' stood"),
        ("mov.u32 %r1, 1; M: ret;", [0, 1], "'M:' stands where 'L:' stood"),
        ("mov.u32 %r1, 1; L: ret; M:", [0, 1], "'M:' is new"),
        ("mov.u32 %r1, 1; L: ret; .local .b32 x;", [0, 1], "'.local .b32 x;' is new"),
        ("mov.u32 %r1, 1; L: ret; .reg .b32 x; .local .align 4 .b8 __ptxtool_spill[4];", [0, 1], ""),
    ],
)
def test_what_is_neither_an_instruction_nor_a_register_stays(
    after: str, origins: list[int], problem: str
) -> None:
    found = aligned("mov.u32 %r1, 1; L: ret;", after, origins).problem
    assert (found.message if found else "") == problem


@pytest.mark.parametrize(
    ("after", "names", "problem"),
    [
        ("A: ret; B: ret; A2: ret;", {"L": "A", "M": "B", "N": "A2"}, ""),
        ("M: ret; L: ret; N: ret;", {"L": "M", "M": "L", "N": "N"}, ""),
        ("A: ret; { A: ret; } B: ret;", None, "'{' stands where 'M:' stood"),
        ("A: ret; ret; N: ret;", None, "'ret;' stands where 'M:' stood"),
    ],
)
def test_labels_of_an_encoded_text_have_other_names(
    after: str, names: dict[str, str] | None, problem: str
) -> None:
    before, new = ptx("L: ret; M: ret; N: ret;", REGISTERS), ptx(after, REGISTERS)
    found = align(before, new, [0, 1, 2], encoded=True)
    assert (found.problem.message if found.problem else "") == problem
    assert names is None or found.names == names


def test_two_labels_of_an_encoded_text_do_not_get_one_name() -> None:
    before, after = "L: ret; { M: ret; }", "A: ret; { A: ret; }"  # the inner one hides the outer
    found = align(ptx(before, REGISTERS), ptx(after, REGISTERS), [0, 1], encoded=True).problem
    assert found is not None
    assert found.message == "two labels of 'k' have one name in 'k'"
    before, after = "L: ret; { L: ret; }", "A: ret; { B: ret; }"
    assert align(ptx(before, REGISTERS), ptx(after, REGISTERS), [0, 1], encoded=True).problem is not None


def test_a_statement_that_is_missing_at_the_end() -> None:
    found = aligned("ret; L:", "ret;", [0]).problem
    assert found is not None
    assert found.message == "'L:' is missing at the end of 'k'"


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (Name("%r1"), Name("%r2"), True),
        (Name("%r1", "x"), Name("%r1", "y"), False),
        (Name("%r1"), Immediate("1"), False),
        (Memory("", Name("%r1"), Immediate("4")), Memory("", Name("%r9"), Immediate("4")), True),
        (Memory("", Name("%r1"), Immediate("4")), Memory("", Name("%r1"), Immediate("8")), False),
    ],
)
def test_shapes_leave_out_names_alone(old: Operand, new: Operand, same: bool) -> None:
    assert same_shape(old, new) == same


def test_an_operation_is_its_opcode_and_its_guard_up_to_the_register() -> None:
    texts = ["@%p1 add.u32 %r1, %r2, 3;", "@%p2 add.u32 %r3, %r3, %r3;", "@!%p1 add.u32 %r1, %r2, 3;"]
    texts += ["add.u32 %r1, %r2, 3;", "@%p1 add.s32 %r1, %r2, 3;"]
    one, *others = ptx("\n".join(texts)).instructions
    assert [same_operation(one, other) for other in others] == [True, False, False, False]


def test_labels_correspond_where_both_sides_are_targets() -> None:
    labels = {(3, 4): 10, (5, 6): 20, (5, 7): 30}
    assert label_items(([3], [4]), labels) == (10,)
    assert label_items(([3], [6]), labels) == ()
    assert label_items(([3, 5], [4, 6]), labels) == (10, 20)
