"""Asynchronous copies to shared memory (sm_80; before, the compiler makes plain ones of them)."""

import numpy as np


def test_moving_averages(execute):
    tiles, grid = 5, 2
    x = np.random.default_rng(24).integers(-64, 64, (grid, tiles, 256)).astype(np.float32)
    out = np.zeros_like(x)
    execute("averages", grid, 64, [x, out, tiles])
    assert out.tolist() == (sum(np.roll(x, -k, axis=2) for k in range(4)) / 4).tolist()


def test_short_rows_are_filled_with_zeros(execute):
    x = np.arange(1, 201, dtype=np.int32)
    out = np.full(256, -1, np.int32)
    execute("padded", 2, 128, [x, 200, out])
    padded = np.concatenate([x, np.zeros(56, np.int32)]).reshape(2, 128)
    assert out.reshape(2, 128).tolist() == padded[:, ::-1].tolist()
