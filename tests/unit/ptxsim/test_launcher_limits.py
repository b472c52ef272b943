"""The sizes of the stack and of the heap: defaults, what they allow, and what is said where they do not suffice."""

import numpy as np
import pytest

import ptxsim
import ptxtool
from ptxtool.base.diag import PtxError

DEPTH = """
.version 8.0
.target sm_80
.address_size 64

.func (.reg .u32 r) depth(.reg .u32 n)
{
    .reg .pred p;
    .reg .u32 m;
    .local .align 4 .b8 room[100];
    mov.u32 r, 0;
    setp.eq.u32 p, n, 0;
    @p ret;
    sub.u32 m, n, 1;
    call (r), depth, (m);
    add.u32 r, r, 1;
    ret;
}

.visible .entry k(.param .u64 x, .param .u32 n)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    call (%r2), depth, (%r1);
    st.global.u32 [%rd1], %r2;
    ret;
}
"""

HEAP = """
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 block) malloc(.param .b64 size);

.visible .entry k(.param .u64 x, .param .u64 size)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [size];
    {
    .param .b64 size;
    .param .b64 block;
    st.param.b64 [size], %rd2;
    call.uni (block), malloc, (size);
    ld.param.b64 %rd3, [block];
    }
    st.u32 [%rd3], 1;
    ld.u32 %rd2, [%rd3];
    st.global.u32 [%rd1], %rd2;
    ret;
}
"""


def kernel(text: str):
    return ptxtool.parse(text, name="k.ptx").kernels["k"]


def run(text: str, value: object, way=ptxsim.run, **limits: int) -> int:
    x = np.zeros(1, np.uint32)
    way(kernel(text), 1, 1, [x, value], **limits)
    return int(x[0])


@pytest.mark.parametrize("way", [ptxsim.run, ptxsim.launch])
def test_a_larger_stack_allows_deeper_recursion(way):
    """A frame has 4 + 4 + 100 bytes, at a multiple of 16: 112. 16384 bytes are 146 frames."""
    assert run(DEPTH, 140, way) == 140
    with pytest.raises(PtxError, match=r"E415.*stack overflow beyond 16384 bytes"):
        run(DEPTH, 150, way)
    assert run(DEPTH, 150, way, stack_bytes=20000) == 150
    with pytest.raises(PtxError, match="E415"):
        run(DEPTH, 140, way, stack_bytes=8192)


def test_registers_put_aside_grow_with_the_stack():
    assert run(DEPTH, 4000, stack_bytes=512 << 10) == 4000


@pytest.mark.parametrize("way", [ptxsim.run, ptxsim.launch])
def test_a_larger_heap_gives_larger_blocks(way):
    assert run(HEAP, 8_000_000, way) == 1
    with pytest.raises(PtxError, match="E404") as caught:
        run(HEAP, 9_000_000, way)
    assert "--heap-bytes" in caught.value.diagnostics[0].help
    assert run(HEAP, 9_000_000, way, heap_bytes=10_000_000) == 1
    with pytest.raises(PtxError, match="E404"):
        run(HEAP, 2000, way, heap_bytes=1000)


@pytest.mark.parametrize(
    "limits", [{"stack_bytes": -1}, {"stack_bytes": 1 << 20}, {"heap_bytes": 0}, {"heap_bytes": 2.5}]
)
def test_sizes_that_cannot_be(limits):
    with pytest.raises(PtxError, match=f"E401.*{next(iter(limits))}"):
        run(DEPTH, 1, **limits)
