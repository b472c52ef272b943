"""`ldmatrix` and `mma.sync` with the fragments that the manual draws."""

import numpy as np


def bfloat16(values):
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def test_product(execute):
    a, b = (np.random.default_rng(36).integers(-16, 17, shape) for shape in ((32, 64), (64, 24)))
    c = np.zeros((32, 24), np.float32)
    execute("product", (3, 2), 32, [bfloat16(a), bfloat16(b), c, 24, 64])
    assert c.tolist() == (a @ b).tolist()
