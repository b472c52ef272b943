"""Bit sets in integers."""

from hypothesis import given
from hypothesis import strategies as st

from ptxtool.base.bits import from_indices, from_words, indices, to_words, word_count


@given(st.sets(st.integers(0, 300)))
def test_elements_round_trip(elements: set[int]) -> None:
    bits = from_indices(elements)
    assert bits == sum(2**e for e in elements)
    assert indices(bits) == tuple(sorted(elements))
    words = to_words(bits, 5)
    assert from_words(words) == bits
    assert words[1] == sum(2 ** (e - 64) for e in elements if 64 <= e < 128)


def test_words() -> None:
    assert [word_count(n) for n in (0, 1, 64, 65, 128)] == [1, 1, 1, 2, 2]
    assert to_words(1 << 64 | 3, 2) == (3, 1)


@given(st.sets(st.integers(0, 20_000), max_size=8))
def test_elements_of_sparse_sets(elements: set[int]) -> None:
    assert indices(from_indices(elements)) == tuple(sorted(elements))
