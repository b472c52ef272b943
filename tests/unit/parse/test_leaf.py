"""Operands without Lark: which texts are read here, and that each text is read once."""

import pytest

from ptxtool.ir.nodes import Binary, Immediate, Memory, Name, Unary, Vector
from ptxtool.parse import parse
from ptxtool.parse.leaf import MAX_BRACKETS, LeafOperands


def test_blanks_around_an_operand_give_the_same_node() -> None:
    operands = LeafOperands(is_ptx=True)
    assert operands[" [%rd1+8]\t"] is operands["[%rd1+8]"]
    memory = operands["[%rd1+8]"]
    assert isinstance(memory, Memory)
    assert memory.base is operands["%rd1"]


def test_texts_share_operands_until_there_are_many() -> None:
    text = ".version 7.0\n.target sm_70\n.entry k() { .reg .b32 %shared; mov.u32 %shared, 1; ret; }"
    many = text.replace("mov", "".join(f"mov.u32 %shared, {n};" for n in range(5000)) + "mov")

    def target(text: str) -> object:
        return parse(text).kernels["k"].instructions[-2].operands[0]

    first = target(text)
    assert target(text.replace("k()", "k ()")) is first
    assert target(many) is first, "none is forgotten in mid-text"
    assert target(text) is not first


def test_a_list_is_cut_at_commas_outside_brackets() -> None:
    found = LeafOperands(is_ptx=True).read_list(" {%f1, %f2}, [t, {%r1, _}] , -4 ")
    assert found == (
        Vector((Name("%f1"), Name("%f2"))),
        Memory("", Name("t"), None, False, (Vector((Name("%r1"), Name("_"))),)),
        Immediate("-4"),
    )
    assert LeafOperands(is_ptx=True).read_list(" ") == ()


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("s[$ofs1+=0x4]", Memory("s", Name("$ofs1"), Immediate("0x4"), True)),
        ("[a+b]", Memory("", Name("a"), Name("b"))),
        ("a-b", Binary("-", Name("a"), Name("b"))),
        ("~a", Unary("~", Name("a"))),
        ("-{a,b}", Unary("-", Vector((Name("a"), Name("b"))))),
    ],
)
def test_forms_of_ptxplus_are_refused_in_ptx(text: str, node: object) -> None:
    assert LeafOperands(is_ptx=False)[text] == node
    with pytest.raises(KeyError):
        LeafOperands(is_ptx=True)[text]


@pytest.mark.parametrize(
    "text", ["a + b * c", "1 + 2", "{a, {b}}", "{}", "[a, 4]", "(!a)", "", "a b", "{" * (MAX_BRACKETS + 1)]
)
def test_others_are_left_to_lark(text: str) -> None:
    with pytest.raises(KeyError):
        LeafOperands(is_ptx=True)[text]
