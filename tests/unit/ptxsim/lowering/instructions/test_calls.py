"""Calls of functions, in the functional and in the timed run: parameters, pointers, local variables, what is saved.

Expected values are worked out in Python beside each program.
"""

import numpy as np
import pytest
from called_functions import CHOICES, HEAD, KERNEL, LANES, call, fault, kernel_of, results, timed

from ptxsim import functional_run as functional
from ptxsim.execute.codes import SAVE_32
from ptxsim.lowering.lower import lower
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse

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
    )  # never called


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


def test_local_variables_of_every_activation() -> None:
    """sum(n): an array of its own in each activation, filled before the inner call, summed after it."""
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
    refused = "fence.proxy.generic::fabric.alias.acquire.sys;"
    functions = f".func f()\n{{\n\t{refused}\n\tret;\n}}\n"
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
