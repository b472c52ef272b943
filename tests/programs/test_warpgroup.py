"""`wgmma` on tiles that a program lays out in shared memory itself, with the swizzle of 128 bytes."""

import numpy as np
import pytest


@pytest.mark.parametrize("kernel", ["columns", "rows"])
def test_product(execute, kernel):
    a, b = (
        np.random.default_rng(27).integers(-16, 17, shape).astype(np.float16)
        for shape in ((128, 128), (128, 256))
    )
    d = np.zeros((128, 256), np.float32)
    execute(kernel, (2, 2), 128, [a, b if kernel == "rows" else np.ascontiguousarray(b.T), d, 256, 128])
    assert (
        d.tolist() == (a.astype(np.float32) @ b.astype(np.float32)).tolist()
    )  # small integers: sums are exact
