"""A kept analysis runs once for each object, and again where it raised."""

from dataclasses import dataclass

import pytest

from ptxtool.base.kept import kept


@dataclass(frozen=True)
class Text:
    """Stands for a function: equal ones are different objects."""

    word: str


def test_an_analysis_runs_once_for_each_object() -> None:
    seen: list[Text] = []

    @kept
    def words(text: Text) -> list[str]:
        """Its words."""
        seen.append(text)
        return [text.word]

    @kept
    def length(text: Text) -> int:
        return len(text.word)

    one, other = Text("mov"), Text("mov")
    assert words(one) is words(one)
    assert words(one) == words(other)
    assert words(one) is not words(other)
    assert length(one) == 3
    assert len(seen) == 2
    assert (words.__name__, words.__doc__) == ("words", "Its words.")


def test_none_is_a_result() -> None:
    n = 0

    @kept
    def nothing(text: Text) -> None:
        nonlocal n
        n += 1

    text = Text("ret")
    nothing(text)
    nothing(text)
    assert n == 1


def test_what_an_analysis_raises_is_not_kept() -> None:
    n = 0

    @kept
    def broken(text: Text) -> int:
        nonlocal n
        n += 1
        raise ValueError(text.word)

    text = Text("bra")
    for _ in range(2):
        with pytest.raises(ValueError, match="bra"):
            broken(text)
    assert n == 2
