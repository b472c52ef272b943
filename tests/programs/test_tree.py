"""Recursion on the stack of a thread, and the same walk with a stack of its own in local memory."""

import numpy as np
import pytest


def search_tree(keys):
    left, right = np.full((2, len(keys)), -1, np.int32)
    for node in range(1, len(keys)):
        at = 0
        while True:
            side = left if keys[node] < keys[at] else right
            if side[at] < 0:
                side[at] = node
                break
            at = side[at]
    return left, right


@pytest.mark.parametrize("kernel", ["ranks_recursive", "ranks_stack"])
def test_ranks(execute, kernel):
    random = np.random.default_rng(12)
    keys = random.permutation(100).astype(np.int32)
    left, right = search_tree(keys)
    limits = random.integers(-5, 110, 64).astype(np.int32)
    ranks = np.full(64, -1, np.int32)
    execute(kernel, 2, 32, [left, right, keys, 0, limits, ranks])
    assert ranks.tolist() == [int((keys < limit).sum()) for limit in limits]
