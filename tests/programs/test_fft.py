"""Fourier transforms, and the trigonometric functions of CUDA's library."""

import numpy as np


def test_transform_and_back(execute):
    random = np.random.default_rng(8)
    signal = (random.normal(size=(2, 512)) + 1j * random.normal(size=(2, 512))).astype(np.complex64)
    spectrum, again = np.zeros_like(signal), np.zeros_like(signal)
    execute("fft", 2, 256, [signal, spectrum, 0])
    np.testing.assert_allclose(spectrum, np.fft.fft(signal), rtol=0, atol=3e-5)
    execute("fft", 2, 256, [spectrum, again, 1])
    np.testing.assert_allclose(again, signal, rtol=0, atol=2e-6)


def test_sines_of_small_and_huge_angles(execute):
    random = np.random.default_rng(9)
    x = np.concatenate([random.uniform(-7, 7, 60), [0, 1e5, 105615.1, 1e10, -3e20, 3.4e38, 2.0**-140]])
    x = x.astype(np.float32)
    sine, cosine = np.zeros_like(x), np.zeros_like(x)
    execute("sines", 3, 32, [x, sine, cosine, len(x)])
    exact = x.astype(np.float64)  # f32 values: numpy reduces them exactly
    np.testing.assert_allclose(sine, np.sin(exact), rtol=3e-7, atol=1e-7)
    np.testing.assert_allclose(cosine, np.cos(exact), rtol=3e-7, atol=1e-7)
