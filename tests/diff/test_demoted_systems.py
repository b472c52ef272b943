"""Demoted kernels beside what else uses registers and shared memory: dynamic shared memory, recursion, sharing of
either resource, CTA switching, release marks. They leave what the original leaves.
"""

from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

TURNED = """\
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 8 .b8 words[];
.visible .entry turned(.param .u64 out, .param .u32 n)
{
	.reg .b32 %i<16>; .reg .b64 %l<4>; .reg .pred %q<2>;
	.shared .align 4 .b8 own[8];
	ld.param.u64 %l1, [out];
	ld.param.u32 %i1, [n];
	mov.u32 %i2, %tid.x;
	mov.u32 %i3, %ntid.x;
	mov.u32 %i4, %ctaid.x;
	mul.lo.u32 %i5, %i4, %i1;
	setp.ne.u32 %q1, %i2, 0;
	@%q1 bra FILL;
	st.shared.u32 [own+4], %i5;
FILL:	mov.u32 %i6, %i2;
MORE:	shl.b32 %i7, %i6, 2;
	mov.u32 %i8, words;
	add.u32 %i8, %i8, %i7;
	mad.lo.u32 %i9, %i6, %i6, %i4;
	st.shared.u32 [%i8], %i9;
	add.u32 %i6, %i6, %i3;
	setp.lt.u32 %q1, %i6, %i1;
	@%q1 bra MORE;
	bar.sync 0;
	ld.shared.u32 %i10, [own+4];
	mov.u32 %i6, %i2;
BACK:	sub.u32 %i7, %i1, %i6;
	mov.u32 %i8, words;
	mad.lo.u32 %i8, %i7, 4, %i8;
	ld.shared.u32 %i9, [%i8+-4];
	add.u32 %i11, %i10, %i6;
	mul.wide.u32 %l2, %i11, 4;
	add.u64 %l3, %l1, %l2;
	st.global.u32 [%l3], %i9;
	add.u32 %i6, %i6, %i3;
	setp.lt.u32 %q1, %i6, %i1;
	@%q1 bra BACK;
	ret;
}
"""
"""Every CTA writes k*k + ctaid for the k below n, backwards, by way of dynamic shared memory."""

FIBONACCI = """\
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 result) fib(.param .b32 n)
{
	.reg .b32 %i<8>; .reg .pred %q<2>;
	ld.param.u32 %i1, [n];
	mov.u32 %i6, %i1;
	setp.lt.u32 %q1, %i1, 2;
	@%q1 bra DONE;
	sub.u32 %i2, %i1, 1;
	{
	.param .b32 a; .param .b32 r;
	st.param.b32 [a], %i2;
	call (r), fib, (a);
	ld.param.b32 %i3, [r];
	}
	sub.u32 %i4, %i1, 2;
	{
	.param .b32 a; .param .b32 r;
	st.param.b32 [a], %i4;
	call (r), fib, (a);
	ld.param.b32 %i5, [r];
	}
	add.u32 %i6, %i3, %i5;
DONE:	st.param.b32 [result], %i6;
	ret;
}
.visible .entry k(.param .u64 out)
{
	.reg .b32 %i<8>; .reg .b64 %l<4>;
	ld.param.u64 %l1, [out];
	mov.u32 %i1, %tid.x;
	and.b32 %i2, %i1, 7;
	{
	.param .b32 a; .param .b32 r;
	st.param.b32 [a], %i2;
	call (r), fib, (a);
	ld.param.b32 %i3, [r];
	}
	mul.wide.u32 %l2, %i1, 4;
	add.u64 %l3, %l1, %l2;
	add.u32 %i4, %i3, %i1;
	st.global.u32 [%l3], %i4;
	ret;
}
"""


def demoted(text: str, options: str, more: str = "") -> Function:
    module = rewrite(parse(text), f"allocate,demote:{options}{more}").module
    (kernel,) = module.kernels.values()
    assert "__ptxtool_demoted" in kernel.source.text
    return kernel


def turned(ctas: int, n: int) -> np.ndarray:
    """What `turned` leaves."""
    k = np.arange(n, dtype=np.uint32)[::-1]
    return (k * k + np.arange(ctas, dtype=np.uint32)[:, None]).astype(np.uint32)


def run_turned(kernel: Function, run: Any, shape: tuple[int, int, int], **more: Any) -> Any:
    """Run it with CTAs, threads and n; the result of the run."""
    ctas, threads, n = shape
    out = np.zeros((ctas, n), np.uint32)
    result = run(kernel, ctas, threads, [out, n], dynamic_shared=4 * n, **more)
    assert (out == turned(ctas, n)).all()
    return result


@pytest.mark.parametrize("rule", ["accesses", "frequency", "conflicts"])
def test_dynamic_shared_memory_stays_apart(rule: str) -> None:
    """Launches with more and less of it, with all threads and with fewer, in both runs."""
    kernel = demoted(TURNED, f"count=255:rule={rule}:threads=128")
    for shape in ((3, 128, 128), (2, 64, 1000), (5, 32, 33), (1, 128, 8000)):
        for run in (ptxsim.run, ptxsim.launch):
            run_turned(kernel, run, shape)


def test_dynamic_shared_memory_of_ptxplus_stays_apart() -> None:
    """Its variable has no size, and its address is a number: the slots begin after the bytes of the launches."""
    module = rewrite(parse(TURNED), "lower-ptxplus").module
    with pytest.raises(PtxError, match=r"E301.*may access shared memory after its 48 bytes"):
        rewrite(module, "demote:count=4:threads=128")
    for shape in ((3, 128, 128), (2, 64, 1000), (5, 32, 33)):
        n_bytes = 4 * shape[2]
        result = rewrite(module, f"demote:count=255:threads=128:dynamic-shared={n_bytes}")
        assert f"for launches with {n_bytes} bytes of dynamic shared memory" in result.remarks[0].message
        for run in (ptxsim.run, ptxsim.launch):
            run_turned(result.module.kernels["turned"], run, shape)
    with pytest.raises(PtxError, match="E404"):
        run_turned(result.module.kernels["turned"], ptxsim.run, (1, 32, 16))


def test_a_larger_cta_is_refused() -> None:
    kernel = demoted(TURNED, "count=1:threads=64")
    with pytest.raises(PtxError, match=r"E402.*maxntid 64"):
        run_turned(kernel, ptxsim.run, (1, 128, 128))


def test_functions_that_call_themselves() -> None:
    """They keep their registers; the kernel's are in slots while they run."""
    kernel = demoted(FIBONACCI, "count=255:threads=64")
    wanted = np.array([(0, 1, 1, 2, 3, 5, 8, 13)[t % 8] + t for t in range(64)], np.uint32)
    for run in (ptxsim.run, ptxsim.launch):
        out = np.zeros(64, np.uint32)
        run(kernel, 1, 64, [out])
        assert (out == wanted).all()


def test_shared_registers() -> None:
    """Of 44 registers, rounded up, 2 CTAs of 256 threads fit, and a pair more."""
    kernel = demoted(TURNED, "count=4:threads=256", ",unroll-decls,reorder-decls,release-registers:share=90")
    for scheduler in ("lrr", "owf"):
        options = {"registers": 44, "share_registers": 90, "scheduler": scheduler, "dynamic": True}
        result = run_turned(kernel, ptxsim.launch, (60, 256, 300), **options)
        assert result.shared_pairs > 0


def test_shared_scratchpad() -> None:
    """The slots, 5 of 256 words with those of a pair, are among the bytes that CTAs share; marks release them early."""
    plain = demoted(TURNED, "count=4:threads=256")
    marked = demoted(TURNED, "count=4:threads=256", ",release-scratchpad:share=50:scratchpad=17128")
    for kernel in (plain, marked):
        result = run_turned(kernel, ptxsim.launch, (60, 256, 3000), share_scratchpad=50)
        assert (result.scratchpad_bytes, result.shared_pairs) == (12008 + 5120, 1)


@pytest.mark.parametrize("scheme", ["virtual-thread", "finereg"])
def test_switched_ctas(scheme: str) -> None:
    kernel = demoted(TURNED, "count=255:threads=64", ",compact")
    result = run_turned(
        kernel, ptxsim.launch, (1000, 64, 64), gpu="gtx980-finereg", switching=scheme, registers=16
    )
    assert result.switching.scheme == scheme
    assert result.switching.switches > 0
