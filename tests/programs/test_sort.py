"""Sorting in shared memory, by comparisons and by bits."""

import numpy as np


def test_bitonic_sort(execute):
    data = np.random.default_rng(4).normal(size=(3, 512)).astype(np.float32)
    expected = np.sort(data, axis=1)
    execute("bitonic_sort", 3, 256, [data])
    assert data.tobytes() == expected.tobytes()


def test_radix_sort_is_stable(execute):
    random = np.random.default_rng(5)
    keys = random.integers(0, 2**32, 256, dtype=np.uint32)
    keys[::3] = keys[0]
    values = np.arange(256, dtype=np.uint16)
    order = np.argsort(keys, kind="stable")
    expected = keys[order]
    execute("radix_sort", 1, 256, [keys, values])
    assert keys.tolist() == expected.tolist()
    assert values.tolist() == order.tolist()
