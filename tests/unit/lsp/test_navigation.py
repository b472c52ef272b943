"""Definitions and references, worked out by hand on the text of `lsp_texts`."""

import pytest
from lsp_texts import PTX, at

from ptxtool.lsp.document import Document
from ptxtool.lsp.navigation import definition, is_of_range, references


def lines(places: object) -> list[int]:
    return [PTX.count("\n", 0, o.start) + 1 for o in places]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "inside", "declared", "used"),
    [
        ("bra LOOP", "LOOP", [23], [23, 31]),
        ("[cache]", "cache", [18], [18, 28]),
        ("[data]", "data", [13], [13, 20]),
        ("[total]", "total", [5], [5, 34]),
        ("twice, (", "twice", [7], [7, 32]),
        ("mov.u32 %r2, 5", "%r2", [26], [26, 27, 28]),
        ("setp.lt.u32 %p1, %r2", "%r2", [16], [16, 22, 24, 24, 30, 32]),
        (".reg .u64 %rd<2>", "%rd", [17], [17, 20, 33]),
        ("add.u32 %out, %in, %in", "%in", [7], [7, 9, 9]),
    ],
)
def test_definition_and_references(words: str, inside: str, declared: list[int], used: list[int]) -> None:
    document = Document("k.ptx", PTX)
    place = at(PTX, words, inside=inside)
    assert lines(definition(document, place)) == declared
    assert lines(references(document, place)) == used


def test_nothing_on_blanks_and_special_registers() -> None:
    document = Document("k.ptx", PTX)
    assert references(document, at(PTX, "\n\n") + 1) == ()
    assert definition(document, at(PTX, "%tid.x")) == ()


def test_is_of_range() -> None:
    assert is_of_range("%r10", "%r")
    assert is_of_range("%r0", "%r")
    assert not is_of_range("%r01", "%r")
    assert not is_of_range("%rd1", "%r")
