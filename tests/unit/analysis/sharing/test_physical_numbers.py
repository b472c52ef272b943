"""The numbers of virtual registers under sharing, worked out by hand."""

import pytest
from kernels import VIRTUAL as BODY
from kernels import ptx, ptxplus

from ptxtool.analysis.sharing.physical_numbers import PhysicalNumbers, physical_numbers
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse


def by_name(kernel: Function, registers: int) -> list[dict[str, int]]:
    """Per instruction of a kernel, the number of each register."""
    found = physical_numbers(kernel, registers)
    assert found is not None
    names = kernel.registers.names
    return [{names[k]: number for k, number in each.items()} for each in found.functions[kernel.name]]


def test_a_value_has_the_number_of_its_last_unit() -> None:
    numbers = by_name(ptx(BODY), 3)
    assert numbers[0] == {"%r9": 1}
    assert numbers[1] == {"%r8": 2}
    assert numbers[2] == {"%p1": 0, "%r8": 2}  # predicates are not shared
    assert numbers[3] == {"%r9": 1, "%r8": 2, "%r7": 3}
    assert numbers[4] == numbers[5] == {"%rd0": 2, "%r7": 3}


def test_physical_registers_keep_their_declared_numbers() -> None:
    assert physical_numbers(ptxplus("mov.u32 $r9, $r8; exit;"), 4) is None
    assert physical_numbers(ptx("mov.u32 %r0, %tid.x; ret;", ".reg .b32 %r<1>;"), 4) is None


def test_values_that_do_not_fit_are_an_error_with_the_number_that_does() -> None:
    with pytest.raises(PtxError, match=r"(?s)E301.*need 3 physical ones, and the run takes 2.*--registers"):
        physical_numbers(ptx(BODY), 2)


CALLS = """
.version 8.0
.target sm_75
.address_size 64
.func leaf() { .reg .b32 %t<90>; mov.u32 %t80, %tid.x; mov.u32 %t81, %t80; ret; }
.func again() { .reg .b32 %t<90>; mov.u32 %t85, %tid.x; call again; call leaf; ret; }
.visible .entry k()
{
    .reg .b32 %r<90>;
    mov.u32 %r70, %tid.x;
    mov.u32 %r71, %tid.y;
    call leaf;
    call again;
    add.u32 %r72, %r70, %r71;
    ret;
}
"""


def test_called_functions_come_after_what_lives_across_their_calls() -> None:
    """2 registers live across the calls; `again` has one of its own, so that its `leaf` begins at the fourth."""
    found = physical_numbers(parse(CALLS).kernels["k"], 9)
    assert found is not None
    highest = {name: [max(n.values(), default=0) for n in each] for name, each in found.functions.items()}
    assert highest["k"] == [1, 2, 0, 0, 2, 0]
    assert highest["again"] == [3, 0, 0, 0]
    assert highest["leaf"] == [4, 4, 0]
    assert (found.declared, found.registers) == (90, 4)
    assert (found.highest("k", 1, True), found.number("k", 1, kernel_index(found, 1))) == (2, 2)


def kernel_index(found: PhysicalNumbers, instruction: int) -> int:
    """The index of the only register of the kernel's instruction."""
    (index,) = found.functions["k"][instruction]
    return index


def test_functions_that_only_calls_through_registers_reach_use_the_last_register() -> None:
    found = physical_numbers(parse(CALLS).kernels["k"], 9)
    assert found is not None
    assert (found.highest("elsewhere", 0, True), found.highest("elsewhere", 0, False)) == (9, 0)
    assert found.number("elsewhere", 3, 1) == 9
