"""Arithmetic on pairs of half-precision numbers."""

import numpy as np


def test_softmax(execute):
    x = np.random.default_rng(15).normal(0, 3, (6, 200)).astype(np.float16)
    out = np.zeros_like(x)
    execute("softmax", 3, (32, 2), [x, out, 100])
    exact = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    # the difference to the largest value is rounded to a half, and so are the exponential and the result
    np.testing.assert_allclose(out, exact, rtol=8e-3, atol=2.0**-24)
    np.testing.assert_allclose(out.sum(axis=1, dtype=np.float64), 1, atol=3e-3)
