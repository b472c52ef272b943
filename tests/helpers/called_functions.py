"""Kernels that call functions, run functionally, in the timed run and by the reference interpreter."""

from typing import Any

import numpy as np
import pytest
from reference.interpreter import run_reference

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


KERNEL = """
.visible .entry k(.param .u64 out, .param .u32 n)
{{
	.reg .pred %p<5>;
	.reg .b32 %r<20>;
	.reg .b64 %d<20>;
	mov.u32 %r1, %tid.x;
	ld.param.u64 %d1, [out];
	ld.param.u32 %r2, [n];
	mad.wide.u32 %d1, %r1, 4, %d1;
	mov.u32 %r0, 0;
{body}
	st.global.u32 [%d1], %r0;
	ret;
}}
"""
"""Thread number in %r1, the parameter n in %r2; what is in %r0 at the end is the thread's result."""


LANES = np.arange(32)


def kernel_of(functions: str, body: str, data: str = "") -> Function:
    module = parse(HEAD + data + functions + KERNEL.format(body=body), "calls.ptx")
    return module.kernels["k"]


def timed(kernel: Function, threads: int, n: int) -> Any:
    out = np.zeros(threads, np.uint32)
    ptxsim.launch(kernel, 1, threads, [out, n])
    return out


def results(functions: str, body: str, data: str = "", threads: int = 32, n: int = 0) -> list[int]:
    """What the threads leave, the same in both runs and in the reference interpreter."""
    kernel = kernel_of(functions, body, data)
    out = np.zeros(threads, np.uint32)
    functional.run(kernel, (1,), (threads,), [out, n])
    assert timed(kernel, threads, n).tolist() == out.tolist()
    again = np.zeros(threads, np.uint32)
    run_reference(kernel, 1, threads, [again, n])
    assert again.tolist() == out.tolist()
    return [int(v) for v in out]


def fault(functions: str, body: str, data: str = "", threads: int = 32) -> PtxError:
    """What ends the run, the same in both but for where the timed run was; the reference agrees on code and place."""
    kernel = kernel_of(functions, body, data)
    with pytest.raises(PtxError) as caught:
        functional.run(kernel, (1,), (threads,), [np.zeros(threads, np.uint32), 0])
    with pytest.raises(PtxError) as other:
        timed(kernel, threads, 0)
    first, second = caught.value.diagnostics[0], other.value.diagnostics[0]
    assert second.message.startswith(first.message)
    assert (first.code, first.start, first.help) == (second.code, second.start, second.help)
    with pytest.raises(PtxError) as reference:
        run_reference(kernel, 1, threads, [np.zeros(threads, np.uint32), 0], max_instructions=1_000_000)
    third = reference.value.diagnostics[0]
    assert (first.code, first.start) == (third.code, third.start)
    return caught.value


def call(result: str, name: str, *arguments: str) -> str:
    """A call as nvcc writes it: every argument by way of a `.param` variable."""
    lines = ["{"]
    for k, argument in enumerate(arguments):
        lines += [f".param .b32 param{k};", f"st.param.b32 [param{k}+0], {argument};"]
    given = ", ".join(f"param{k}" for k in range(len(arguments)))
    lines += [
        ".param .b32 retval0;",
        f"call.uni (retval0), {name}, ({given});",
        f"ld.param.b32 {result}, [retval0+0];",
        "}",
    ]
    return "\n".join(lines)


CHOICES = """
.func (.param .b32 r) add_ten(.param .b32 a)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [a];
	add.u32 %r1, %r1, 10;
	st.param.b32 [r], %r1;
	ret;
}
.func (.param .b32 r) square(.param .b32 a)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r2, [a];
	mul.lo.u32 %r1, %r2, %r2;
	st.param.b32 [r], %r1;
	ret;
}
.func (.param .b32 r) other(.param .b64 a)
{
	st.param.b32 [r], 4711;
	ret;
}
"""
