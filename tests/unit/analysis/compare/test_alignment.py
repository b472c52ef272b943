"""Alignment of sequences: what corresponds is equal and in order, and nearly as much as can be."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from ptxtool.analysis.compare.alignment import MAX_EDITS, align


def longest_common_subsequence(a: Sequence[int], b: Sequence[int]) -> int:
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            rows[i + 1][j + 1] = rows[i][j] + 1 if x == y else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


@pytest.mark.parametrize(
    ("a", "b", "pairs"),
    [
        ("", "", []),
        ("abc", "", []),
        ("abc", "abc", [(0, 0), (1, 1), (2, 2)]),
        ("abc", "xyz", []),
        ("abcd", "acd", [(0, 0), (2, 1), (3, 2)]),
        ("acd", "abcd", [(0, 0), (1, 2), (2, 3)]),
        ("xaay", "xay", [(0, 0), (1, 1), (3, 2)]),
        ("{a}{b}", "{b}", [(0, 0), (4, 1), (5, 2)]),  # b is there once, the braces are not
    ],
)
def test_by_hand(a: str, b: str, pairs: list[tuple[int, int]]) -> None:
    assert align(a, b) == pairs


def test_made_up_sequences() -> None:
    choose = random.Random(3)
    found = best = 0
    for _ in range(600):
        n = choose.randrange(1, 8)
        a, b = ([choose.randrange(n) for _ in range(choose.randrange(30))] for _ in range(2))
        pairs = align(a, b)
        assert all(a[i] == b[j] for i, j in pairs)
        assert all(p[0] < q[0] and p[1] < q[1] for p, q in pairwise(pairs))
        found += len(pairs)
        best += longest_common_subsequence(a, b)
    assert found >= 0.9 * best


def test_removals_from_a_long_sequence_are_found() -> None:
    choose = random.Random(4)
    a = [choose.randrange(30) for _ in range(5000)]
    b = [x for x in a if choose.random() > 0.05]
    assert len(align(a, b)) == len(b)


def test_more_edits_than_are_followed_at_a_time() -> None:
    n = 3 * MAX_EDITS
    a = [0, 1] * n + [2] * 50
    b = [1, 3, 0, 0] * n + [2] * 50
    pairs = align(a, b)
    assert pairs[-50:] == [(2 * n + k, 4 * n + k) for k in range(50)]
    assert all(a[i] == b[j] for i, j in pairs)
    assert len(pairs) > n // 2
