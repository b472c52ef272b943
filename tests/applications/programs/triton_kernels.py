"""Kernels in Triton as a script has them: launches, autotuning, a product of matrices, memory of the driver API."""

import ctypes

import numpy as np
import triton
import triton.language as tl


class Tensor:
    """A numpy array as Triton wants a tensor."""

    def __init__(self, array):
        self.array, self.dtype, self.shape = array, array.dtype, array.shape

    def data_ptr(self):
        return self.array.ctypes.data

    def element_size(self):
        return self.array.itemsize

    def stride(self):
        return tuple(n // self.array.itemsize for n in self.array.strides)


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside), mask=inside)


@triton.autotune([triton.Config({"BLOCK": n}) for n in (64, 1024)], key=["n"])
@triton.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * factor, mask=at < n)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, k, a_row, b_row, c_row, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, k, BLOCK):
        along = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + rows[:, None] * a_row + along[None, :])
        b = tl.load(b_ptr + along[:, None] * b_row + columns[None, :])
        total += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * c_row + columns[None, :], total)


n = 5000
x, y, out = np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(n, np.float32)
add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](Tensor(x), Tensor(y), Tensor(out), n, BLOCK=128)
assert (out == x + 1).all()
add[(1,)](Tensor(x[:8]), Tensor(x[4:12]), Tensor(x[:8]), 8, BLOCK=8)  # one block of memory for all three
assert (x[:9] == [4, 6, 8, 10, 12, 14, 16, 18, 8]).all()

ones = np.ones(20000, np.float32)
scale[lambda meta: (triton.cdiv(20000, meta["BLOCK"]),)](Tensor(ones), 20000, 1.0)
assert (ones == 1).all()
milliseconds = triton.testing.do_bench(lambda: add[(1,)](Tensor(x), Tensor(y), Tensor(out), 128, BLOCK=128))
assert milliseconds > 0

a, b = (np.random.default_rng(k).integers(-3, 4, (64, 64)).astype(np.float16) for k in (1, 2))
c = np.zeros((64, 64), np.float32)
product[(2, 2)](Tensor(a), Tensor(b), Tensor(c), 64, 64, 64, 64, BLOCK=32)
assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


class Memory:
    """Memory of the device."""

    def __init__(self, array):
        self.cuda, self.at, self.array, self.dtype = (
            ctypes.CDLL("libcuda.so.1"),
            ctypes.c_uint64(),
            array,
            array.dtype,
        )
        assert not self.cuda.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(array.nbytes))
        self.cuda.cuMemcpyHtoD_v2(self.at, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))

    def data_ptr(self):
        return self.at.value

    def read(self):
        self.cuda.cuMemcpyDtoH_v2(
            ctypes.c_void_p(self.array.ctypes.data), self.at, ctypes.c_size_t(self.array.nbytes)
        )
        return self.array


memory = Memory(np.full(128, 7, np.float32))
add[(1,)](memory, Tensor(y), memory, 128, BLOCK=128)
assert (memory.read() == 8).all()
print("kernels are right")
