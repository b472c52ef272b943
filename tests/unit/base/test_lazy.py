"""Sequences of which only the length and every single item are given."""

import pytest

from ptxtool.base.lazy import LazySequence


class Squares(LazySequence[int]):
    def __len__(self) -> int:
        return 5

    def item(self, index: int) -> int:
        return index * index


def test_it_is_a_sequence() -> None:
    squares = Squares()
    assert (squares[0], squares[4], squares[-1], squares[-5]) == (0, 16, 16, 0)
    assert squares[1:4] == (1, 4, 9)
    assert squares[::-2] == (16, 4, 0)
    assert [*squares] == [0, 1, 4, 9, 16]
    assert 9 in squares


@pytest.mark.parametrize("index", [5, -6])
def test_there_is_nothing_outside(index: int) -> None:
    with pytest.raises(IndexError, match=f"no item with index {index} among 5"):
        Squares()[index]
