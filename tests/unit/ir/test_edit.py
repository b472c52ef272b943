"""Splicing edits into a text."""

import pytest

from ptxtool.ir.edit import TextEdit, splice


def test_edits_apply_together_and_the_rest_stays() -> None:
    text = "abc def ghi"
    assert splice(text, [TextEdit(8, 11, "G"), TextEdit(0, 3, "ABCDE"), TextEdit(4, 8, "")]) == "ABCDE G"


def test_no_edits_give_the_text_back() -> None:
    assert splice("a\r\nb", []) == "a\r\nb"


def test_insertions_at_one_place_keep_their_order() -> None:
    assert splice("xy", [TextEdit(1, 1, "1"), TextEdit(1, 1, "2"), TextEdit(1, 2, "z")]) == "x12z"


def test_neighbours_do_not_overlap() -> None:
    assert splice("abcd", [TextEdit(0, 2, "1"), TextEdit(2, 4, "2")]) == "12"


@pytest.mark.parametrize(
    "edits",
    [
        [TextEdit(0, 3, ""), TextEdit(2, 4, "")],
        [TextEdit(1, 3, "x"), TextEdit(1, 3, "y")],
        [TextEdit(3, 9, "")],
        [TextEdit(3, 2, "")],
    ],
)
def test_overlaps_and_places_outside_are_refused(edits: list[TextEdit]) -> None:
    with pytest.raises(ValueError):
        splice("abcd", edits)
