"""mbarriers: one warp fills what others wait for, phase by phase."""

import numpy as np


def test_phases(execute):
    data = np.random.default_rng(35).integers(0, 1000, (6, 32)).astype(np.int32)
    out = np.zeros((6, 32, 3), np.int32)
    execute("phases", 1, 128, [data, out, 6])
    assert out.tolist() == (data[:, ::-1, None] * np.array([1, 2, 3])).tolist()
