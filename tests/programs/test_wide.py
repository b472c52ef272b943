"""64-bit integers, whose division CUDA makes out of shorter ones."""

from math import gcd

import numpy as np


def signed(value):
    return (value + 2**63) % 2**64 - 2**63


def test_arithmetic(execute):
    edges = [0, 1, -1, 7, -7, 2**31, -(2**31), 2**32 + 1, 2**63 - 1, -(2**63), 10**18, -(10**9)]
    a = np.array([x for x in edges for _ in edges], np.int64)
    b = np.array([y for _ in edges for y in edges], np.int64)
    n = len(a)
    out = np.zeros((8, n), np.int64)
    execute("arithmetic", 5, 32, [a, b, out, n])
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        ux, uy = x % 2**64, y % 2**64
        quotient = 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        expected = [
            x * y,
            x * y >> 64,
            ux * uy >> 64,
            quotient,
            x - y * quotient if y else 0,
            ux // uy if y else 0,
            ux % uy if y else 0,
            x >> (y & 63),
        ]
        assert out[:, i].tolist() == [signed(v) for v in expected], (x, y)


def test_powers_and_divisors(execute):
    random = np.random.default_rng(28)
    base, exponent = random.integers(0, 2**63, (2, 32), dtype=np.uint64)
    modulus = 2**64 - 59
    out, divisors = np.zeros((2, 32), np.uint64)
    execute("powers", 1, 32, [base, exponent, modulus, out, divisors])
    pairs = list(zip(base.tolist(), exponent.tolist(), strict=True))
    assert out.tolist() == [pow(b, e, modulus) for b, e in pairs]
    assert divisors.tolist() == [gcd(b, e) for b, e in pairs]
