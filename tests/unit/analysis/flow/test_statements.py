"""The statements of a function as values: their shapes, and the names in them."""

import pytest
from kernels import ptx

from ptxtool.analysis.flow.statements import Comparable, comparables
from ptxtool.parse import parse


def one(text: str) -> Comparable:
    return comparables(ptx(f"L: {text}"))[-1]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("add.u32 %r1, %r2, 16;", "add.u32   %r3,%r3,0x10;"),
        ("@%p1 bra L;", "@%p2  bra L;"),
        ("mov.f32 %f1, 0f3f800000;", "mov.f32 %f1, 0F3F800000;"),
        ("st.global.u32 [%rd1+4], %r1;", "st.global.u32 [%rd2+0x4], %r9;"),
    ],
)
def test_equal_but_for_names_and_spellings(text: str, other: str) -> None:
    assert one(text).shape == one(other).shape


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("add.u32 %r1, %r2, 16;", "add.u32 %r1, %r2, 17;"),
        ("add.u32 %r1, %r2, 16;", "add.s32 %r1, %r2, 16;"),
        ("@%p1 bra L;", "@!%p1 bra L;"),
        ("@%p1 bra L;", "bra L;"),
        ("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.y;"),
        ("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %r2;"),
        ("st.global.u32 [%rd1+4], %r1;", "st.global.u32 [%rd1], %r1;"),
    ],
)
def test_different_in_more(text: str, other: str) -> None:
    assert one(text).shape != one(other).shape


def test_names_in_order_with_their_registers() -> None:
    kernel = ptx("L: @%p1 add.u32 %r1, %r2, %r1; bra L;")
    first, second = comparables(kernel)[1:]
    assert [name.name for name in first.names] == ["%p1", "%r1", "%r2", "%r1"]
    assert [kernel.registers[name.register].name for name in first.names] == ["%p1", "%r1", "%r2", "%r1"]
    assert [(name.name, name.register) for name in second.names] == [("L", -1)]
    assert (first.instruction, second.instruction) == (0, 1)


def test_a_parameter_is_its_place() -> None:
    def load(function: str, parameters: str, name: str) -> object:
        body = f"{{ .reg .u32 %r<2>; ld.param.u32 %r1, [{name}]; }}"
        text = f".version 7.0\n.target sm_70\n.entry {function}({parameters}) {body}\n"
        return comparables(parse(text).kernels[function])[0].shape

    first = load("k", ".param .u32 k_0, .param .u32 k_1", "k_1")
    assert first == load("j", ".param .u32 j_0, .param .u32 j_1", "j_1")
    assert first != load("j", ".param .u32 j_0, .param .u32 j_1", "j_0")


def test_which_statements_are_compared() -> None:
    """Labels that something refers to, lists of labels and pragmas; no declarations, line information, braces."""
    body = """USED: { .reg .b32 %x; .loc 1 2 3
T: .branchtargets USED; UNUSED: .pragma "nounroll"; brx.idx %r1, T; }"""
    assert [c.base for c in comparables(ptx(body))] == ["label", "label", "branchtargets", "pragma", "brx"]
