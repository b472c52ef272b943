"""release-registers: which registers are private, and what touches a shared one."""

from kernels import ptx

from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite
from ptxtool.passes.sharing.release_registers import ReleaseRegisters

REGISTERS = ".reg .b32 %r<8>;"


def test_private_are_the_first_ones_in_declaration_order() -> None:
    """floor(8 * (100 - 40) / 100) = 4 are private: %r0 to %r3."""
    kernel = ptx("mov.u32 %r3, 1; mov.u32 %r4, 1; add.u32 %r1, %r4, %r2; ret;", REGISTERS)
    found = ReleaseRegisters(share="40", registers=8).touches(kernel)
    assert list(found) == [False, True, True, False]


def test_without_a_count_the_kernels_own_is_taken() -> None:
    """Two values are live at most: at 50% one register is private."""
    kernel = ptx(
        "mov.u32 %r0, 1; mov.u32 %r1, 1; add.u32 %r0, %r0, %r1; st.global.u32 [0], %r0; ret;", REGISTERS
    )
    assert list(ReleaseRegisters(share="50").touches(kernel)) == [False, True, True, False, False]


def test_a_call_touches_shared_registers() -> None:
    text = """.version 7.0\n.target sm_70\n.address_size 64\n.func f() { ret; }
.entry k()\n{\n\t.reg .b32 %r<4>;\n\tmov.u32 %r3, 1;\n\tcall f;\n\tmov.u32 %r1, 1;\n\tret;\n}\n"""
    after = rewrite(parse(text), "release-registers{share=50,registers=4}").module.source.text
    assert '\tcall f;\n\t.pragma "release_registers";\n\tmov.u32 %r1, 1;\n' in after
