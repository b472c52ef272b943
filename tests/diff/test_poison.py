"""A register that liveness calls dead may hold anything: overwriting it before every instruction changes nothing.

The same made-up divergent kernels also run with timing: the SIMT stack of the core gives what the reference gives.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.interpreter import run_reference

import ptxsim
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

HEAD = """
ld.param.u64 %rd0, [a];
mov.u32 %t, %tid.x;
mad.wide.u32 %rd1, %t, 24, %rd0;
"""
SUM = """
st.global.u32 [%rd1], %r0;
st.global.u32 [%rd1+4], %r1;
st.global.u32 [%rd1+8], %r2;
ret;
"""


@st.composite
def divergent_kernels(draw: st.DrawFn) -> Function:
    """Nested ifs and loops whose conditions depend on the lane; every loop ends."""
    register = st.integers(0, 4)
    count = 0

    def condition(p: int) -> list[str]:
        return [
            f"xor.b32 %c, %t, {draw(st.integers(0, 31))};",
            f"setp.{draw(st.sampled_from(['lt', 'ge', 'eq']))}.u32 %p{p}, %c, {draw(st.integers(0, 31))};",
        ]

    def simple() -> list[str]:
        step = f"mad.lo.u32 %r{draw(register)}, %r{draw(register)}, 3, %r{draw(register)};"
        if draw(st.booleans()):
            return [*condition(3), f"@%p3 {step}"]
        return [step]

    def statement(depth: int) -> list[str]:
        nonlocal count
        kind = draw(st.sampled_from(["simple", "if", "if-else", "loop", "leave"])) if depth else "simple"
        if kind == "simple":
            return simple()
        count += 1
        here = count
        if kind == "leave":
            return [*condition(0), "@%p0 exit;"]
        body = [line for _ in range(draw(st.integers(1, 3))) for line in statement(depth - 1)]
        if kind == "if":
            return [*condition(0), f"@%p0 bra J{here};", *body, f"J{here}:"]
        if kind == "if-else":
            other = statement(depth - 1)
            return [
                *condition(1),
                f"@!%p1 bra E{here};",
                *body,
                f"bra J{here};",
                f"E{here}:",
                *other,
                f"J{here}:",
            ]
        counter = f"%n{depth}"
        return [
            f"and.b32 {counter}, %t, 3;",
            f"H{here}:",
            *body,
            *condition(2),
            f"@%p2 bra J{here};",
            f"sub.u32 {counter}, {counter}, 1;",
            f"setp.gt.s32 %p2, {counter}, 0;",
            f"@%p2 bra H{here};",
            f"J{here}:",
        ]

    lines = [f"mov.u32 %r{i}, {i + 7};" for i in range(5)]
    lines += [line for _ in range(draw(st.integers(1, 4))) for line in statement(2)]
    body = "\n".join([HEAD, *lines, SUM])
    registers = ".reg .b64 %rd<2>; .reg .b32 %t, %c; .reg .b32 %n<3>; .reg .pred %p<4>; .reg .b32 %r<5>;"
    head = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k ( .param .u64 a )"
    return parse(f"{head}\n{{\n{registers}\n{body}\n}}\n").kernels["k"]


@settings(max_examples=60, deadline=None)
@given(divergent_kernels())
def test_dead_registers_do_not_matter(kernel: Function) -> None:
    plain, poisoned = np.zeros(64 * 6, np.uint32), np.zeros(64 * 6, np.uint32)
    run_reference(kernel, 1, 40, [plain])
    run_reference(kernel, 1, 40, [poisoned], poison=liveness(kernel))
    assert np.array_equal(plain, poisoned)


@settings(max_examples=40, deadline=None)
@given(divergent_kernels(), st.sampled_from(["lrr", "gto", "owf"]))
def test_a_timed_run_diverges_alike(kernel: Function, scheduler: str) -> None:
    plain, timed, stepped = (np.zeros(3 * 64 * 6, np.uint32) for _ in range(3))
    run_reference(kernel, 3, 40, [plain])
    skipping = ptxsim.launch(kernel, 3, 40, [timed], scheduler=scheduler)
    stepping = ptxsim.launch(kernel, 3, 40, [stepped], scheduler=scheduler, event_skip=False)
    assert np.array_equal(plain, timed)
    assert np.array_equal(plain, stepped)
    assert skipping.to_dict() == stepping.to_dict()
