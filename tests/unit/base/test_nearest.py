"""Guessing what a misspelt name was meant to be."""

import pytest

from ptxtool.base.nearest import nearest


@pytest.mark.parametrize(
    ("word", "candidates", "found"),
    [
        ("ad", ["sad", "add"], "add"),  # equally like: the common beginning decides
        ("%rl", ["%r0", "%r1", "%r7"], "%r1"),  # an l for a 1
        ("$LBBO", ["$LBB0", "$LBBX"], "$LBB0"),
        (".rge", [".reg", ".loc"], ".reg"),
        ("frobnicate", ["add", "mul"], ""),
        ("x", [], ""),
    ],
)
def test_nearest(word: str, candidates: list[str], found: str) -> None:
    assert nearest(word, candidates) == found
