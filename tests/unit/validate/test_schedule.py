"""The proof of a new order of instructions finds accesses that passed each other, and all other changes."""

import os
import subprocess
import sys

import pytest

from ptxtool.parse import parse
from ptxtool.validate.schedule import check_schedule

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
REGISTERS = "\t.reg .pred %p;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<2>;\n\t.shared .b32 tile;\n"


def source(lines: list[str]) -> str:
    return HEAD + REGISTERS + "".join(f"\t{line}\n" for line in lines) + "}\n"


def problems(before: list[str], after: list[str]) -> list[str]:
    return [d.message for d in check_schedule(parse(source(before)), parse(source(after)))]


@pytest.mark.parametrize(
    ("one", "other", "resource"),
    [
        ("add.u32 %r1, %r2, 1;", "mov.u32 %r2, 3;", "%r2"),  # a read and a write
        ("mov.u32 %r1, 1;", "mov.u32 %r1, 2;", "%r1"),  # two writes
        ("mov.u32 %r1, 1;", "@%p mov.u32 %r2, %r1;", "%r1"),
        ("st.shared.u32 [tile], %r1;", "ld.shared.u32 %r2, [tile];", "shared"),
        ("st.global.u32 [%rd1], %r1;", "ld.u32 %r2, [%rd0];", "memory"),
        ("add.cc.u32 %r1, %r1, 1;", "addc.u32 %r2, %r2, 1;", "cc"),
        ("mov.u32 %r1, %clock;", "mov.u32 %r2, 1;", "order"),
        # neither depends on the other
        ("mov.u32 %r1, 1;", "mov.u32 %r2, 1;", ""),
        ("add.u32 %r1, %r3, 1;", "add.u32 %r2, %r3, 1;", ""),
        ("st.shared.u32 [tile], %r1;", "st.global.u32 [%rd1], %r1;", ""),
    ],
)
def test_two_instructions_trade_places(one: str, other: str, resource: str) -> None:
    expected = [f"accesses to '{resource}' have passed each other in 'k'"] if resource else []
    assert problems([one, other, "ret;"], [other, one, "ret;"]) == expected


def test_reads_may_trade_places_but_follow_the_same_write() -> None:
    write, reads = "mov.u32 %r1, 1;", ["add.u32 %r2, %r1, 1;", "add.u32 %r3, %r1, 1;"]
    assert problems([write, *reads, "ret;"], [write, *reads[::-1], "ret;"]) == []
    assert problems([write, *reads, write, "ret;"], [write, reads[0], write, reads[1], "ret;"]) != []


def test_no_instruction_leaves_its_region() -> None:
    message = "the instructions of a scheduling region are not the same ones in 'k'"
    one, two = "mov.u32 %r1, 1;", "mov.u32 %r2, 1;"
    assert problems([one, "L:", two, "ret;"], [two, "L:", one, "ret;"]) == [message, message]


def test_changes_and_what_passed_each_other() -> None:
    before = source(["mov.u32 %r1, 1;", "add.u32 %r2, %r1, 1;", "ret;"])

    def problems(*lines: str) -> list[str]:
        return [d.message for d in check_schedule(parse(before), parse(source(list(lines))))]

    assert problems("mov.u32 %r1, 1;", "add.u32 %r2, %r1, 1;", "ret;") == []
    assert problems("add.u32 %r2, %r1, 1;", "mov.u32 %r1, 1;", "ret;") == [
        "accesses to '%r1' have passed each other in 'k'"
    ]
    assert problems("mov.u32 %r1, 2;", "add.u32 %r2, %r1, 1;", "ret;") == [
        "the instructions of a scheduling region are not the same ones in 'k'"
    ]
    assert problems("mov.u32 %r1, 1;", "bar.sync 0;", "add.u32 %r2, %r1, 1;", "ret;") == [
        "something besides the order of instructions changed"
    ]


def test_an_instruction_takes_its_line_along() -> None:
    one, two, a, b = ".loc 1 3 1", ".loc 1 4 1", "mov.u32 %r5, 1;", "mov.u32 %r1, 2;"
    assert problems([one, a, two, b, "ret;"], [one, b, two, a, "ret;"]) == [
        "the instructions of a scheduling region are not the same ones in 'k'"
    ]
    assert problems([one, a, two, b, "L: ret;"], [two, b, one, a, two, "L: ret;"]) == []


def test_a_branch_that_moves_makes_other_regions() -> None:
    one, branch, end = "mov.u32 %r1, 1;", "@%p bra L;", "L: ret;"
    message = "3 scheduling regions instead of 2 in 'k'"
    assert problems([one, branch, end], [branch, one, end]) == [message]


def test_a_function_that_becomes_part_of_a_comment() -> None:
    text = source(["ret;"])
    with_comment = text + "// end\n.visible .entry other() { ret; }\n"
    (found,) = check_schedule(parse(with_comment), parse(with_comment.replace("end\n", "end ")))
    assert found.message == "something besides the order of instructions changed"


def test_the_message_does_not_depend_on_the_order_of_sets() -> None:
    lines = ["ld.volatile.u32 %r1, [%rd0];", "ld.volatile.u32 %r2, [%rd1];", "ret;"]
    texts = source(lines), source([lines[1], lines[0], "ret;"])
    program = (
        "import sys; from ptxtool.parse import parse; from ptxtool.validate.schedule import check_schedule; "
        "print(*check_schedule(*map(parse, sys.argv[1:])))"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", program, *texts],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "0123"
    }
    (message,) = shown
    assert "accesses to 'memory' have passed each other in 'k'" in message
