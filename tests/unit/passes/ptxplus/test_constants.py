"""Values that are one constant everywhere: those that a single move of a number writes."""

import pytest
from kernels import ptx

from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.ptxplus.constants import constants, written_once
from ptxtool.passes.ptxplus.flatten import InlinedInstruction, flatten


def known(kernel: Function) -> dict[str, int | None]:
    """The constants among the kernel's own registers."""
    found = constants(flatten(kernel)[0])
    return {kernel.registers[key.index].name: value for key, value in found.items() if key.owner == 0}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mov.u32 %r1, 31;", {"%r1": 31}),
        ("mov.s32 %r1, -1;", {"%r1": 0xFFFFFFFF}),
        ("mov.f32 %f1, 0f3F800000;", {"%f1": 0x3F800000}),
        ("activemask.b32 %r1;", {"%r1": 0xFFFFFFFF}),
        ("mov.u32 %r1, 31; mov.u32 %r1, 31;", {}),
        ("mov.u32 %r1, 31; add.u32 %r1, %r1, 1;", {}),
        ("@%p1 mov.u32 %r1, 31;", {}),
        ("mov.u32 %r1, 31; mov.u32 %r2, %r1;", {"%r1": 31}),
        ("add.u32 %r1, %r2, 1;", {}),
        ("mov.u32 %r1;", {}),
    ],
)
def test_one_move_of_a_number(body: str, expected: dict[str, int]) -> None:
    assert known(ptx(body)) == expected


def test_what_one_instruction_writes() -> None:
    """%r2 is written twice, once under a guard; of the other one the instruction's number."""
    kernel = ptx("add.u32 %r1, %r2, 1; mov.u32 %r2, 3; @%p1 mov.u32 %r2, 4;")
    (key, item), *more = written_once(flatten(kernel)[0]).items()
    assert not more
    assert isinstance(item, InlinedInstruction)
    assert (kernel.registers[key.index].name, item.index) == ("%r1", 0)


def test_the_result_of_a_call_is_another_write() -> None:
    text = """.version 7.0\n.target sm_70\n.address_size 64
.func (.reg .b32 r) f() { mov.u32 r, 7; ret; }
.entry k() { .reg .b32 %r<3>; mov.u32 %r1, 31; mov.u32 %r2, 5; call (%r1), f, (); ret; }\n"""
    assert known(parse(text).kernels["k"]) == {"%r2": 5}
