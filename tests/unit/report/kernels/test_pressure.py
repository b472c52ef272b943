"""Register pressure as a report."""

from kernels import ptx, ptxplus

from ptxtool import api
from ptxtool.ir.nodes import Function
from ptxtool.report.kernels.pressure import pressure_parts
from ptxtool.results.register_counts import register_counts


def text(kernel: Function) -> str:
    parts = pressure_parts(api.pressure(kernel), register_counts(kernel, None))
    return "\n".join(map(str, parts))


def test_the_place_of_most_live_registers() -> None:
    """%rd1 counts as two registers; with %r1 and %r2 it is four before the second addition."""
    kernel = ptx(
        "mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r2, %r2, %r1;\nst.global.u32 [%rd1], %r2;\nret;"
    )
    lines = text(kernel).splitlines()
    line = kernel.line(2)
    assert lines[0] == f"k: 4 live 32-bit registers per warp before line {line}: add.u32 %r2, %r2, %r1;"
    assert lines[1] == "most predicates 0"
    (row,) = [each.split() for each in lines if each.startswith("%rd1")]
    assert row[-3:] == ["2", "nowhere", str(kernel.line(3))]
    assert "live 32-bit registers before each of the 5 instructions" in lines


def test_ptxplus_has_address_registers() -> None:
    lines = text(ptxplus("mov.u32 $r1, s[$ofs1]; mov.u32 $r2, $r1; exit;")).splitlines()
    assert lines[1] == "most predicates 0, most address registers 1"


def test_a_kernel_without_instructions() -> None:
    assert text(ptx("")) == "k: no instructions"
