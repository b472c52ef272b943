"""Matrix products through `wmma` fragments, whose layout a program need not know."""

import numpy as np


def test_halves(execute):
    random = np.random.default_rng(13)
    m, n, k = 32, 64, 48
    a, b, c = (random.integers(-8, 9, shape) for shape in ((m, k), (n, k), (m, n)))
    result = c.astype(np.float32)
    execute("product", (2, 2), 64, [a.astype(np.float16), b.astype(np.float16), result, n, k])
    assert result.tolist() == np.maximum(a @ b.T + c, 0).tolist()  # small integers: sums are exact


def test_bytes(execute):
    a, b = np.random.default_rng(14).integers(-128, 128, (2, 16, 16)).astype(np.int8)
    c = np.zeros((16, 16), np.int32)
    execute("bytes", 1, 32, [a, b, c])
    assert c.tolist() == (a.astype(int) @ b.astype(int)).tolist()
