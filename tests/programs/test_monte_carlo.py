"""Random points of integer generators: exact."""

import numpy as np


def test_points_in_the_circle(execute):
    state = np.random.default_rng(16).integers(1, 2**32, 128, dtype=np.uint32)
    s, rounds, inside = state.copy(), 20, 0
    for _ in range(rounds):
        for shift in (13, -17, 5):
            s ^= s << np.uint32(shift) if shift > 0 else s >> np.uint32(-shift)
        x, y = (s & 0xFFFF).astype(np.uint64), (s >> 16).astype(np.uint64)
        inside += int((x * x + y * y < 1 << 32).sum())
    found = np.zeros(1, np.uint64)
    execute("circle", 2, 64, [state, rounds, found])
    assert int(found[0]) == inside
    assert state.tolist() == s.tolist()
