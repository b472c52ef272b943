"""How far a thread comes with private registers only: by hand, by linear algebra, against all sets of small kernels."""

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernels import ptx

from ptxtool.analysis.flow.frequency import static_probabilities
from ptxtool.analysis.sharing import first_shared
from ptxtool.analysis.sharing.first_shared import ExpectedPath
from ptxtool.base.bits import from_indices
from ptxtool.cfg.blocks import build
from ptxtool.ir.defuse import def_use
from ptxtool.ir.nodes import Function
from ptxtool.passes.pipeline import rewrite

REGISTERS = ".reg .pred %p; .reg .b32 %r<8>;"


def kernel(body: str) -> Function:
    return ptx(body, REGISTERS)


def named(function: Function, *names: str) -> int:
    return from_indices(r.index for r in function.registers if r.name in names)


def test_straight_code_stops_at_the_first_shared_register() -> None:
    function = kernel("mov.u32 %r0, 1; mov.u32 %r1, 2; add.u32 %r1, %r0, %r1; mov.u32 %r2, 1; ret;")
    path = ExpectedPath(function)
    values = [path.value(named(function, *names)) for names in ((), ("%r0",), ("%r0", "%r1"), ("%r1",))]
    assert values == [0, 1, 3, 0]
    assert path.value(named(function, "%r0", "%r1", "%r2")) == 5


CHOICE = """
@%p bra B;
mov.u32 %r1, 1;
mov.u32 %r2, 1;
bra C;
B: mov.u32 %r3, 1;
mov.u32 %r3, 2;
mov.u32 %r3, 3;
mov.u32 %r3, 4;
C: mov.u32 %r4, 1;
ret;
"""


def test_one_side_of_a_branch_can_be_served() -> None:
    """Two private: %p and, as written, %r1: 1 + 1/2. %r3 instead: 1 + 4/2 (the block at C stops it)."""
    function = kernel(CHOICE)
    path = ExpectedPath(function)
    assert path.value(named(function, "%p", "%r1")) == pytest.approx(1.5)
    choice = path.best(2)
    assert choice.private == {r.index for r in function.registers if r.name in ("%p", "%r3")}
    assert (choice.value, choice.is_best) == (pytest.approx(3), True)


def test_counts_of_a_run_change_the_choice() -> None:
    """The side at B was never taken."""
    function = kernel(CHOICE)
    path = ExpectedPath(function, [10, 10, 10, 10, 0, 0, 0, 0, 10, 10])
    assert path.best(2).private == {r.index for r in function.registers if r.name in ("%p", "%r1")}


def test_registers_that_only_help_together() -> None:
    """Three private: the loop after the branch needs two at once, each alone gains nothing."""
    function = kernel(
        """
        @%p bra B;
        mov.u32 %r1, 1;
        mov.u32 %r4, 1;
        ret;
        B: add.u32 %r2, %r3, 1;
        @%p bra B;
        mov.u32 %r5, 1;
        ret;
        """
    )
    choice = ExpectedPath(function).best(3)
    assert choice.private == {r.index for r in function.registers if r.name in ("%p", "%r2", "%r3")}
    assert choice.value == pytest.approx(1 + 0.5 * 20)


def test_a_call_stops_a_thread() -> None:
    function = kernel("mov.u32 %r0, 1; call f; mov.u32 %r0, 2; ret;")
    assert ExpectedPath(function).best(9).value == 1


@st.composite
def small_kernels(draw: st.DrawFn) -> Function:
    """Up to five blocks of up to three instructions on eight registers, with branches anywhere."""
    n = draw(st.integers(1, 5))
    register = st.integers(0, 7)
    lines: list[str] = []
    for b in range(n):
        lines.append(f"L{b}: ")
        for _ in range(draw(st.integers(0, 3))):
            lines.append(f"add.u32 %r{draw(register)}, %r{draw(register)}, 1;")
        kind = draw(st.sampled_from(["fall", "branch", "jump"]))
        target = f"L{draw(st.integers(0, n - 1))}"
        lines += {"fall": [], "branch": [f"@%p bra {target};"], "jump": [f"bra {target};"]}[kind]
    return kernel("\n".join([*lines, "ret;"]))


small = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


@small
@given(small_kernels(), st.integers(0, 1 << 30))
def test_values_against_linear_algebra(function: Function, seed: int) -> None:
    """One unknown per instruction, solved at once."""
    cfg = build(function)
    shares, needs = static_probabilities(cfg), def_use(function)
    n = len(function.instructions)
    private = {r.index for r in function.registers if random.Random(seed + r.index).random() < 0.6}
    passes = [set(needs[i].touched) <= private for i in range(n)]
    matrix, right = np.eye(n), np.zeros(n)
    right[0] = 1
    for block in cfg.blocks:
        for i in block.instructions:
            if not passes[i]:
                continue
            if i < block.last:
                matrix[i + 1, i] -= 1
            else:
                for s, p in shares[block.index].items():
                    if s != cfg.exit:
                        matrix[cfg.blocks[s].start, i] -= p
    if abs(np.linalg.det(matrix)) < 1e-12:  # a loop without an end: any large number will do
        return
    expected = float(np.linalg.solve(matrix, right)[passes].sum())
    assert ExpectedPath(function).value(from_indices(private)) == pytest.approx(expected, rel=1e-6)


@small
@given(small_kernels(), st.integers(0, 5), st.booleans())
def test_best_is_best(function: Function, k: int, delays: bool) -> None:
    path = ExpectedPath(function, delays=delays)
    every = max(path.value(from_indices(c)) for c in combinations(range(len(function.registers)), k))
    choice = path.best(k)
    assert choice.is_best
    assert len(choice.private) <= k
    assert choice.value == pytest.approx(every)
    assert path.value(from_indices(choice.private)) == pytest.approx(choice.value)


@small
@given(small_kernels(), st.integers(0, 9))
def test_delays_are_those_of_the_pass(function: Function, k: int) -> None:
    """The value with delays is that of the kernel as delay-first-use leaves it."""
    after = rewrite(function.module, f"delay-first-use{{share=50,registers={2 * k}}}") if k else None
    found = ExpectedPath(after.module.kernels["k"] if after else function).value((1 << k) - 1)
    assert ExpectedPath(function, delays=True).value((1 << k) - 1) == pytest.approx(found)


def test_delays_make_other_registers_worth_more() -> None:
    """One private register: as written %r0 lets one instruction pass, with delays %r1 lets three."""
    function = kernel(
        "mov.u32 %r0, 1; mov.u32 %r1, 1; add.u32 %r0, %r0, 1; mov.u32 %r1, 2; mov.u32 %r1, 3; ret;"
    )
    assert ExpectedPath(function).best(1).value == 1
    choice = ExpectedPath(function, delays=True).best(1)
    assert (choice.private, choice.value) == ({r.index for r in function.registers if r.name == "%r1"}, 3)


@small
@given(small_kernels(), st.integers(1, 5))
def test_without_time_to_search_it_is_not_below_the_order_of_first_use(function: Function, k: int) -> None:
    path = ExpectedPath(function)
    best = path.best(k)
    limit = first_shared.MOST_WORK
    try:
        first_shared.MOST_WORK = 1
        found = path.best(k)
    finally:
        first_shared.MOST_WORK = limit
    written = [u.before - 1 for u in first_shared.first_use(function).used]
    assert path.value(from_indices(written[:k])) - 1e-6 <= found.value <= best.value + 1e-6
