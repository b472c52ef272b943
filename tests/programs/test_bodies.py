"""Double precision: forces between bodies, and functions of CUDA's library."""

import math

import numpy as np


def test_forces(execute):
    n = 128
    body = np.random.default_rng(29).normal(size=(n, 4))
    force = np.zeros((n, 3))
    execute("forces", 2, 64, [body, force, n, 0.01])
    d = body[None, :, :3] - body[:, None, :3]
    r2 = (d**2).sum(axis=2) + 0.01
    expected = (d * (body[:, 3] / r2**1.5)[..., None]).sum(axis=1)
    np.testing.assert_allclose(force, expected, rtol=1e-11, atol=1e-12)


def test_functions(execute):
    random = np.random.default_rng(30)
    x = np.concatenate([random.uniform(-20, 20, 50), random.uniform(-1, 1, 40), [1e-3, 300, -300, 1e6]])
    n = len(x)
    out = np.zeros((8, n))
    execute("functions", 3, 32, [x, out, n])
    a = np.abs(x)
    erf = np.array([math.erf(v) for v in x])
    with np.errstate(over="ignore"):
        exponential = np.exp(x)
    expected = [exponential, np.log(a), np.sin(x), np.arctan2(x, 2), np.cbrt(x), a**-0.5, a**0.3, erf]
    np.testing.assert_allclose(out, expected, rtol=1e-15, atol=1e-16)  # 1 or 2 ulp: CUDA's own bounds
