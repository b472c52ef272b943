"""The layout of single statements: the same on the quick way for plain instructions and on the other one."""

import pytest

from ptxtool.emit.statements import Statements
from ptxtool.ir.nodes import Declaration, Function, Instruction
from ptxtool.parse import parse

HEAD = ".version 7.0\n.target sm_70\n"


def kernel(text: str) -> tuple[Function, Statements]:
    module = parse(HEAD + text)
    (function,) = module.functions.values()
    return function, Statements(module.source.text)


@pytest.mark.parametrize(
    "text",
    [
        "add.s32 %r1, %r2, -3;",
        "@!%p1 st.global.v2.u32 [%rd1+8], {%r1, %r2};",
        "setp.lt.and.f32 %p1|%p2, %f1, 0f3F800000, !%p3;",
        "@%p1 ret;",
    ],
)
def test_a_comment_inside_changes_nothing_else(text: str) -> None:
    """A plain instruction is laid out by an expression of its own; one with a comment, piece by piece."""
    function, statements = kernel(f".entry k() {{ {text} {text.replace(';', '/**/;')} }}")
    plain, other = (statements.instruction(node, "  ") for node in function.instructions)
    assert other.replace(" /**/", "") == plain


def test_the_field_of_operands_depends_on_its_own_line() -> None:
    function, statements = kernel(
        ".entry k() { mov.b32 a, b; @%p1 mov.b32 a, b; @%p1 add.rn.ftz.f32 a, b, c; }"
    )
    lines = [statements.instruction(node, "") for node in function.instructions]
    assert [line.index("a,", 8) for line in lines] == [16, 16, 24]


def test_an_initialiser_keeps_its_lines() -> None:
    module = parse(f"{HEAD}.global .u32 t[2][2] =\n{{{{1,2}},\n{{3,\n4}}}};")
    node = module.variables["t"]
    assert isinstance(node, Declaration)
    lines = Statements(module.source.text).declaration(node, "").split("\n")
    assert lines == [".global .u32    t[2][2] =", "{{1, 2},", "    {3,", "        4}};"]


def test_a_head_has_a_line_for_each_parameter_and_directive() -> None:
    function, statements = kernel(
        ".visible .entry k(.param .u64 a,.param .u32 b) .maxntid 256,1,1 .minnctapersm 2 { ret; }"
    )
    assert statements.head(function).split("\n") == [
        ".visible .entry k(",
        "    .param .u64 a,",
        "    .param .u32 b",
        ")",
        ".maxntid 256, 1, 1",
        ".minnctapersm 2",
    ]


def test_a_head_without_parameters_is_one_line() -> None:
    function, statements = kernel(".func (.reg .u32 r) f ( ) { ret; }")
    assert statements.head(function) == ".func (.reg .u32 r) f()"
    assert all(isinstance(node, Instruction) for node in function.instructions)
