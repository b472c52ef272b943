"""CUDA lines in the reports on kernels."""

from ptxtool.base.cuda_places import CudaPlace
from ptxtool.parse import parse
from ptxtool.report.kernels.cuda import cuda_data, cuda_marks, cuda_text, place_text

KERNEL = parse(
    '.version 8.0\n.target sm_80\n.file 1 "k.cu"\n.entry k()\n{\n\t.reg .u32 %r<2>;\n\tmov.u32 %r0, 0;\n'
    "\t.loc 1 3 1\n\tmov.u32 %r0, 1;\n\tmov.u32 %r0, 2;\n\t.loc 1 4 1\n\tmov.u32 %r1, 3;\n\t.loc 1 3 1\n\tret;\n}\n",
    "k.ptx",
).kernels["k"]


def text_of(ptx: str, place: CudaPlace) -> str:
    return f"<{ptx} {place.path} {place.line}>" if place.line == 3 else ""


def test_a_mark_stands_where_the_line_changes() -> None:
    assert cuda_marks(KERNEL) == {1: "k.cu:3", 3: "k.cu:4", 4: "k.cu:3"}
    assert cuda_marks(KERNEL, text_of) == {
        1: "k.cu:3: <k.ptx k.cu 3>",
        3: "k.cu:4",
        4: "k.cu:3: <k.ptx k.cu 3>",
    }


def test_an_instruction_without_a_place() -> None:
    assert cuda_text(KERNEL, 0) == ""
    assert cuda_data(KERNEL, 0) == cuda_data(KERNEL, None) == {}
    assert cuda_data(KERNEL, 2) == {"cuda": "k.cu:3"}


def test_the_text_of_a_place() -> None:
    assert place_text("k.ptx")(CudaPlace("/src/k.cu", 3)) == "k.cu:3"
    assert place_text("k.ptx", text_of)(CudaPlace("k.cu", 3)) == "k.cu:3: <k.ptx k.cu 3>"
    assert place_text("k.ptx", text_of)(None) == ""
