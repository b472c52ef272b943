"""Marks in a body: where they stand, and which pragmas are none."""

import pytest
from kernels import ptx

from ptxtool.ir.marks import (
    ACQUIRE_EXTENDED,
    EXTENDED,
    REGISTERS,
    RELEASE_EXTENDED,
    SCRATCHPAD,
    mark_words,
    misspelt,
    release_marks,
)
from ptxtool.ir.marks import marks as all_marks
from ptxtool.ir.nodes import Directive


def marks(body: str) -> list[tuple[str, int, bool]]:
    return [(m.word, m.instruction, m.before_label) for m in release_marks(ptx(body))]


def test_a_mark_stands_before_the_next_instruction() -> None:
    assert marks('mov.u32 %r1, 1; .pragma "release_registers"; ret;') == [(REGISTERS, 1, False)]
    assert marks('ret; .pragma "release_registers";') == [(REGISTERS, 1, False)]


def test_one_pragma_may_release_both() -> None:
    body = '.pragma "release_scratchpad", "nounroll", "release_registers"; ret;'
    assert marks(body) == [(SCRATCHPAD, 0, False), (REGISTERS, 0, False)]


def test_a_mark_before_a_label_is_for_a_warp_that_falls_through() -> None:
    before, after = '.pragma "release_registers"; L: ret;', 'L: .pragma "release_registers"; ret;'
    assert marks(f"bra L; {before}") == [(REGISTERS, 1, True)]
    assert marks(f"bra L; {after}") == [(REGISTERS, 1, False)]


def test_marks_of_extended_registers_are_of_another_kind() -> None:
    body = '.pragma "acquire-extended-registers"; L: ret; .pragma "release-extended-registers";'
    assert marks(body) == []
    found = [(m.word, m.instruction, m.before_label) for m in all_marks(ptx(body), EXTENDED)]
    assert found == [(ACQUIRE_EXTENDED, 0, True), (RELEASE_EXTENDED, 1, False)]


def test_another_statement_releases_nothing() -> None:
    assert mark_words(Directive(0, 1, "section", '"release_registers"')) == ()
    assert mark_words(None) == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('"release_register"', "release_register"),
        ('"nounroll", "release_scratchpd"', "release_scratchpd"),
        ('"release_registers"', ""),
        ('"aquire-extended-registers"', "aquire-extended-registers"),
        ('"release-extended-registers"', ""),
        ('"nounroll"', ""),
    ],
)
def test_a_word_close_to_a_mark_was_meant_to_be_one(text: str, word: str) -> None:
    assert misspelt(Directive(0, 1, "pragma", text)) == word
