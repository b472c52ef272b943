"""What Lark's reductions become where the per-statement parser has no say: operands, nested blocks."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Binary, Immediate, Instruction, Memory, Name, ScopeClose, ScopeOpen
from ptxtool.parse import parse_with_lark


def test_a_part_that_stands_apart_belongs_to_its_name() -> None:
    (node,) = parse_with_lark(".version 8.0 .entry k() { mov.u32 %r1, %tid .x; }").kernels["k"].instructions
    assert node.operands[1] == Name("%tid", "x")


def test_a_second_part_is_refused() -> None:
    text = ".version 8.0 .entry k() { mov.u32 %r1, %tid.x .y; }"
    with pytest.raises(PtxError) as caught:
        parse_with_lark(text)
    (found,) = caught.value.diagnostics
    assert (found.message, text[found.start : found.end]) == ("'.y' is a second part", ".y")


def test_the_body_of_nested_blocks_is_a_flat_list() -> None:
    text = ".entry k() { { ret; { } } exit; }"
    body = parse_with_lark(text).kernels["k"].body or ()
    assert [type(s) for s in body] == [
        ScopeOpen,
        Instruction,
        ScopeOpen,
        ScopeClose,
        ScopeClose,
        Instruction,
    ]
    assert [text[s.start : s.end] for s in body] == ["{", "ret;", "{", "}", "}", "exit;"]


def test_a_parser_reads_the_source_of_its_call() -> None:
    """The parser is shared; directives cut their text from the source of the parse."""
    first, second = (parse_with_lark(f'.file 1 "{name}.cu"') for name in "ab")
    assert (first.directive("file"), second.directive("file")) == ('1 "a.cu"', '1 "b.cu"')


def test_what_follows_the_plus_of_an_address_is_one_constant() -> None:
    module = parse_with_lark(".version 8.0\n.target sm_80\n.entry k() { ld.u32 %r1, [%rd1+1<<2]; ret; }")
    (operand,) = module.functions["k"].instructions[0].operands[1:]
    assert operand == Memory("", Name("%rd1"), Binary("<<", Immediate("1"), Immediate("2")))
