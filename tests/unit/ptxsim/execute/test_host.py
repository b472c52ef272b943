"""The heap and the print buffer as kernels see them."""

from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

TEXT = """.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 format[8] = {37, 100, 32, 37, 115, 10, 0};
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<8>; .reg .b64 %a, %p<8>; .reg .pred %q;
	.local .align 8 .b8 values[16];
	ld.param.u64 %a, [out];
	BODY
	ret;
}
"""


def run(body: str, threads: int = 1, **options: Any) -> tuple[list[int], str]:
    out = np.zeros(8, np.uint64)
    result = ptxsim.run(parse(TEXT.replace("BODY", body)).kernels["k"], 1, threads, [out], **options)
    return [int(v) for v in out], result.printed


def pointers(sizes: list[int], between: str = "", **options: Any) -> list[int]:
    calls = [
        f"call (%p{k}), malloc, ({size}); st.global.u64 [%a+{8 * k}], %p{k};" for k, size in enumerate(sizes)
    ]
    return run("\n".join([*calls[:-1], between, calls[-1]]), **options)[0][: len(sizes)]


def test_blocks_lie_apart_at_multiples_of_16() -> None:
    """17 bytes take 32, and a header of 16."""
    first, second, third = pointers([17, 1, 16])
    assert first % 16 == 0
    assert (second - first, third - second) == (48, 32)


def test_a_block_that_was_given_back_is_taken_again() -> None:
    first, _, third = pointers([16, 16, 16], "call free, (%p0);")
    assert third == first


def test_neighbours_that_were_given_back_join() -> None:
    first, _, third = pointers([32, 32, 80], "call free, (%p0); call free, (%p1);", heap_bytes=96)
    assert third == first


def test_there_is_no_block_larger_than_the_heap() -> None:
    assert pointers([4096], heap_bytes=1024) == [0]
    assert pointers([1 << 62], heap_bytes=1024) == [0]


def test_a_null_pointer_may_be_given_back_and_a_block_once() -> None:
    run("call free, (0);")
    with pytest.raises(PtxError) as caught:
        pointers([16, 16], "call free, (%p0); call free, (%p0);")
    assert caught.value.diagnostics[0].code == "E404"


def test_lanes_print_in_order_and_strings_are_followed() -> None:
    body = """mov.u32 %r1, %tid.x; st.local.u32 [values], %r1;
	mov.u64 %p1, format; cvta.global.u64 %p1, %p1; add.u64 %p2, %p1, 2; st.local.u64 [values+8], %p2;
	mov.u64 %p3, values; cvta.local.u64 %p3, %p3;
	call (%r2), vprintf, (%p1, %p3);"""
    assert run(body, 3)[1] == "".join(f"{lane}  %s\n\n" for lane in range(3))
