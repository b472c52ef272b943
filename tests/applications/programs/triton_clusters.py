"""Triton programs of two CTAs: each half of a block, and a sum over both, through distributed shared memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, y, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def total(x, sums, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(sums + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


x = torch.arange(1000, dtype=torch.float32)
y, sums = torch.zeros(1000), torch.zeros(4)
scale[(4,)](x, y, 1000, SIZE=256, num_ctas=2)
torch.testing.assert_close(y, 2 * x)
kernel = total[(4,)](x, sums, 1000, SIZE=256, num_ctas=2)
assert "ld.shared::cluster" in kernel.asm["ptx"]
assert sums.tolist() == [sum(range(256 * k, min(256 * k + 256, 1000))) for k in range(4)]
print("kernels are right")
