"""What is left of a text with syntax errors, for checks of the rest."""

import pytest

from ptxtool.parse import parse
from ptxtool.parse.broken import SyntaxErrors


def broken(text: str) -> SyntaxErrors:
    with pytest.raises(SyntaxErrors) as caught:
        parse(text)
    return caught.value


def test_a_broken_instruction_is_passed_over() -> None:
    text = ".entry k() { .reg .u32 a; mov.u32 a 1; ret; }"
    found = broken(text)
    assert found.rest is not None
    assert [i.opcode.text for i in found.rest.kernels["k"].instructions] == ["ret"]
    assert [text[start:end].strip() for start, end in found.skipped] == ["mov.u32 a 1;"]


@pytest.mark.parametrize(
    "text",
    [
        ".golbal .u32 a; .entry k() { mov.u32 a 1; ret; }",  # a declaration
        ".entry k(.param u32 n) { mov.u32 a 1; ret; }",  # a head
        ".entry k() { mov.u32 a 1; ret;",  # a brace
    ],
)
def test_where_more_is_broken_nothing_is_left(text: str) -> None:
    assert broken(text).rest is None
