"""Local arrays: backtracking, and elements of several sizes by computed index."""

import numpy as np


def test_queens(execute):
    ways = np.zeros(1, np.uint32)
    execute("queens", 2, 32, [7, ways])
    assert ways[0] == 40


def test_permutations(execute):
    order = np.array([np.random.default_rng(k).permutation(16) for k in range(32)], np.uint8)
    out, check = np.zeros((32, 16), np.uint8), np.zeros(32, np.uint64)
    execute("permute", 1, 32, [order, 5, out, check])
    for o, found, sum_ in zip(order, out, check, strict=True):
        p = np.arange(16)
        for _ in range(5):
            p = p[o]
        assert found.tolist() == p.tolist()
        assert int(sum_) == sum(int(v) * 31 ** (int(w) & 3) for v, w in zip(p, np.roll(p, -1), strict=True))
