"""Register pressure as a report."""

from typing import Literal

from kernels import ptx, ptxplus

from ptxtool import api
from ptxtool.ir.nodes import Function
from ptxtool.report.kernels.pressure import pressure_parts
from ptxtool.results.register_counts import register_counts


def text(kernel: Function, per: Literal["thread", "warp"] = "warp") -> str:
    thread, warp = api.pressure(kernel, "thread"), api.pressure(kernel)
    parts = pressure_parts(thread, warp, thread if per == "thread" else warp, register_counts(kernel, None))
    return "\n".join(map(str, parts))


def test_the_place_of_most_live_registers() -> None:
    """%rd1 counts as two registers; with %r1 and %r2 it is four before the second addition."""
    kernel = ptx(
        "mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r2, %r2, %r1;\nst.global.u32 [%rd1], %r2;\nret;"
    )
    lines = text(kernel).splitlines()
    line = kernel.line(2)
    assert lines[0] == f"k: 4 live 32-bit registers per thread before line {line}: add.u32 %r2, %r2, %r1;"
    assert lines[1].startswith(f"4 per warp before line {line}: a thread's, and those of lanes that wait")
    assert lines[2] == "most predicates 0"
    (row,) = [each.split() for each in lines if each.startswith("%rd1")]
    assert row[-3:] == ["2", "nowhere", str(kernel.line(3))]
    assert "live 32-bit registers per warp before each of the 5 instructions" in lines


def test_both_counts_come_first_and_the_table_is_of_the_one_chosen() -> None:
    """In the loop, %r1 and %r2 of lanes that have left it are held while others run it: they are read after it."""
    kernel = ptx(
        "mov.u32 %r3, %tid.x;\nH: mov.u32 %r1, %r3;\nmov.u32 %r2, %r3;\nadd.u32 %r3, %r3, 1;\n"
        "setp.lt.u32 %p1, %r3, 64;\n@%p1 bra H;\nst.global.u32 [a], %r1;\nst.global.u32 [a], %r2;\nret;"
    )
    for per in ("thread", "warp"):
        lines = text(kernel, per).splitlines()
        assert lines[0].startswith(f"k: 3 live 32-bit registers per thread before line {kernel.line(3)}: ")
        assert lines[1].startswith(f"3 per warp before line {kernel.line(1)}: ")
        assert f"live per {per} before line {kernel.line(3 if per == 'thread' else 1)}" in lines


def test_ptxplus_has_address_registers() -> None:
    lines = text(ptxplus("mov.u32 $r1, s[$ofs1]; mov.u32 $r2, $r1; exit;")).splitlines()
    assert lines[2] == "most predicates 0, most address registers 1"


def test_a_kernel_without_instructions() -> None:
    assert text(ptx("")) == "k: no instructions"
