"""What CUDA's libraries compile to: CUB, cooperative groups, libcu++."""

import numpy as np


def test_sort_scan_and_reduction_of_a_cta(execute):
    keys = np.random.default_rng(37).integers(-(10**6), 10**6, 512).astype(np.int32)
    expected = np.sort(keys)
    sums, total = np.zeros(512, np.int32), np.zeros(1, np.int32)
    execute("cub_blocks", 1, 128, [keys, sums, total])
    assert keys.tolist() == expected.tolist()
    assert sums.tolist() == np.cumsum(expected).tolist()
    assert total[0] == expected.sum()


def test_tiles_of_eight(execute):
    data = np.random.default_rng(38).integers(0, 50, 64).astype(np.int32)
    out, odd = np.zeros((64, 2), np.int32), np.zeros(1, np.int32)
    execute("tiles", 1, 64, [data, out, odd])
    by_tile = data.reshape(8, 8)
    assert out[:, 0].tolist() == np.repeat(by_tile.sum(axis=1), 8).tolist()
    assert out[:, 1].tolist() == (np.cumsum(by_tile, axis=1) - by_tile).ravel().tolist()
    assert odd[0] == (data & 1).sum()


def test_barrier_objects(execute):
    data = np.random.default_rng(39).integers(0, 1000, 64).astype(np.int32)
    out = np.zeros((3, 64), np.int32)
    execute("exchange", 1, 64, [data, out, 3])
    assert out.tolist() == (data[::-1] + np.arange(3)[:, None]).tolist()


def test_atomics(execute):
    halves, quarters = np.zeros(1), np.zeros(1, np.float32)
    most, count = np.zeros(1, np.uint64), np.zeros(1, np.int32)
    execute("atomics", 2, 64, [halves, quarters, most, count])
    assert (halves[0], quarters[0], int(most[0]), count[0]) == (64, 32, 63 << 33, 384)
