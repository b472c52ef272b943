"""Bulk copies: tiles by tensor maps, a pipeline of chunks, multicast in a cluster (sm_90a)."""

import numpy as np

import ptxsim


def test_transpose(execute):
    """A matrix of 40 x 52 in tiles of 32 x 32."""
    a = np.random.default_rng(27).normal(size=(40, 52)).astype(np.float32)
    b = np.zeros((52, 40), np.float32)
    execute("transpose", (2, 2), 64, [ptxsim.TensorMap(a, (32, 32)), ptxsim.TensorMap(b, (32, 32))])
    assert np.array_equal(b, a.T)


def test_sums(execute):
    """Every wait is a block of its own with a label `AGAIN`."""
    chunks = 7
    values = np.random.default_rng(28).integers(-9, 10, (chunks, 128)).astype(np.float32)
    out = np.zeros(128, np.float32)
    execute("sums", 1, 160, [values, out, chunks])
    assert np.array_equal(out, values.sum(axis=0))


def test_halves(execute):
    values, out = np.arange(256, dtype=np.int32), np.zeros(1024, np.int32)
    execute("halves", 4, 64, [values, out])
    assert out.reshape(4, 256).tolist() == [(k * values).tolist() for k in (1, 2, 1, 2)]
