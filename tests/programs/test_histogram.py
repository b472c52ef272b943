"""Atomics on shared and global memory."""

import numpy as np


def test_histogram(execute):
    data = np.random.default_rng(1).binomial(255, 0.3, 5000).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    execute("histogram", 3, 128, [data, len(data), bins])
    assert bins.tolist() == np.bincount(data, minlength=256).tolist()


def test_extremes(execute):
    data = np.random.default_rng(2).integers(-(2**31), 2**31, 1000).astype(np.int32)
    least, most = np.array([2**31 - 1], np.int32), np.array([-(2**31)], np.int32)
    total = np.zeros(1, np.int64)
    anywhere, everywhere, parity = (
        np.zeros(1, np.uint32),
        np.full(1, 0xFFFFFFFF, np.uint32),
        np.zeros(1, np.uint32),
    )
    execute("extremes", 8, 128, [data, len(data), least, most, total, anywhere, everywhere, parity])
    assert (least[0], most[0], total[0]) == (data.min(), data.max(), data.sum(dtype=np.int64))
    bits = data.view(np.uint32)
    assert anywhere[0] == np.bitwise_or.reduce(bits)
    assert everywhere[0] == np.bitwise_and.reduce(bits)
    assert parity[0] == np.bitwise_xor.reduce(bits)
