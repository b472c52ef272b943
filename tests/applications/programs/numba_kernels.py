"""Kernels of numba.cuda as a script has them: what it computes is compared with numpy."""

import math
from typing import Any

import numpy as np
from numba import cuda, float32
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

N = 32


@cuda.jit
def multiply(a: Any, b: Any, c: Any) -> None:
    left, right = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range(0, N, 16):
        left[j, i], right[j, i] = a[y, tile + i], b[tile + j, x]
        cuda.syncthreads()
        for k in range(16):
            total += left[j, k] * right[k, i]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def histogram(values: Any, bins: Any) -> None:
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i] % 8, 1)


@cuda.jit
def wave(values: Any) -> None:
    i = cuda.grid(1)
    if i < values.size:
        values[i] = math.sin(values[i])


@cuda.jit
def show(values: Any) -> None:
    print("thread", cuda.threadIdx.x, "has", values[0])


@cuda.jit
def draw(states: Any, out: Any) -> None:
    i = cuda.grid(1)
    out[i] = xoroshiro128p_uniform_float32(states, i)


@cuda.jit(debug=True, opt=False)
def refuse(values: Any) -> None:
    if values[0] != 0:
        raise ValueError("no")


@cuda.reduce
def total(a: float, b: float) -> float:
    return a + b


device = cuda.get_current_device()
print(
    device.name.decode() if isinstance(device.name, bytes) else device.name, tuple(device.compute_capability)
)

rng = np.random.default_rng(1)
a, b = rng.random((2, N, N), dtype=np.float32)
stream, start, end = cuda.stream(), cuda.event(), cuda.event()
c = cuda.device_array((N, N), np.float32, stream=stream)
start.record(stream)
multiply[(2, 2), (16, 16), stream](cuda.to_device(a, stream), cuda.to_device(b, stream), c)
end.record(stream)
stream.synchronize()
assert np.allclose(c.copy_to_host(), a @ b, rtol=1e-5)
assert cuda.event_elapsed_time(start, end) > 0

values, bins = cuda.pinned_array(1000, np.int32), np.zeros(8, np.int32)
values[:] = np.arange(1000)
histogram[8, 128](values, bins)
assert (bins == 125).all()

managed = cuda.managed_array(100, np.float64)
managed[:] = np.linspace(0, 1, 100)
expected = np.sin(managed)
wave.forall(100)(managed)
cuda.synchronize()
assert np.allclose(managed, expected)
assert total(np.arange(1000.0)) == 499500.0

drawn = np.zeros(64, np.float32)
draw[2, 32](create_xoroshiro128p_states(64, seed=1), drawn)
assert 0.3 < drawn.mean() < 0.7

show[1, 2](np.array([5]))
cuda.synchronize()
try:
    refuse[1, 1](np.array([5]))
except ValueError as error:
    print("raised:", str(error).rpartition(": ")[2])
print("kernels are right")
