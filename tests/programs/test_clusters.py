"""Clusters: what blocks find in each other's shared memory (sm_90)."""

import numpy as np


def test_a_histogram_spread_over_a_cluster(execute):
    per, size = 24, 4
    values = np.random.default_rng(90).integers(0, per * size, 700).astype(np.uint32)
    bins = np.zeros(per * size, np.uint32)
    execute("spread_histogram", 8, 64, [values, len(values), bins, per], cluster=size, dynamic_shared=4 * per)
    assert bins.tolist() == np.bincount(values, minlength=per * size).tolist()


def test_sums_of_pairs_of_blocks(execute):
    values = np.arange(6 * 64, dtype=np.int32) ** 2 % 1009
    out = np.zeros_like(values)
    execute("pair_sums", 6, 64, [values, out])
    pairs = values.reshape(3, 2, 64).sum(axis=1)
    assert out.reshape(3, 2, 64).tolist() == np.stack([pairs, pairs], axis=1).tolist()


def test_blocks_diagonally_across(execute):
    out = np.zeros(8, np.int32)
    execute("across", (4, 2), 32, [out], cluster=(2, 2))
    # grid of 4 x 2: the first cluster has blocks 0 1 4 5, the second 2 3 6 7
    assert out.tolist() == [5, 4, 7, 6, 1, 0, 3, 2]
