"""Shuffles, and shared memory between warps."""

import numpy as np


def test_scan(execute):
    n, block = 1500, 256
    data = np.random.default_rng(3).integers(-1000, 1000, n).astype(np.int32)
    out, sums = np.zeros(n, np.int32), np.zeros(6, np.int32)
    execute("scan_blocks", 6, block, [data, n, out, sums])
    assert sums.tolist() == [data[k : k + block].sum() for k in range(0, n, block)]
    execute("add_sums", 6, block, [out, n, sums])
    assert out.tolist() == np.cumsum(data).tolist()
