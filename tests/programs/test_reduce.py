"""Shared memory whose size the launch gives, and CTAs that hand over to the last one of them."""

import numpy as np


def test_dynamic_shared_memory(execute):
    random = np.random.default_rng(20)
    n, block, grid = 1000, 128, 3
    x, k = random.integers(-100, 100, n) / 8, random.integers(-1000, 1000, n).astype(np.int32)
    total, count = np.zeros(grid), np.zeros(1, np.int64)
    execute("reduce", grid, block, [x, k, n, total, count], dynamic_shared=block * 12)
    index = np.arange(n)
    assert total.tolist() == [x[index // block % grid == c].sum() for c in range(grid)]  # eighths: exact
    assert count[0] == k.sum()


def test_the_last_cta_adds_up(execute):
    x = np.random.default_rng(21).integers(-50, 50, 2000).astype(np.float32)
    partial, result = np.zeros(5, np.float32), np.zeros(1, np.float32)
    execute("reduce_once", 5, 128, [x, len(x), partial, result])
    assert result[0] == x.sum()
