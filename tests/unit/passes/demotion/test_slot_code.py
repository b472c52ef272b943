"""The code of slots, line by line, in both dialects."""

from kernels import ptxplus

from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.demotion.slot_code import SlotCode


def ptx(directives: str) -> Function:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    return parse(f"{head}.entry k() {directives} {{ ret; }}\n").kernels["k"]


def test_ptx() -> None:
    code = SlotCode(ptx(".reqntid 32"), "slots", 32, "%r1", 0)
    assert code.declaration(3) == ".shared .align 4 .b8 slots[384];"
    assert code.load("%rs2", 16, 0) == "ld.shared.b16 %rs2, [%r1];"
    assert code.store("%r2", 32, 2) == "st.shared.b32 [%r1+256], %r2;"
    assert [*code.entry("%r2")] == [
        "mov.u32 %r2, %tid.x;",
        "shl.b32 %r2, %r2, 2;",
        "mov.u32 %r1, slots;",
        "add.u32 %r1, %r1, %r2;",
    ]


def test_extents_that_are_known() -> None:
    code = SlotCode(ptx(".reqntid 8, 4"), "slots", 32, "%r1", 0)
    assert [*code.entry("%r2")][:4] == [
        "mov.u32 %r2, %tid.y;",
        "mul.lo.u32 %r2, %r2, 8;",
        "mov.u32 %r1, %tid.x;",
        "add.u32 %r2, %r2, %r1;",
    ]


def test_ptxplus() -> None:
    """Slots at 0x60; a CTA may have any extents."""
    code = SlotCode(ptxplus("exit;"), "slots", 48, "$r11", 96)
    assert code.declaration(3) == ".shared .align 16 .b8 slots[576];"
    assert code.load("$r12", 32, 0) == "ld.shared.u32 $r12, [$r11];"
    assert code.store("$r12", 32, 2) == "st.shared.u32 [$r11+0x0180], $r12;"
    assert [*code.entry("$r12")] == [
        "mov.u32 $r12, %tid.z;",
        "mov.u32 $r11, %ntid.y;",
        "mul.lo.u32 $r12, $r12, $r11;",
        "mov.u32 $r11, %tid.y;",
        "add.u32 $r12, $r12, $r11;",
        "mov.u32 $r11, %ntid.x;",
        "mul.lo.u32 $r12, $r12, $r11;",
        "mov.u32 $r11, %tid.x;",
        "add.u32 $r12, $r12, $r11;",
        "shl.b32 $r12, $r12, 0x00000002;",
        "add.u32 $r11, $r12, 0x00000060;",
    ]
