"""Kernels of bulk copies: thread 0 copies into shared memory, waits, and every thread stores a word of it."""

from collections.abc import Callable
from typing import Any

import numpy as np

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

HEAD = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(PARAMETERS.param .u64 out, .param .u64 in)
{
	.reg .pred %p<8>;
	.reg .b16 %h<8>;
	.reg .b32 %r<40>;
	.reg .b64 %d<20>;
	.shared .align 1024 .b8 tile[TILE];
	.shared .align 8 .b64 bar;
	ld.param.u64 %d1, [out];
	ld.param.u64 %d2, [in];
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
"""
MAP = """	mov.b64 %d3, map;
	cvta.param.u64 %d3, %d3;
"""
INIT = """	@%p1 mbarrier.init.shared.b64 [bar], 1;
	bar.sync 0;
"""
WAIT = """
LOOP:
	mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
	@!%p2 bra LOOP;
"""
OUT = """	bar.sync 0;
	mov.u32 %r30, %ctaid.x;
	mad.lo.u32 %r30, %r30, WORDS, 0;
	mov.u32 %r31, %r1;
NEXT:
	setp.ge.u32 %p3, %r31, WORDS;
	@%p3 bra DONE;
	mov.u32 %r32, tile;
	mad.lo.u32 %r32, %r31, 4, %r32;
	ld.shared.u32 %r33, [%r32];
	add.u32 %r34, %r30, %r31;
	mul.wide.u32 %d10, %r34, 4;
	add.s64 %d10, %d10, %d1;
	st.global.u32 [%d10], %r33;
	add.u32 %r31, %r31, 32;
	bra NEXT;
DONE:
"""
TENSOR_COPY = "cp.async.bulk.tensor.{d}d.shared::cta.global{mode}.mbarrier::complete_tx::bytes"


def kernel(body: str, words: int = 0, has_map: bool = False) -> Function:
    """A kernel of a body: %p1 is thread 0, %d1 and %d2 point to `out` and `in`, %d3 is the generic address of the map.
    It stores so many words of `tile` for each CTA."""
    text = HEAD.replace("PARAMETERS", ".param .align 64 .b8 map[128], " if has_map else "")
    text = text.replace("TILE", str(max(2048, 4 * words)))
    text += (MAP if has_map else "") + INIT + body + (OUT.replace("WORDS", str(words)) if words else "")
    return parse(text + "\tret;\n}\n").kernels["k"]


def load(box: ptxsim.TensorMap, place: tuple[int, ...], n_bytes: int, mode: str = "", more: str = "") -> str:
    """Thread 0 loads a box at these coordinates, and all wait."""
    d = 2 if "gather" in mode else len(place)
    at = ", ".join(str(c) for c in place)
    return f"""
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {n_bytes};
	@%p1 {TENSOR_COPY.format(d=d, mode=mode)} [tile], [%d3, {{{at}}}], [bar]{more};
{WAIT}"""


def loaded(
    tensor: Any,
    box: tuple[int, ...],
    place: tuple[int, ...],
    mode: str = "",
    more: str = "",
    n: int = 0,
    run: Callable[..., Any] = functional.run,
    **options: Any,
) -> Any:
    """What shared memory holds after a copy of a box: elements of the tensor's type."""
    of = ptxsim.TensorMap(tensor, box, **options)
    n_bytes = (n or int(np.prod(box))) * tensor.itemsize
    out = np.full(n_bytes // 4, 0xDEADBEEF, np.uint32)
    run(
        kernel(load(of, place, n_bytes, mode, more), n_bytes // 4, True),
        1,
        32,
        [of, out, np.zeros(4, np.uint32)],
    )
    return out.view(tensor.dtype)
