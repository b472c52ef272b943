"""Names in operands, and where a word stands in a statement."""

import pytest
from kernels import ptxplus

from ptxtool.ir.names import diagnostic_at, memory_in, names, span_of_word
from ptxtool.ir.nodes import Binary, Memory, Name
from ptxtool.parse import parse


@pytest.mark.parametrize(
    ("operand", "found"),
    [
        ("s[$ofs1+$r2]", ["s", "$ofs1", "$r2"]),
        ("-s[$ofs1]", ["s", "$ofs1"]),
        ("{$r3, $r1}", ["$r3", "$r1"]),
        ("$r1.lo", ["$r1"]),
        ("($r2 + 4) * $r1", ["$r2", "$r1"]),
        ("0x10", []),
    ],
)
def test_names_in_the_order_of_the_text(operand: str, found: list[str]) -> None:
    (node,) = ptxplus(f"mov.u32 $r0, {operand};").instructions
    assert [name.text for name in names(node.operands[1])] == found


def test_the_words_of_a_samplers_initialiser_are_no_names() -> None:
    assert names(Binary("=", Name("filter_mode"), Name("nearest"))) == []


def test_a_negated_memory_operand_is_one() -> None:
    negated, plain = ptxplus("mov.u32 $r0, -s[$ofs1]; mov.u32 $r0, $r1;").instructions
    assert memory_in(negated.operands[1]) == Memory("s", Name("$ofs1"))
    assert memory_in(plain.operands[1]) is None


@pytest.mark.parametrize(
    ("word", "marked"),
    [
        ("%r1", "%r1"),
        ("r1", "r1"),  # the second one stands alone
        ("%p", "%p"),
        ("%q7", "%q"),  # one of %q<8>
        ("absent", "%r11, %r1, r1, %p, %q<8>"),
        ("", "%r11, %r1, r1, %p, %q<8>"),
    ],
)
def test_a_word_is_not_part_of_a_longer_one(word: str, marked: str) -> None:
    text = "%r1 %r11, %r1, r1, %p, %q<8> absent"
    start, end = span_of_word(text, 4, 28, word)
    assert text[start:end] == marked
    assert start >= 4


def test_a_diagnostic_at_a_function_marks_its_head() -> None:
    kernel = parse(".entry k(.param .u32 a) { a: bra a; }").kernels["k"]
    found = diagnostic_at("E205", "no", kernel.source, kernel, "a")
    assert (found.start, found.end) == (len(".entry k(.param .u32 "), len(".entry k(.param .u32 a"))
    absent = diagnostic_at("E205", "no", kernel.source, kernel, "bra")
    assert (absent.start, absent.end) == (kernel.start, kernel.body_start)
