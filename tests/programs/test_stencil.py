"""Neighbours through shared memory."""

import numpy as np


def test_life(execute):
    height, width = 40, 50
    cells = (np.random.default_rng(17).random((height, width)) < 0.4).astype(np.uint8)
    around = sum(np.roll(cells, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - cells
    expected = (around == 3) | ((around == 2) & (cells == 1))
    out = np.full_like(cells, 9)
    execute("life", (4, 3), (16, 16), [cells, out, width, height])
    assert out.tolist() == expected.astype(np.uint8).tolist()


def test_heat(execute):
    plate = np.random.default_rng(18).random((32, 32)).astype(np.float32)
    expected = plate.copy()
    for _ in range(7):
        p = expected.copy()
        sums = (p[1:-1, :-2] + p[1:-1, 2:]) + (p[:-2, 1:-1] + p[2:, 1:-1])
        expected[1:-1, 1:-1] = np.float32(0.25) * sums
    execute("heat", 1, (32, 8), [plate, 7])
    assert plate.tobytes() == expected.tobytes()
