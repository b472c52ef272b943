"""Accesses whose lanes lie at equal distances: values, and what is said where a lane's place is wrong."""

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{{
    .shared .align 16 .b8 room[4096];
    .reg .pred %p;
    .reg .b32 %t, %s, %v<4>;
    .reg .b64 %a, %b, %w;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    setp.lt.u32 %p, %t, {lanes};
    {body}
    ret;
}}
"""
WORDS = (np.arange(4096, dtype=np.uint64) * 2654435761).astype(np.uint32)
TYPES = {"u32": (4, "%v0"), "u64": (8, "%w"), "u16": (2, "%v0"), "v2.u32": (8, "{%v0, %v1}")}


def kernel(body: str, lanes: int = 32) -> Function:
    return parse(PTX.format(body=body, lanes=lanes)).kernels["k"]


def bytes_at(stride: int, start: int, size: int, lanes: int) -> np.ndarray:
    data = WORDS.view(np.uint8)
    return np.array([data[start + n * stride : start + n * stride + size] for n in range(lanes)])


@pytest.mark.parametrize("lanes", [32, 19])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("stride", [0, 8, 16, 64, 72, -8])
@pytest.mark.parametrize("generic", [False, True])
def test_loads(stride: int, type_: str, lanes: int, generic: bool) -> None:
    """A strided load, stored side by side."""
    size, registers = TYPES[type_]
    start = 1024
    space = "" if generic else ".global"
    body = f"""
        mul.lo.s32 %s, %t, {stride}; cvt.s64.s32 %w, %s; add.u64 %a, %a, %w;
        mad.wide.u32 %b, %t, {size}, %b;
    @%p ld{space}.{type_} {registers}, [%a+{start}];
    @%p st{space}.{type_} [%b], {registers};
        """
    found = np.zeros(lanes * size, np.uint8)
    ptxsim.run(kernel(body, lanes), 1, 32, [WORDS.copy(), found])
    assert (found.reshape(lanes, size) == bytes_at(stride, start, size, lanes)).all()


@pytest.mark.parametrize("stride", [4, 8, 12])
def test_shared_memory(stride: int) -> None:
    """Stores at a stride into shared memory, and loads by the neighbour."""
    body = f"""
        mov.u32 %s, room; mad.lo.u32 %s, %t, {stride}, %s;
        mul.lo.u32 %v0, %t, %t;
        st.shared.u32 [%s+16], %v0;
        xor.b32 %v1, %t, 1; mov.u32 %s, room; mad.lo.u32 %s, %v1, {stride}, %s;
        ld.shared.u32 %v2, [%s+16];
        mad.wide.u32 %b, %t, 4, %b; st.global.u32 [%b], %v2;
        """
    found = np.zeros(32, np.uint32)
    ptxsim.run(kernel(body), 1, 32, [WORDS.copy(), found])
    assert list(found) == [(t ^ 1) ** 2 for t in range(32)]


def test_stores_to_one_place_leave_the_last_lane_s() -> None:
    found = np.zeros(1, np.uint32)
    ptxsim.run(kernel("st.global.u32 [%b], %t;"), 1, 32, [WORDS.copy(), found])
    assert list(found) == [31]


@pytest.mark.parametrize(
    ("body", "thread"),
    [
        ("mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %v0, [%a+16264];", 30),  # 4 * 4096 - 4 * 30
        ("mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %v0, [%a+2];", 0),
        ("mad.wide.u32 %a, %t, 6, %a; ld.global.u32 %v0, [%a];", 1),
        ("mov.u32 %v1, room; mul.lo.u32 %s, %t, 4; ld.shared.u32 %v0, [%s+3992];", 26),  # 4096 - 4 * 26
        # the last bytes of all addresses, of one lane or of all: their end is 0
        ("mov.b64 %w, -4; ld.global.u32 %v0, [%w];", 0),
        ("mov.b64 %w, -8; ld.u64 %w, [%w];", 0),
        ("setp.eq.u32 %p, %t, 9; selp.b64 %w, -4, %a, %p; ld.global.u32 %v0, [%w];", 9),
        ("setp.eq.u32 %p, %t, 9; selp.b64 %w, -4, %a, %p; st.global.u32 [%w], %t;", 9),
        ("mov.u32 %v1, room; cvt.u64.u32 %w, %t; mad.lo.u64 %w, %w, 4, -128; ld.shared.u32 %v0, [%w];", 0),
        ("mov.u32 %v1, room; cvt.u64.u32 %w, %t; mad.lo.u64 %w, %w, 4, -64; st.shared.u32 [%w], %t;", 0),
    ],
)
def test_the_first_lane_that_is_wrong_is_named(body: str, thread: int) -> None:
    with pytest.raises(PtxError, match=rf"thread \({thread},0,0\)"):
        ptxsim.run(kernel(body), 1, 32, [WORDS.copy(), np.zeros(1, np.uint32)])
