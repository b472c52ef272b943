"""One kernel run three ways: without time, timed, and by the reference interpreter. For tests of whole instructions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from reference.interpreter import run_reference

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.parse import parse

HEAD = """.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .pred %p<8>;
	.reg .b16 %h<8>;
	.reg .b32 %r<80>;
	.reg .f32 %f<40>;
	.reg .b64 %d<40>;
	.shared .align 128 .b8 tile[TILE];
	ld.param.u64 %d1, [out];
	ld.param.u64 %d2, [in];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d3, %r1, 4;
	add.s64 %d4, %d1, %d3;
	add.s64 %d5, %d2, %d3;
"""
TAIL = """
	st.global.u32 [%d4], %r6;
	ret;
}
"""


def kernel_text(body: str, tile: int = 4096, tail: str = TAIL) -> str:
    """A body in a kernel: %r1 is tid.x, %d1 and %d2 point to `out` and `in`, %r6 is stored to out[tid.x]."""
    return HEAD.replace("TILE", str(tile)) + body + tail


def three_ways(
    text: str,
    block: int,
    arguments: Callable[[], Sequence[Any]],
    name: str = "k",
    grid: tuple[int, ...] = (1,),
    any_nan: bool = False,
    **more: Any,
) -> list[Sequence[Any]]:
    """The arguments as each run leaves them; they must agree bit for bit (in `any_nan`, NaNs of `.f64` are equal)."""
    kernel = parse(text).kernels[name]
    results: list[Sequence[Any]] = []
    for run in (functional.run, run_reference, ptxsim.launch):
        given = arguments()
        run_it: Callable[..., Any] = run  # type: ignore[assignment]
        run_it(kernel, grid, (block,), given, **more)
        results.append(given)
    first = results[0]
    for way, other in zip(("reference", "timed"), results[1:], strict=True):
        for k, (a, b) in enumerate(zip(first, other, strict=True)):
            if not isinstance(a, np.ndarray):
                continue
            same = a.view(np.uint8).reshape(a.size, -1) == b.view(np.uint8).reshape(b.size, -1)
            equal = same.all(axis=1)
            if any_nan:
                equal |= np.isnan(a.view(np.float64).ravel()) & np.isnan(b.view(np.float64).ravel())
            wrong = np.flatnonzero(~equal)
            assert not wrong.size, (
                f"argument {k}: {wrong.size} elements, first {wrong[0]}: {a.ravel()[wrong[0]]:#x}, "
                f"in the {way} run {b.ravel()[wrong[0]]:#x}"
            )
    return results


def words(body: str, block: int, values: Any = (0,), tile: int = 4096) -> list[int]:
    """What a body gives in %r6, thread by thread, if all runs agree."""
    given = np.resize(np.array(values, np.uint32), max(block, len(values)))
    text = kernel_text(body, tile)
    results = three_ways(text, block, lambda: [np.zeros(block, np.uint32), given.copy()])
    return [int(v) for v in results[0][0]]
