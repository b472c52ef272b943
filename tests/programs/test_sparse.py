"""Sparse matrices and graphs: rows of any length, and memory that CTAs of several warps walk by index."""

from itertools import pairwise

import numpy as np


def rows(random, n, most):
    start = np.zeros(n + 1, np.int32)
    start[1:] = np.cumsum(random.integers(0, most, n))
    return start, random.integers(0, n, start[-1]).astype(np.int32)


def test_sparse_matrix_times_vector(execute):
    random = np.random.default_rng(6)
    n = 50
    start, column = rows(random, n, 90)
    value, x = (random.integers(-8, 8, k).astype(np.float32) for k in (len(column), n))
    y = np.full(n, np.nan, np.float32)
    execute("spmv", 13, 128, [n, start, column, value, x, y])
    products = value * x[column]  # small integers: every order gives the same sums
    assert y.tolist() == [products[a:b].sum() for a, b in pairwise(start)]


def test_breadth_first_distances(execute):
    random = np.random.default_rng(7)
    n = 300
    start, neighbour = rows(random, n, 4)
    distance = np.full(n, -1, np.int32)
    distance[0] = 0
    execute("distances", 1, 96, [n, start, neighbour, distance])
    expected, level, here = {0: 0}, 0, {0}
    while here:
        level += 1
        here = {int(w) for v in here for w in neighbour[start[v] : start[v + 1]]} - expected.keys()
        expected |= dict.fromkeys(here, level)
    assert max(expected.values()) > 3
    assert distance.tolist() == [expected.get(v, -1) for v in range(n)]
