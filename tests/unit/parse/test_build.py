"""What the builders of statements make of tokens, and what they refuse by name."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Directive, Label, Opcode
from ptxtool.parse import parse, parse_with_lark
from ptxtool.parse.build import label, opcode
from ptxtool.parse.tokens import Token


def test_blanks_are_no_part_of_an_opcode() -> None:
    assert opcode("add .s32") == opcode("add.s32") == Opcode("add.s32", "add", ("s32",))
    assert opcode("ld.shared::cta \n.b32").modifiers == ("shared::cta", "b32")


def test_a_label_is_its_name() -> None:
    assert label(Token("LABEL", "L1 \t:", 5, 10)) == Label(5, 10, "L1")


def test_a_directive_of_a_head_keeps_its_numbers() -> None:
    kernel = parse('.entry k() .maxntid 16 , 8 .pragma "nounroll"; .minnctapersm 2 { ret; }').kernels["k"]
    assert [(d.name, d.text) for d in kernel.directives] == [
        ("maxntid", "16 , 8"),
        ("pragma", '"nounroll"'),
        ("minnctapersm", "2"),
    ]


def test_an_attribute_of_a_function_is_a_directive() -> None:
    function = parse(".func .attribute(.unified(1,  2)) f() { ret; }").functions["f"]
    (found,) = function.directives
    assert isinstance(found, Directive)
    assert (found.name, found.text) == ("attribute", "(.unified(1,2))")


def test_parameters_before_the_name_are_results() -> None:
    function = parse(".func (.reg .u32 r) f (.reg .u32 _, .reg .f32 x) { ret; }").functions["f"]
    assert [d.declarators[0].name for d in function.returns] == ["r"]
    assert [d.declarators[0].name for d in function.params] == ["_", "x"]


@pytest.mark.parametrize("parser", [parse, parse_with_lark])
@pytest.mark.parametrize(
    ("text", "marked", "message"),
    [
        (".common .func f() { ret; }", ".common", "'.common' at a function"),
        (".entry k .shared .u32 a; { ret; }", ".shared", "'.shared' in a function's head"),
        (".global .u32 a[1.5];", "1.5", "'1.5' is no integer"),
        (".entry k() { .reg .u32 _; ret; }", "_", "'_' cannot be declared"),
        (".entry k() { p: .callprototype f (.param .b32 a); ret; }", "f", "unexpected name 'f'"),
    ],
)
def test_what_the_grammar_lets_pass(parser: object, text: str, marked: str, message: str) -> None:
    assert callable(parser)
    with pytest.raises(PtxError) as caught:
        parser(text)
    found = caught.value.diagnostics[0]
    assert (found.code, found.message, text[found.start : found.end]) == ("E101", message, marked)
