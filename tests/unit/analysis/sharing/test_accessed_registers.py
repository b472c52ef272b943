"""The registers that instructions access, worked out by hand."""

import pytest
from kernels import VIRTUAL, ptx, ptxplus

from ptxtool.analysis.sharing.accessed_registers import accessed_registers
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

CALLS = """
.version 8.0
.target sm_75
.address_size 64
.func leaf() { .reg .b32 %t<90>; mov.u32 %t80, %tid.x; mov.u32 %t81, %t80; ret; }
.func other() { ret; }
.visible .entry k()
{
    .reg .b32 %r<90>;
    mov.u32 %r70, %tid.x;
    mov.u32 %r71, %tid.y;
    call leaf;
    add.u32 %r72, %r70, %r71;
    ret;
}
"""


def sets(kernel: Function, registers: int) -> tuple[int, list[str]]:
    """The registers of a thread, and those of each instruction in binary."""
    found = accessed_registers(kernel, registers, [kernel])
    assert found is not None
    return found.per_thread, [f"{each:b}" for each in found.functions["k"]]


def test_virtual_registers_are_those_that_they_are_assigned() -> None:
    """%r9 in 0, %r8 in 1, %r7 in 2; the pair %rd0 takes 0 and 1. The predicate does not count."""
    assert sets(ptx(VIRTUAL), 2) == (3, ["1", "10", "10", "111", "111", "111", "0"])
    assert sets(ptx(VIRTUAL), 8)[0] == 8


def test_physical_registers_are_those_of_their_names() -> None:
    """Bits in the order in which the text declares the names; %rd1 is %r2 with %r3."""
    text = "mov.u32 %r0, %tid.x; cvt.u64.u32 %rd1, %r0; @%p1 bra L; mov.u32 %r3, %r0; L: ret;"
    registers = ".reg .pred %p<2>; .reg .b64 %rd<2>; .reg .b32 %r<4>;"
    assert sets(ptx(text, registers), 4) == (4, ["1", "1101", "0", "1001", "0"])


def test_what_ptxplus_reads_and_writes() -> None:
    """A value of 64 bits takes the register after the named one; zero, sinks, addresses and predicates do not count."""
    text = "mov.u32 $r2, $r124; add.u32 $p1|$o127, $r2, $r0; mov.u32 $ofs1, $r1; cvt.ff64.s32 $r4, $r2; exit;"
    assert sets(ptxplus(text), 6) == (6, ["100", "101", "10", "110100", "0"])
    assert sets(ptxplus(text), 2)[0] == 5


def test_functions_come_after_what_lives_across_their_calls() -> None:
    """Two registers live across the call: `leaf` has the third."""
    module = parse(CALLS)
    found = accessed_registers(module.kernels["k"], 2, [module.functions["k"], module.functions["leaf"]])
    assert found is not None
    assert (found.per_thread, found.most) == (3, 3)
    assert found.functions["leaf"] == (0b100, 0b100, 0)
    assert (found.functions["k"][0] | found.functions["k"][1], found.functions["k"][2]) == (0b11, 0)


def test_what_is_not_known() -> None:
    module = parse(CALLS)
    assert (
        accessed_registers(module.kernels["k"], 9, [module.functions["other"]]) is None
    )  # it is never called
    vector = ptx("mov.v4.u32 %v, {1, 2, 3, 4}; ret;", ".reg .v4 .u32 %v;")
    assert accessed_registers(vector, 9, [vector]) is None
    nowhere = ptx("bra L; ret;")
    with pytest.raises(PtxError, match="E202"):
        accessed_registers(nowhere, 9, [nowhere])
