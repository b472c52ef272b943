"""Operand nodes from their parts: precedence, where an address splits, how deep operands may nest."""

import pytest

from ptxtool.ir.nodes import Binary, Cast, Dual, Group, Immediate, Memory, Name, Operand, Unary, Vector
from ptxtool.parse.operands import (
    MAX_DEPTH,
    NestedOperand,
    TooDeep,
    destination,
    fold,
    infix,
    is_constant,
    memory,
    number_of,
    prefix,
)

A, B, ONE = Name("a"), Name("b"), Immediate("1")


def leaf(node: Operand) -> NestedOperand:
    return NestedOperand(node, 0)


def shown(node: Operand) -> str:
    if isinstance(node, Binary):
        return f"({shown(node.left)}{node.operator}{shown(node.right)})"
    assert isinstance(node, Name)
    return node.text


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a - b - c", "((a-b)-c)"),
        ("a + b * c", "(a+(b*c))"),
        ("a * b + c", "((a*b)+c)"),
        ("a || b && c | d ^ e & f", "(a||(b&&(c|(d^(e&f)))))"),
        ("a << b < c == d & e", "((((a<<b)<c)==d)&e)"),
        ("a + b << c", "((a+b)<<c)"),
    ],
)
def test_precedences_are_those_of_c(text: str, tree: str) -> None:
    items = [leaf(Name(word)) if word.isalpha() else word for word in text.split()]
    assert shown(infix(items).node) == tree


def test_the_minus_of_a_literal_joins_it_once() -> None:
    negative = prefix("-", leaf(ONE))
    assert negative == leaf(Immediate("-1"))
    assert prefix("-", negative).node == Unary("-", Immediate("-1"))
    assert prefix("~", leaf(ONE)).node == Unary("~", ONE)


@pytest.mark.parametrize(
    ("address", "base", "offset"),
    [
        (A, A, None),
        (Immediate("16"), None, Immediate("16")),
        (Binary("+", Immediate("16"), ONE), None, Binary("+", Immediate("16"), ONE)),
        (Binary("+", Binary("+", A, B), ONE), Binary("+", A, B), ONE),
        (Binary("-", A, ONE), A, Immediate("-1")),
        (Binary("-", A, B), Binary("-", A, B), None),
        (Binary("*", A, ONE), Binary("*", A, ONE), None),
    ],
)
def test_an_address_splits_at_its_last_sum(
    address: Operand, base: Operand | None, offset: Operand | None
) -> None:
    assert memory("s", leaf(address)).node == Memory("s", base, offset)


def test_only_a_literal_makes_an_expression_constant() -> None:
    assert is_constant(Cast("s64", Group((Binary("+", ONE, Unary("~", ONE)),))))
    assert not is_constant(Binary("+", ONE, A))
    assert not is_constant(Group((ONE, ONE)))


def test_two_destinations_are_no_expression() -> None:
    assert destination(Binary("|", A, B)) == Dual(A, B, "|")
    assert destination(Binary("/", Vector((A,)), B)) == Dual(Vector((A,)), B, "/")
    for node in (Binary("|", A, ONE), Binary("|", ONE, A), Binary("+", A, B)):
        assert destination(node) is node


def test_depth_is_limited() -> None:
    operand = leaf(A)
    for _ in range(MAX_DEPTH):
        operand = prefix("-", operand)
    with pytest.raises(TooDeep):
        prefix("-", operand)


def test_folding() -> None:
    assert fold(Immediate("0x10")) == 16
    assert fold(Binary("<<", ONE, Immediate("4"))) == 16
    assert fold(A) is None
    assert fold(Immediate("1.5")) is None
    assert number_of(Immediate("0f3f000000")) == 0.5
    assert number_of(Binary("+", Immediate("1.5"), Immediate("2.0"))) == 3.5
    assert number_of(A) is None
