"""Line information goes with the instructions whose order changes. `%r5` and above are shared, the others are not."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ptxtool.analysis.flow.cuda_lines import cuda_lines
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = '.version 7.0\n.target sm_70\n.address_size 64\n.file 1 "k.cu"\n.visible .entry k(.param .u32 n)\n{\n'
REGISTERS = "\t.reg .pred %p;\n\t.reg .b32 %r<9>;\n"
DELAY = "delay-first-use{share=50,registers=12}"
SHARED, PRIVATE = "mov.u32 %r5, 1;", "mov.u32 %r1, 2;"


def source(body: str) -> str:
    return f"{HEAD}{REGISTERS}{body}}}\n"


def delayed(body: str) -> str:
    text = rewrite(parse(source(body)), DELAY).module.source.text
    return text.removeprefix(HEAD + REGISTERS).removesuffix("}\n")


def reported(module: Module) -> Counter[tuple[str, str]]:
    """The instructions of the kernel, each with its line in the CUDA source."""
    kernel = module.kernels["k"]
    return Counter((kernel.text(i), line) for i, line in enumerate(cuda_lines(kernel)))


def test_each_instruction_takes_its_line_along() -> None:
    body = f"\t.loc 1 3 1\n\t{SHARED}\n\t.loc 1 4 1\n\t{PRIVATE} // two\n\t.loc 1 5 1\n\tret;\n"
    assert delayed(body) == (
        f"\t.loc 1 3 1\n\t.loc 1 4 1\n\t{PRIVATE}\n\t.loc 1 3 1\n\t{SHARED} // two\n\t.loc 1 5 1\n\tret;\n"
    )


def test_what_follows_keeps_its_line() -> None:
    body = f"\t.loc 1 3 1\n\t{SHARED}\n\t.loc 1 4 1\n\t{PRIVATE}\nL:\tret;\n"
    assert delayed(body) == (
        f"\t.loc 1 3 1\n\t.loc 1 4 1\n\t{PRIVATE}\n\t.loc 1 3 1\n\t{SHARED}\n\t.loc 1 4 1\nL:\tret;\n"
    )


def test_statements_that_share_a_line() -> None:
    body = f"\t.loc 1 3 1\n\t{SHARED} mov.u32 %r6, 1;\n\t.loc 1 4 1\n\t{PRIVATE} ret;\n"
    before, after = parse(source(body)), rewrite(parse(source(body)), DELAY).module
    assert [after.kernels["k"].text(i) for i in range(2)] == [PRIVATE, SHARED]
    assert reported(after) == reported(before)


def test_nothing_passes_the_first_line() -> None:
    body = f"\t{SHARED}\n\t.loc 1 4 1\n\t{PRIVATE}\n\tret;\n"
    assert delayed(body) == body


REGISTER = st.integers(0, 8).map("%r{}".format)
LINE = st.one_of(
    st.tuples(REGISTER, REGISTER, REGISTER).map("\tadd.u32 {0[0]}, {0[1]}, {0[2]};\n".format),
    st.integers(1, 4).map("\t.loc 1 {} 1\n".format),
    st.integers(1, 4).map(".loc 1 {0} 1\n\t.loc 1 {0} 9\n".format),
    st.sampled_from(["\tbar.sync 0;\n", "\n", "\t// a comment\n"]),
)


@given(st.lists(LINE, max_size=30), st.sampled_from(["\tret;\n", "L: ret;\n", "\t.loc 1 9 1\n\tret;\n"]))
def test_every_instruction_has_the_line_it_had(lines: list[str], end: str) -> None:
    before = parse(source("".join(lines) + end))
    after = rewrite(before, DELAY).module
    assert reported(after) == reported(before)
    assert rewrite(after, DELAY).module is after
