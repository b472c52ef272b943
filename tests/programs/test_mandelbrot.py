"""Loops that lanes leave one by one."""

import numpy as np


def test_escape_times(execute):
    width, height, most = 48, 24, 100
    out = np.zeros((height, width), np.uint8)
    x0, y0, step = (np.float32(v) for v in (-2.1, -1.2, 0.1))
    execute("mandelbrot", (3, 3), (16, 8), [out, width, x0, y0, step, most])
    cx, cy = np.meshgrid(
        x0 + step * np.arange(width, dtype=np.float32), y0 + step * np.arange(height, dtype=np.float32)
    )
    x, y, n = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, np.uint8)
    for _ in range(most):
        xx, yy = x * x, y * y
        stay = xx + yy <= 4
        n += stay
        x, y = np.where(stay, xx - yy + cx, x), np.where(stay, (x + x) * y + cy, y)
    assert out.tolist() == n.tolist()
    assert len(np.unique(out)) > 10
