"""Four products of bytes at a time, and SIMD within a word."""

import numpy as np


def test_dot_products(execute):
    a, b = (np.random.default_rng(31).integers(-128, 128, (r, 20)).astype(np.int8) for r in (64, 1))
    out = np.zeros(64, np.int32)
    execute("dot", 2, 32, [a.view(np.int32), b.view(np.int32), out, 5])
    assert out.tolist() == (a.astype(int) @ b[0].astype(int)).tolist()


def test_pixels(execute):
    a, b = np.random.default_rng(32).integers(0, 2**32, (2, 64), dtype=np.uint32)
    out = np.zeros((8, 64), np.uint32)
    execute("pixels", 2, 32, [a, b, out, 64])
    x, y = a.view(np.uint8).astype(int), b.view(np.uint8).astype(int)

    def packed(values, dtype=np.uint8):
        return values.astype(dtype).view(np.uint32)

    shift = b & 31
    picked = np.concatenate([a.view(np.uint8).reshape(64, 4), b.view(np.uint8).reshape(64, 4)], axis=1)
    expected = [
        packed(np.minimum(x + y, 255)),
        packed(np.abs(x - y)),
        packed((x + y + 1) // 2),
        packed(np.maximum(a.view(np.int16), b.view(np.int16)), np.int16),
        packed(np.where(x > y, 255, 0)),
        np.ascontiguousarray(picked[:, [5, 1, 7, 2]]).view(np.uint32)[:, 0],
        np.array(
            [((int(h) << 32 | int(l)) << int(s) >> 32) % 2**32 for h, l, s in zip(b, a, shift, strict=True)]
        ),
        np.abs(a.astype(np.int64) - b) + 7,
    ]
    for k, values in enumerate(expected):
        assert out[k].tolist() == [int(v) % 2**32 for v in values], k
