"""The words of a text that may be registers, and the text with others in their place."""

import re

import pytest

from ptxtool.passes.regalloc.register_words import MARKED, TOKEN, Words

TEXT = 'add.u32 %r1, x, $y; // %r1\nst [%r1+4], %r12; /* x\n%r1 */ .pragma "x %r1"; mov.x %r1.x, x1;'


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (TOKEN, 'add.u32 A, B, C; // %r1\nst [A+4], %r12; /* x\n%r1 */ .pragma "x %r1"; mov.x A.x, x1;'),
        (MARKED, 'add.u32 A, x, C; // %r1\nst [A+4], %r12; /* x\n%r1 */ .pragma "x %r1"; mov.x A.x, x1;'),
    ],
)
def test_whole_words_outside_comments_and_strings(pattern: re.Pattern[str], expected: str) -> None:
    """Words without a mark are found by `TOKEN` alone, and none after a dot, where modifiers and parts stand."""
    assert Words(TEXT, 0, len(TEXT), pattern, {"%r1": "A", "x": "B", "$y": "C"}).text() == expected


def test_words_of_single_statements() -> None:
    text = "head a b; a b; a b; tail"
    words = Words(text, 5, 20, TOKEN, {"a": "z"})
    words.rename(7, [5, 10, 15], {(8, "b"): "B", (9, "a"): "A"})
    assert words.text() == "z b; z B; A b; "


def test_changes_from_the_end_to_the_beginning() -> None:
    text = "p a, b;\nq c;\n"
    words = Words(text, 0, len(text), TOKEN, {"a": "x", "c": "y"})
    (one, two) = words.places([0, 8], [7, 12])
    assert (one, two) == ((0, 3), (3, 5))
    words.insert(two[1], 12, " after")
    words.replace(*one, 0, 7, "new;")
    words.insert(one[0], 0, "before ")
    assert words.text() == "before new;\nq y; after\n"


@pytest.mark.parametrize("pattern", [TOKEN, MARKED])
def test_a_percent_sign_begins_a_word_wherever_it_stands(pattern: "re.Pattern[str]") -> None:
    assert Words("add.u32%r1,%r2,x%r3;", 0, 20, pattern, {"%r1": "%r9", "%r3": "%r8"}).text() == (
        "add.u32%r9,%r2,x%r8;"
    )
