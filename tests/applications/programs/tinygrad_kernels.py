"""Arithmetic in tinygrad: products in float and half, a reduction, a jitted function."""

import numpy as np
from tinygrad import Device, Tensor, TinyJit

assert Device.DEFAULT == "CUDA"
values = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
tensor = Tensor(values)
product = values @ values
assert np.abs(((tensor @ tensor).relu() + 1).numpy() - (np.maximum(product, 0) + 1)).max() < 1e-4
assert np.abs((tensor.half() @ tensor.half()).numpy() - product).max() < 0.1
assert tensor.argmax().numpy() == values.argmax()


@TinyJit
def sums(x):
    return (x * 2 + 1).sum(0).realize()


for k in range(4):
    assert np.abs(sums(Tensor(values + k)).numpy() - ((values + k) * 2 + 1).sum(0)).max() < 1e-3
print("kernels are right")
