"""Calls of functions, in the functional and in the timed run: parameters, recursion, pointers, divergence, the stack.

Expected values are worked out in Python beside each program.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from reference.interpreter import run_reference

import ptxsim
from ptxsim import functional_run as functional
from ptxsim.execute.codes import SAVE_32
from ptxsim.lowering.lower import lower
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
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


TWICE_PLUS = """
.func (.param .b32 retval) twice_plus(.param .b32 a, .param .b32 b)
{
	.reg .b32 %r<5>;
	ld.param.u32 %r1, [a];
	ld.param.u32 %r2, [b];
	shl.b32 %r3, %r1, 1;
	add.u32 %r4, %r3, %r2;
	st.param.b32 [retval+0], %r4;
	ret;
}
"""


def test_blocks_may_hide_the_registers_of_the_head() -> None:
    """The first instruction stands where `%a` is another register, and some lanes return where `%q` is."""
    function = """
.func (.reg .u32 %q) f(.reg .u32 %a)
{
	.reg .pred %p;
	{
		.reg .u32 %a;
		mov.u32 %a, 77;
	}
	add.u32 %q, %a, 100;
	setp.lt.u32 %p, %a, 9;
	{
		.reg .u32 %q;
		mov.u32 %q, 55;
		@%p ret;
	}
	add.u32 %q, %q, %q;
}
"""
    expected = [100 + lane if lane < 9 else 2 * (100 + lane) for lane in range(32)]
    assert results(function, "\tcall (%r0), f, (%r1);") == expected


def test_parameters_and_results_in_a_loop() -> None:
    # r0 = 2 * r0 + tid, three times: 2 * (2 * tid + tid) + tid
    body = f"mov.u32 %r3, 0;\nL:\n{call('%r0', 'twice_plus', '%r0', '%r1')}\n"
    body += "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 3;\n@%p1 bra L;"
    assert results(TWICE_PLUS, body) == [7 * t for t in LANES]


def test_calls_in_other_warps_and_ctas_keep_apart() -> None:
    module = parse(
        HEAD + TWICE_PLUS + KERNEL.format(body=call("%r0", "twice_plus", "%r1", "%r2")), "calls.ptx"
    )
    for threads in (96, 70):
        out = np.zeros(threads, np.uint32)
        functional.run(module.kernels["k"], (3,), (threads,), [out, 5])
        assert out.tolist() == [2 * t + 5 for t in range(threads)]
        assert timed(module.kernels["k"], threads, 5).tolist() == out.tolist()


def test_registers_as_parameters_and_several_results() -> None:
    functions = """
.func (.reg .u32 sum, .reg .u64 product, .reg .pred less) both(.reg .u32 a, .reg .u32 b, .reg .pred negate)
{
	add.u32 sum, a, b;
	mul.wide.u32 product, a, b;
	setp.lt.u32 less, a, b;
	@negate neg.s32 sum, sum;
	ret;
}
"""
    body = """
	setp.gt.u32 %p1, %r1, 20;
	call (%r3, %d2, %p2), both, (%r1, 9, %p1);
	cvt.u32.u64 %r4, %d2;
	add.u32 %r0, %r3, %r4;
	@%p2 add.u32 %r0, %r0, 1000;"""
    expected = [(t + 9) * (-1 if t > 20 else 1) + 9 * t + (1000 if t < 9 else 0) for t in range(32)]
    assert results(functions, body) == [v & 0xFFFFFFFF for v in expected]


def test_an_address_in_a_register_parameter_is_generic() -> None:
    functions = """
.func (.reg .u32 r) pick(.reg .u64 at)
{
	ld.u32 r, [at+4];
	ret;
}
"""
    body = """
	.shared .u32 pair[2];
	st.shared.u32 [pair+4], 17;
	bar.sync 0;
	mov.u64 %d2, pair;
	cvta.shared.u64 %d2, %d2;
	call (%r0), pick, (%d2);"""
    assert results(functions, body) == [17] * 32


def test_arguments_in_registers_for_swapped_parameters_of_a_recursive_function() -> None:
    """f(a, b) = f(b, a - 1) * 2 + b, f(0, b) = b: each call gives its registers to the next in the other order."""
    functions = """
.func (.reg .u32 r) f(.reg .u32 a, .reg .u32 b)
{
	.reg .pred p;
	.reg .u32 t;
	setp.eq.u32 p, a, 0;
	@p mov.u32 r, b;
	@p ret;
	sub.u32 a, a, 1;
	call (t), f, (b, a);
	mad.lo.u32 r, t, 2, b;
	ret;
}
"""

    def f(a: int, b: int) -> int:
        return b if a == 0 else 2 * f(b, a - 1) + b

    assert results(functions, "call (%r0), f, (%r1, 3);") == [f(t, 3) & 0xFFFFFFFF for t in range(32)]


STRUCT = """
.func (.param .align 8 .b8 retval[24]) turn(.param .align 8 .b8 s[24], .param .b32 k)
{
	.reg .b32 %r<5>;
	.reg .b64 %d<5>;
	ld.param.u32 %r1, [s];
	ld.param.v2.u64 {%d1, %d2}, [s+8];
	ld.param.u32 %r2, [k];
	add.u32 %r1, %r1, %r2;
	st.param.u32 [s], 99;
	st.param.b32 [retval], %r1;
	st.param.b64 [retval+8], %d2;
	st.param.b64 [retval+16], %d1;
	ret;
}
"""


def test_structures_by_value() -> None:
    """The callee's copy is its own: what it writes there does not change the caller's argument."""
    functions = STRUCT.replace(
        "ld.param.v2.u64 {%d1, %d2}, [s+8];", "ld.param.u64 %d1, [s+8];\nld.param.u64 %d2, [s+16];"
    )
    body = """
	cvt.u64.u32 %d2, %r1;
	{
	.param .align 8 .b8 param0[24];
	.param .b32 param1;
	.param .align 8 .b8 retval0[24];
	st.param.b32 [param0], %r1;
	st.param.b64 [param0+8], %d2;
	st.param.b64 [param0+16], 7;
	st.param.b32 [param1], 100;
	call (retval0), turn, (param0, param1);
	ld.param.b32 %r3, [retval0];
	ld.param.b64 %d3, [retval0+8];
	ld.param.b64 %d4, [retval0+16];
	ld.param.b32 %r4, [param0];
	}
	mad.lo.u64 %d3, %d3, 10000, %d4;
	cvt.u32.u64 %r0, %d3;
	mad.lo.u32 %r0, %r3, 1000000, %r0;
	sub.u32 %r0, %r0, %r4;"""
    # first member + 100, the other two exchanged; param0 is still tid
    assert results(functions, body) == [(t + 100) * 1_000_000 + 70_000 + t - t for t in range(32)]


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


def test_lanes_that_call_this_that_or_nothing() -> None:
    body = f"""
	rem.u32 %r3, %r1, 3;
	mov.u32 %r0, %r1;
	setp.eq.u32 %p1, %r3, 0;
	setp.eq.u32 %p2, %r3, 1;
	@%p1 bra A;
	@%p2 bra B;
	bra.uni END;
A: {call("%r0", "add_ten", "%r1")}
	bra.uni END;
B: {call("%r0", "square", "%r1")}
END:
	add.u32 %r0, %r0, 1;"""
    expected = [[t + 10, t * t, t][t % 3] + 1 for t in range(32)]
    assert results(CHOICES, body) == expected


def test_a_guarded_call() -> None:
    body = """
	.param .b32 a;
	.param .b32 r;
	st.param.b32 [a], %r1;
	st.param.b32 [r], 5;
	setp.lt.u32 %p1, %r1, 7;
	@%p1 call (r), square, (a);
	ld.param.b32 %r0, [r];"""
    assert results(CHOICES, body) == [t * t if t < 7 else 5 for t in range(32)]
    assert (
        results(CHOICES, body.replace("lt.u32", "gt.u32").replace(", 7;", ", 1000;")) == [5] * 32
    )  # nobody calls


POINTERS = """
	rem.u32 %r3, %r1, 3;
	mul.wide.u32 %d2, %r3, 8;
	mov.u64 %d3, table;
	add.u64 %d3, %d3, %d2;
	ld.{space}.u64 %d4, [%d3];
	{{
	.param .b32 param0;
	.param .b32 retval0;
	st.param.b32 [param0], %r1;
	{declaration}
	call (retval0), %d4, (param0), P;
	ld.param.b32 %r0, [retval0];
	}}"""
PROTOTYPE = "P: .callprototype (.param .b32 _) _ (.param .b32 _);"


@pytest.mark.parametrize("space", ["global", "const"])
@pytest.mark.parametrize("declaration", [PROTOTYPE, "P: .calltargets add_ten, square;"])
def test_a_table_of_functions(space: str, declaration: str) -> None:
    data = f".{space} .align 8 .u64 table[3] = {{square, add_ten, square}};\n"
    body = POINTERS.format(space=space, declaration=declaration)
    declared = "\n".join(f".func (.param .b32 r) {n}(.param .b32 a);" for n in ("square", "add_ten"))
    expected = [t + 10 if t % 3 == 1 else t * t for t in range(32)]
    assert results(CHOICES, body, declared + "\n" + data) == expected


def test_the_address_of_a_function_in_a_register() -> None:
    body = f"""
	mov.u64 %d2, square;
	mov.u64 %d3, add_ten;
	setp.lt.u32 %p1, %r1, 16;
	selp.b64 %d4, %d2, %d3, %p1;
	.param .b32 a;
	.param .b32 r;
	st.param.b32 [a], %r1;
	{PROTOTYPE}
	call (r), %d4, (a), P;
	ld.param.b32 %r0, [r];"""
    assert results(CHOICES, body) == [t * t if t < 16 else t + 10 for t in range(32)]


def test_a_pointer_in_a_register_of_a_block() -> None:
    body = f"""
	{{
	.reg .u64 fp;
	.param .b32 a;
	.param .b32 r;
	st.param.b32 [a], %r1;
	mov.u64 fp, square;
	{PROTOTYPE}
	T: .calltargets add_ten, square;
	call (r), fp, (a), P;
	ld.param.b32 %r0, [r];
	call (r), fp, (a), T;
	ld.param.b32 %r3, [r];
	add.u32 %r0, %r0, %r3;
	}}"""
    assert results(CHOICES, body) == [2 * t * t for t in range(32)]


def test_a_pointer_to_no_function() -> None:
    data = ".global .align 8 .u64 table[3] = {1, 2, 3};\n"
    problem = fault(CHOICES, POINTERS.format(space="global", declaration=PROTOTYPE), data)
    assert (
        "error[E403]: jump or call to a target that does not exist in 'call (retval0), %d4, (param0), P;'"
        in str(problem)
    )


def test_a_pointer_to_a_function_of_another_prototype() -> None:
    declared = ".func (.param .b32 r) other(.param .b64 a);\n"
    data = declared + ".global .align 8 .u64 table[3] = {other, other, other};\n"
    problem = fault(CHOICES, POINTERS.format(space="global", declaration=PROTOTYPE), data)
    assert "target that does not exist" in str(problem)


FIB = f"""
.func (.param .b32 r) fib(.param .b32 n)
{{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	ld.param.u32 %r1, [n];
	setp.lt.u32 %p1, %r1, 2;
	@%p1 bra SMALL;
	sub.u32 %r2, %r1, 1;
	{call("%r3", "fib", "%r2")}
	sub.u32 %r4, %r1, 2;
	{call("%r5", "fib", "%r4")}
	add.u32 %r6, %r3, %r5;
	st.param.b32 [r], %r6;
	ret;
SMALL:
	st.param.b32 [r], %r1;
	ret;
}}
"""


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_recursion_whose_depth_depends_on_the_lane() -> None:
    body = f"rem.u32 %r3, %r1, 11;\n{call('%r0', 'fib', '%r3')}"
    assert results(FIB, body) == [fib(t % 11) for t in range(32)]


def test_mutual_recursion() -> None:
    """Each function adds its own digit; the last call's result comes back through all of them."""
    functions = f"""
.func (.param .b32 r) odd(.param .b32 n);
.func (.param .b32 r) even(.param .b32 n)
{{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	ld.param.u32 %r1, [n];
	setp.eq.u32 %p1, %r1, 0;
	mov.u32 %r3, 1;
	@%p1 bra END;
	sub.u32 %r2, %r1, 1;
	{call("%r3", "odd", "%r2")}
	mad.lo.u32 %r3, %r1, 3, %r3;
END:
	st.param.b32 [r], %r3;
	ret;
}}
.func (.param .b32 r) odd(.param .b32 n)
{{
	.reg .pred %p<2>;
	.reg .b32 %q<8>;
	ld.param.u32 %q1, [n];
	setp.eq.u32 %p1, %q1, 0;
	mov.u32 %q3, 2;
	@%p1 bra END;
	sub.u32 %q2, %q1, 1;
	{call("%q3", "even", "%q2")}
	mad.lo.u32 %q3, %q1, 5, %q3;
END:
	st.param.b32 [r], %q3;
	ret;
}}
"""

    def even(n: int) -> int:
        return 1 if n == 0 else odd(n - 1) + 3 * n

    def odd(n: int) -> int:
        return 2 if n == 0 else even(n - 1) + 5 * n

    assert results(functions, call("%r0", "even", "%r1")) == [even(t) for t in range(32)]


def test_local_variables_of_every_activation() -> None:
    """sum(n): an array of its own in each activation, filled before the inner call, summed behind it."""
    functions = f"""
.func (.param .b32 r) sum(.param .b32 n)
{{
	.local .align 8 .b8 depot[16];
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u32 %r1, [n];
	mov.u64 %d1, depot;
	cvta.local.u64 %d2, %d1;
	st.local.u32 [%d1+4], %r1;
	st.u32 [%d2+8], 1;
	mov.u32 %r3, 0;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra END;
	sub.u32 %r2, %r1, 1;
	{call("%r3", "sum", "%r2")}
END:
	ld.u32 %r4, [%d2+4];
	ld.local.u32 %r5, [depot+8];
	add.u32 %r3, %r3, %r4;
	add.u32 %r3, %r3, %r5;
	st.param.b32 [r], %r3;
	ret;
}}
"""
    body = ".local .b32 mine;\nst.local.u32 [mine], 1000;\n" + call("%r0", "sum", "%r1")
    body += "\nld.local.u32 %r3, [mine];\nadd.u32 %r0, %r0, %r3;"
    assert results(functions, body) == [1000 + t * (t + 1) // 2 + t + 1 for t in range(32)]


def test_addresses_of_local_variables_and_parameters_reach_callees() -> None:
    functions = """
.func store_at(.param .b64 where, .param .b32 value)
{
	.reg .b32 %r<3>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [where];
	mov.u64 %d2, value;
	ld.local.u32 %r1, [%d2];
	st.u32 [%d1], %r1;
	ret;
}
"""
    body = """
	.local .align 8 .b8 depot[16];
	mov.u64 %d2, depot;
	cvta.local.u64 %d3, %d2;
	add.u64 %d3, %d3, 12;
	.param .b64 a;
	.param .b32 b;
	st.param.b64 [a], %d3;
	st.param.b32 [b], %r1;
	call store_at, (a, b);
	ld.local.u32 %r0, [depot+12];"""
    assert results(functions, body) == LANES.tolist()


def test_returns_under_a_guard_and_by_running_off_the_end() -> None:
    functions = """
.func (.reg .u32 r) early(.reg .u32 a)
{
	.reg .pred p;
	mov.u32 r, 1;
	setp.lt.u32 p, a, 5;
	@p ret;
	mov.u32 r, 2;
	setp.lt.u32 p, a, 10;
	@p bra END;
	mov.u32 r, 3;
END:
}
"""
    assert (
        results(functions, "call (%r0), early, (%r1);\nadd.u32 %r0, %r0, 10;")
        == [11] * 5 + [12] * 5 + [13] * 22
    )


def test_exit_inside_functions() -> None:
    """Lanes below 8 exit two calls deep, lanes from 24 on one call deep: they store nothing; the others go on."""
    functions = """
.func inner(.reg .u32 a)
{
	.reg .pred p;
	setp.lt.u32 p, a, 8;
	@p exit;
	ret;
}
.func outer(.reg .u32 a)
{
	.reg .pred p;
	call inner, (a);
	setp.ge.u32 p, a, 24;
	@p exit;
	ret;
}
"""
    assert results(functions, "call outer, (%r1);\nadd.u32 %r0, %r1, 1;") == [
        t + 1 if 8 <= t < 24 else 0 for t in range(32)
    ]
    assert results(functions, "call outer, (3);\nadd.u32 %r0, %r1, 1;") == [0] * 32  # nobody comes back


def test_recursion_without_end() -> None:
    functions = f"""
.func (.param .b32 r) down(.param .b32 n)
{{
	.reg .b32 %r<8>;
	ld.param.u32 %r1, [n];
	add.u32 %r1, %r1, 1;
	{call("%r2", "down", "%r1")}
	add.u32 %r2, %r2, %r1;
	st.param.b32 [r], %r2;
	ret;
}}
"""
    problem = fault(functions, call("%r0", "down", "%r1"))
    assert "error[E415]: stack overflow beyond 16384 bytes in 'call.uni (retval0), down, (param0);'" in str(
        problem
    )
    problem = fault(".func f() { call f; ret; }\n", "call f;")  # without a byte of local memory
    assert "error[E415]" in str(problem)


def test_alloca() -> None:
    """Blocks of tid + 1 words; `stackrestore` gives them back, and so does the return from the function."""
    functions = """
.func (.reg .u32 r) blocks(.reg .u32 n)
{
	.reg .pred p;
	.reg .u32 %r<9>;
	.reg .u64 %d<9>;
	stacksave.u64 %d5;
	mov.u32 %r1, 0;
	mov.u64 %d2, 0;
	add.u32 %r4, n, 1;
	shl.b32 %r4, %r4, 2;
	cvt.u64.u32 %d6, %r4;
AGAIN:
	alloca.u64 %d1, %d6, 16;
	st.local.u32 [%d1], %r1;
	add.u64 %d3, %d1, %d6;
	st.local.u32 [%d3+-4], %r1;
	max.u64 %d2, %d2, %d1;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 p, %r1, 3;
	@p bra AGAIN;
	sub.u64 %d4, %d2, %d5;
	ld.local.u32 r, [%d2];
	cvt.u32.u64 %r2, %d4;
	mad.lo.u32 r, %r2, 10, r;
	ret;
}
"""
    body = """
	mov.u32 %r5, 0;
MORE:
	call (%r0), blocks, (%r1);
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p1, %r5, 200;
	@%p1 bra MORE;"""

    def expected(t: int) -> int:
        size = 4 * (t + 1)
        return 10 * 2 * (-(-size // 16) * 16) + 2  # the third block lies two aligned ones above the first

    assert results(functions, body) == [expected(t) for t in range(32)]
    endless = "LOOP: alloca.u64 %d2, 64;\nbra LOOP;"
    assert "error[E415]: stack overflow beyond 16384 bytes in 'alloca.u64 %d2, 64;'" in str(
        fault("", endless)
    )


def test_a_block_that_stackrestore_gives_back_is_given_again() -> None:
    body = """
	stacksave.u64 %d2;
	alloca.u64 %d3, 48, 16;
	stackrestore.u64 %d2;
	alloca.u64 %d4, 48, 16;
	sub.u64 %d5, %d4, %d3;
	cvt.u32.u64 %r0, %d5;"""
    assert results("", body) == [0] * 32


def test_functions_that_are_not_there() -> None:
    functions = (
        ".extern .func (.param .b32 r) elsewhere(.param .b32 a);\n.extern .func cudaDeviceSynchronize();\n"
    )
    with pytest.raises(PtxError) as caught:
        lower(
            kernel_of(functions, call("%r0", "elsewhere", "%r1") + "\ncall cudaDeviceSynchronize;"),
            load_gpu("tesla-c2050"),
        )
    messages = [d.message for d in caught.value.diagnostics]
    assert messages == [
        "'call.uni' cannot be simulated: function 'elsewhere' is only declared",
        "'call' cannot be simulated: function 'cudaDeviceSynchronize' is only declared",
    ]
    assert caught.value.diagnostics[0].line == 21


def test_what_a_function_cannot_do_is_said_at_its_line() -> None:
    functions = ".func f()\n{\n\twgmma.fence.sync.aligned;\n\tret;\n}\n"
    with pytest.raises(PtxError) as caught:
        lower(kernel_of(functions, "call f;"), load_gpu("tesla-c2050"))
    assert [d.line for d in caught.value.diagnostics] == [6]


def test_shared_variables_of_functions() -> None:
    """Two functions with a variable of the same name; barriers inside."""
    one = """
.func (.reg .u32 r) {name}(.reg .u32 t)
{{
	.shared .align 4 .b8 buffer[128];
	.reg .u32 %r<5>;
	mov.u32 %r1, buffer;
	mad.lo.u32 %r2, t, 4, %r1;
	mul.lo.u32 %r3, t, {factor};
	st.shared.u32 [%r2], %r3;
	bar.sync 0;
	ld.shared.u32 r, [buffer+{last}];
	ret;
}}
"""
    functions = one.format(name="f", factor=1, last=124) + one.format(name="g", factor=100, last=4)
    body = "call (%r3), f, (%r1);\ncall (%r4), g, (%r1);\nadd.u32 %r0, %r3, %r4;"
    assert results(functions, body) == [131] * 32


def test_a_switch_table() -> None:
    body = """
	rem.u32 %r3, %r1, 4;
	T: .branchtargets A, B, C;
	setp.gt.u32 %p1, %r3, 2;
	@%p1 bra END;
	brx.idx %r3, T;
A:	add.u32 %r0, %r1, 100;
	bra END;
B:	mul.lo.u32 %r0, %r1, %r1;
	bra END;
C:	neg.s32 %r0, %r1;
END:"""
    expected = [[t + 100, t * t, -t & 0xFFFFFFFF, 0][t % 4] for t in range(32)]
    assert results("", body) == expected
    functions = """
.func (.reg .u32 r) pick(.reg .u32 n)
{
	T: .branchtargets A, B;
	brx.idx n, T;
A:	mov.u32 r, 11;
	ret;
B:	mov.u32 r, 22;
	ret;
}
"""
    assert results(functions, "and.b32 %r3, %r1, 1;\ncall (%r0), pick, (%r3);") == [11, 22] * 16


def numbers(values: Sequence[int]) -> list[int]:
    return [int(v) & 0xFFFFFFFF for v in values]


def test_recursion_on_values_of_all_widths() -> None:
    """Predicates, 16-bit and 64-bit registers outlast inner calls too: r = f(n - 1) and then what was there before."""
    functions = f"""
.func (.param .b32 r) f(.param .b32 n)
{{
	.reg .pred %p<3>;
	.reg .b16 %h<3>;
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u32 %r1, [n];
	setp.eq.u32 %p1, %r1, 0;
	mov.u32 %r3, 0;
	@%p1 bra END;
	and.b32 %r4, %r1, 1;
	setp.eq.u32 %p2, %r4, 1;
	cvt.u16.u32 %h1, %r1;
	mul.wide.u32 %d1, %r1, 0x10000000;
	sub.u32 %r2, %r1, 1;
	{call("%r3", "f", "%r2")}
	@%p2 add.u32 %r3, %r3, 7;
	cvt.u32.u16 %r4, %h1;
	add.u32 %r3, %r3, %r4;
	shr.u64 %d1, %d1, 28;
	cvt.u32.u64 %r4, %d1;
	add.u32 %r3, %r3, %r4;
END:
	st.param.b32 [r], %r3;
	ret;
}}
"""
    expected = [sum(7 * (m & 1) + 2 * m for m in range(t + 1)) for t in range(32)]
    assert results(functions, call("%r0", "f", "%r1")) == numbers(expected)


def test_recursion_of_a_function_with_a_carry_flag() -> None:
    """The flag is put aside as the predicate it is: as a row of 32 bits it was another one, such as that of the frames.

    How many predicates come before decides which. The vectors, which nothing names, are 16 rows more to be hit.
    """

    def function(n_predicates: int) -> str:
        return f"""
.func (.param .b32 r) f(.param .b32 n)
{{
	.reg .pred %p<{n_predicates}>;
	.reg .v4 .b32 %v<4>;
	.reg .b32 %r<8>;
	ld.param.u32 %r1, [n];
	add.cc.u32 %r2, %r1, -1;
	addc.u32 %r3, %r1, 0;
	mov.u32 %r4, 0;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra END;
	{call("%r4", "f", "%r2")}
END:
	add.u32 %r4, %r4, %r3;
	st.param.b32 [r], %r4;
	ret;
}}
"""

    # n - 1 has a carry where n is not 0: f(n) = n + 1 + f(n - 1), f(0) = 0
    expected = [sum(range(2, t % 7 + 2)) for t in range(32)]
    body = f"rem.u32 %r3, %r1, 7;\n{call('%r0', 'f', '%r3')}"
    for n_predicates in range(2, 26):
        functions = function(n_predicates)
        program = lower(kernel_of(functions, body), load_gpu("tesla-c2050"))
        saved = {int(u["d"]) + k for u in program.uops if u["op"] == SAVE_32 for k in range(u["e"])}
        assert program.layout.stack_rows["frame"] not in saved  # running would crash
        assert results(functions, body) == expected
