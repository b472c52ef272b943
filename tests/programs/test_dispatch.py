"""Calls of functions by address: tables, function pointers as arguments, virtual functions."""

import numpy as np


def test_table_of_functions(execute):
    random = np.random.default_rng(22)
    which, times = random.integers(0, 3, 96), random.integers(0, 5, 96)
    x = random.normal(size=96).astype(np.float32)
    y = np.zeros_like(x)
    execute("dispatch", 3, 32, [(which + 4 * times).astype(np.uint8), x, y])
    functions = (lambda v: v + v, lambda v: v * v, lambda v: -v)
    expected = x.copy()
    for i in range(96):
        for _ in range(times[i]):
            expected[i] = functions[which[i]](expected[i])
    assert y.tobytes() == expected.tobytes()


def test_virtual_functions(execute):
    x = np.arange(64, dtype=np.float32)
    y = np.zeros((64, 2), np.float32)
    execute("shapes", 2, 32, [x, y])
    square = np.arange(64) % 3 != 0
    assert y[:, 0].tolist() == np.where(square, x * x, x * x / 2).tolist()
    assert y[:, 1].tolist() == np.where(square, 4 * x, x).tolist()
