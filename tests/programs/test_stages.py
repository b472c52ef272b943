"""Named barriers between warps that make and warps that use, and votes of a whole CTA."""

import numpy as np


def test_hand_over(execute):
    data = np.random.default_rng(33).integers(0, 1000, (2, 5, 64)).astype(np.int32)
    out = np.zeros_like(data)
    execute("hand_over", 2, 128, [data, out, 5])
    assert out.tolist() == (data[:, :, ::-1] * 3 + 1).tolist()


def test_rounds_of_a_cta(execute):
    x = np.random.default_rng(34).uniform(0.1, 1e4, 128).astype(np.float32)
    root, rounds = np.zeros_like(x), np.zeros(2, np.int32)
    execute("roots", 2, 64, [x, root, rounds])
    np.testing.assert_allclose(root, np.sqrt(x), rtol=3e-7)
    assert (rounds > 4).all()
