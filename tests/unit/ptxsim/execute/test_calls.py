"""The stack of calls: lanes in different functions, recursion as deep as memory allows, returns and exits in any order.

Expected values are worked out in Python beside each program.
"""

from collections.abc import Sequence

from called_functions import CHOICES, call, fault, results


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
    assert results(functions, "call outer, (3);\nadd.u32 %r0, %r1, 1;") == [0] * 32  # no lane returns


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
