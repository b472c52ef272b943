"""Guessing what a misspelt name was meant to be."""

import pytest

from ptxtool.base.phrases import abbreviated, alike, did_you_mean, nearest, one_line


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


def test_the_sentence_names_the_candidate() -> None:
    assert did_you_mean("ad", ["add", "sub"]) == "did you mean 'add'?"
    assert did_you_mean("u23", ["u32"], mark=".") == "did you mean '.u32'?"


def test_the_sentence_without_a_candidate() -> None:
    assert did_you_mean("xyz", ["add", "sub"]) == ""
    assert did_you_mean("xyz", ["add", "sub"], "there are add, sub") == "there are add, sub"


def test_the_list_follows_the_sentence() -> None:
    assert did_you_mean("ad", ["add"], then="there is add") == "did you mean 'add'? there is add"
    assert did_you_mean("xyz", ["add"], then="there is add") == "there is add"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n\tb  c", "a b c"),
        ("0123456789", "0123456789"),
        ("0123456789a", "0123456..."),
        ("a" + " " * 50, "a..."),
        ("x" * 10**6, "xxxxxxx..."),
    ],
)
def test_a_text_on_one_line(text: str, shown: str) -> None:
    assert one_line(text, 10) == shown


@pytest.mark.parametrize(
    ("name", "most", "text"),
    [
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghijklm", 10, "abcde...lm"),
        ("k" * 121, 120, "k" * 87 + "..." + "k" * 30),
    ],
)
def test_an_abbreviated_name(name: str, most: int, text: str) -> None:
    assert abbreviated(name, most) == text
    assert len(text) <= most


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("alocate", ["allocate", "relocate"]),  # the most similar first
        ("release", ["prerelease", "release-and-more", "release-b"]),  # those that contain it
        ("LOCAT", ["allocate", "relocate"]),
        ("", []),
        ("q", []),
        ("x" * 200, []),
    ],
)
def test_what_is_alike(word: str, found: list[str]) -> None:
    choices = ["relocate", "allocate", "release-b", "prerelease", "release-and-more"]
    assert alike(word, choices) == found
