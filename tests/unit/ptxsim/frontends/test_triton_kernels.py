"""`from_triton`: Triton kernels give what numpy does. Compiling needs the package; the rest has stand-ins."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry scaled(
	.param .u64 .ptr .global .align 1 scaled_param_0,
	.param .f32 scaled_param_1,
	.param .u32 scaled_param_2{scratch}
)
.reqntid 64
{{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .f32 %f<3>;
	.reg .b64 %rd<4>;
	ld.param.b64 %rd1, [scaled_param_0];
	ld.param.f32 %f1, [scaled_param_1];
	ld.param.b32 %r1, [scaled_param_2];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %tid.x;
	shl.b32 %r4, %r2, 6;
	or.b32 %r5, %r4, %r3;
	setp.lt.s32 %p1, %r5, %r1;
	mul.wide.s32 %rd2, %r5, 4;
	add.s64 %rd3, %rd1, %rd2;
	@%p1 ld.global.f32 %f2, [%rd3];
	mul.f32 %f2, %f2, %f1;
	@%p1 st.global.f32 [%rd3], %f2;
	ret;
}}
"""
POINTER = ",\n\t.param .u64 .ptr .global .align 1 scaled_param_"


def stand_in(n_scratch: int = 1, **metadata: Any) -> Any:
    """What `triton.compile` gives, with what `from_triton` reads of it."""
    scratch = "".join(f"{POINTER}{3 + n}" for n in range(n_scratch))
    names = ["x_ptr", "factor", "n", "BLOCK"]
    return SimpleNamespace(
        asm={"ptx": TEXT.format(scratch=scratch)},
        metadata=SimpleNamespace(**{"name": "scaled", "num_warps": 2, "shared": 0} | metadata),
        src=SimpleNamespace(
            signature={"x_ptr": "*fp32", "factor": "fp32", "n": "i32", "BLOCK": "constexpr"},
            constants={(3,): 64},
            fn=SimpleNamespace(arg_names=names),
        ),
    )


X = np.arange(100, dtype=np.float32)


@pytest.mark.parametrize("n_scratch", [0, 1, 2])
@pytest.mark.parametrize("how", ["runtime", "all", "named"])
def test_a_compiled_kernel(n_scratch: int, how: str) -> None:
    x = X.copy()
    start = ptxsim.from_triton(stand_in(n_scratch, global_scratch_size=128))[(2,)]
    if how == "runtime":
        result = start(x, 3.0, 100)
    elif how == "all":
        result = start(x, 3.0, 100, 64)
    else:
        result = start(x, n=100, factor=3.0, BLOCK=64)
    assert np.array_equal(x, 3 * X)
    assert result.ctas == 2


def test_a_compiled_kernel_without_its_source() -> None:
    compiled = stand_in(0)
    del compiled.src
    x = X.copy()
    ptxsim.from_triton(compiled)[2](x, 2.0, 50)
    assert np.array_equal(x, np.where(X < 50, 2 * X, X))


def test_strided_arrays_and_things_like_arrays() -> None:
    x = np.zeros(200, np.float32)
    x[::2] = X
    ptxsim.from_triton(stand_in())[2](x[::2], 2.0, 100)
    assert np.array_equal(x[::2], 2 * X)

    class Tensor:
        def __init__(self) -> None:
            self.memory = X.copy()

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return self.memory

    tensor = Tensor()
    ptxsim.from_triton(stand_in())[2](tensor, 2.0, 100)
    assert np.array_equal(tensor.memory, 2 * X)


def test_timed_run_and_checks() -> None:
    kernel = ptxsim.from_triton(stand_in())
    assert kernel.timed(scheduler="gto")[2](X.copy(), 2.0, 100).cycles > 0
    problems = kernel.functional(check=("memory",))[2](X.copy()[:90], 2.0, 100).problems
    assert "buffer 'scaled_x_ptr'" in problems[0].message


def test_the_parsed_kernel() -> None:
    kernel = ptxsim.from_triton(stand_in())
    assert [d.declarators[0].name for d in kernel.kernel().params] == [
        "scaled_x_ptr",
        "scaled_factor",
        "scaled_n",
        "scaled_global_scratch",
    ]
    assert "[scaled_x_ptr]" in kernel.ptx()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda k: ptxsim.from_triton(3), "int is no Triton kernel"),
        (lambda k: ptxsim.from_triton(stand_in(3)), "6 PTX parameters for 3 arguments"),
        (lambda k: k(X, 1.0, 100), "kernel 'scaled' without a grid"),
        (lambda k: k[1](X, 1.0), "no argument 'n'"),
        (lambda k: k[1](X, 1.0, 100, 64, 5), "5 arguments"),
        (lambda k: k[1](X, 1.0, 100, m=5), "argument 'm'"),
        (lambda k: k[1](X, 1.0, 100, n=5), "argument 'n' twice"),
        (lambda k: k[1](X, 1.0, 100, BLOCK=32), "BLOCK=32 for kernel 'scaled', which was compiled with 64"),
        (lambda k: k[1](X.astype(np.float64), 1.0, 100), "type *fp32 is an array of float64"),
        (lambda k: k[1](5, 1.0, 100), "type *fp32 is 5"),
        (lambda k: k[1](X, X, 100), "type fp32 is an array"),
        (lambda k: k[0](X, 1.0, 100), "grid 0"),
    ],
)
def test_errors(wrong: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(PtxError) as caught:
        wrong(ptxsim.from_triton(stand_in()))
    assert message in str(caught.value)
    assert all(d.code == "E401" and d.help for d in caught.value.diagnostics)


def test_clusters_are_refused() -> None:
    with pytest.raises(PtxError, match="2 CTAs per program"):
        ptxsim.from_triton(stand_in(num_ctas=2))
