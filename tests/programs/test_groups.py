"""Lanes that find each other by value, and work as one."""

import numpy as np


def test_sums_by_key(execute):
    random = np.random.default_rng(25)
    keys, values = random.integers(0, 9, 128).astype(np.int32), random.integers(-99, 99, 128).astype(np.int32)
    sums = np.zeros(9, np.int32)
    execute("sums_by_key", 2, 64, [keys, values, sums])
    assert sums.tolist() == [int(values[keys == k].sum()) for k in range(9)]


def test_keep_positive(execute):
    data = np.random.default_rng(26).integers(-50, 50, 200).astype(np.int32)
    out, count = np.zeros(200, np.int32), np.zeros(1, np.int32)
    execute("keep_positive", 4, 64, [data, 200, out, count])
    expected = data[data > 0]
    assert count[0] == len(expected)
    assert sorted(out[: count[0]].tolist()) == sorted(expected.tolist())


def test_halves_of_warps(execute):
    data = np.random.default_rng(27).integers(-1000, 1000, (4, 16)).astype(np.int32)
    data[2] = 77
    out = np.zeros((4, 16, 4), np.int32)
    execute("halves", 1, 64, [data, out])
    expected = [
        [row.sum(), row.max(), np.bitwise_or.reduce(row), len(set(row.tolist())) == 1] for row in data
    ]
    assert out.tolist() == [[[int(v) for v in row]] * 16 for row in expected]
