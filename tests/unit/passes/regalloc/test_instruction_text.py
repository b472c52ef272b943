"""The text of one instruction with other names for its registers."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.ir.nodes import Function
from ptxtool.passes.regalloc.instruction_text import InstructionText


def renamed(function: Function, read: dict[str, str], written: dict[str, str]) -> str:
    """The first instruction, its registers renamed by whether they are read or written."""
    (step, *_) = function.def_uses
    names = function.registers.name_of
    new = [*(read[names(k)] for k in step.uses), *(written[names(k)] for k in step.defs)]
    return InstructionText(function, 0).renamed(step, new)


def test_a_name_that_is_read_and_written_may_have_two() -> None:
    function = ptx("add.u32  %r1 , %r1, /* %r1 */ %r2;")
    assert renamed(function, {"%r1": "%a", "%r2": "%b"}, {"%r1": "%c"}) == "add.u32  %c , %a, /* %r1 */ %b;"


def test_the_guard_is_read() -> None:
    function = ptx("@!%p1 setp.lt.u32 %p1, %r1, 3;")
    found = renamed(function, {"%p1": "%p7", "%r1": "%r9"}, {"%p1": "%p8"})
    assert found == "@!%p7 setp.lt.u32 %p8, %r9, 3;"


def test_an_address_in_the_place_of_a_result_is_read() -> None:
    function = ptx("st.global.u32 [%rd1+4], %r1;")
    assert renamed(function, {"%rd1": "%x", "%r1": "%y"}, {}) == "st.global.u32 [%x+4], %y;"


@pytest.mark.parametrize(
    ("function", "head", "body"),
    [
        (ptx("@%p1 add.u32 %r1, %r2, 3;"), "@%p1 add.u32", " %r1, %r2, 3;"),
        (ptxplus("@$p0.ne add.u32 $r1, $r2, $r3;"), "@$p0.ne add.u32", " $r1, $r2, $r3;"),
        (ptx("exit;"), "exit", ";"),
    ],
)
def test_guard_and_opcode_are_the_head(function: Function, head: str, body: str) -> None:
    found = InstructionText(function, 0)
    assert (found.head, found.body) == (head, body)


def test_only_what_means_a_register_is_renamed() -> None:
    """A label and a variable keep their names, and so does a register for which there is none."""
    function = ptx("add.u32 %r1, %r2, tile;", ".reg .b32 %r<3>; .shared .b32 tile;")
    names = {function.registers.resolve_index("%r1", 0): "tile2"}
    assert InstructionText(function, 0).body_with(names.get) == " tile2, %r2, tile;"
