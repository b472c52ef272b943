"""Release marks in a body: where they stand, and which pragmas are none."""

import pytest
from kernels import ptx

from ptxtool.ir.marks import REGISTERS, SCRATCHPAD, misspelt, release_marks, releases
from ptxtool.ir.nodes import Directive


def marks(body: str) -> list[tuple[str, int, bool]]:
    return [(m.release, m.instruction, m.before_label) for m in release_marks(ptx(body))]


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


def test_another_statement_releases_nothing() -> None:
    assert releases(Directive(0, 1, "section", '"release_registers"')) == ()
    assert releases(None) == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('"release_register"', "release_register"),
        ('"nounroll", "release_scratchpd"', "release_scratchpd"),
        ('"release_registers"', ""),
        ('"nounroll"', ""),
    ],
)
def test_a_word_close_to_a_mark_was_meant_to_be_one(text: str, word: str) -> None:
    assert misspelt(Directive(0, 1, "pragma", text)) == word
