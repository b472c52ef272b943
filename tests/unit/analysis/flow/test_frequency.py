"""How often blocks run: worked by hand, and against linear algebra."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import ptx
from random_ptx.programs import write

from ptxtool.analysis.flow.frequency import counted_probabilities, static_probabilities, visits
from ptxtool.cfg.blocks import build
from ptxtool.parse import parse

NESTED = """
mov.u32 %r1, 0;
OUTER: mov.u32 %r2, 0;
INNER: add.u32 %r2, %r2, 1;
@%p1 bra INNER;
add.u32 %r1, %r1, 1;
@%p2 bra OUTER;
ret;
"""


def test_loops_multiply_by_ten() -> None:
    cfg = build(ptx(NESTED))
    found = visits(cfg, static_probabilities(cfg))
    assert found == pytest.approx([1, 10, 100, 10, 1])


def test_branches_go_each_way_alike() -> None:
    cfg = build(ptx("@%p1 bra A; @%p2 bra A; mov.u32 %r1, 1; A: ret;"))
    assert visits(cfg, static_probabilities(cfg)) == pytest.approx([1, 0.5, 0.25, 1])


def test_an_endless_loop_and_unreachable_code() -> None:
    cfg = build(ptx("L: bra L; ret;"))
    assert visits(cfg, static_probabilities(cfg)) == pytest.approx([1e6, 0])


def test_counts_give_the_shares_of_a_branch() -> None:
    cfg = build(ptx("@%p1 bra A; mov.u32 %r1, 1; bra B; A: mov.u32 %r1, 2; B: ret;"))
    shares = counted_probabilities(cfg, [100, 25, 75, 100])
    assert shares[0] == pytest.approx({1: 0.25, 2: 0.75})
    assert visits(cfg, shares) == pytest.approx([1, 0.25, 0.75, 1])


def test_counts_of_loops_come_out_as_they_went_in() -> None:
    cfg = build(ptx(NESTED))
    found = visits(cfg, counted_probabilities(cfg, [8, 24, 120, 24, 8]))
    assert found == pytest.approx([1, 3, 15, 3, 1], rel=1e-6)


def test_a_block_that_never_ran() -> None:
    cfg = build(ptx("@%p1 bra A; mov.u32 %r1, 1; A: ret;"))
    assert visits(cfg, counted_probabilities(cfg, [4, 0, 4])) == pytest.approx([1, 0, 1])


@settings(max_examples=20)
@given(st.integers(0, 1 << 32))
def test_against_linear_algebra(seed: int) -> None:
    cfg = build(parse(write(random.Random(seed))).kernels["k"])
    shares = static_probabilities(cfg)
    n = len(cfg.blocks)
    matrix = np.eye(n)
    for b, each in enumerate(shares):
        for s, p in each.items():
            if s < n:
                matrix[s, b] -= p
    right = np.zeros(n)
    right[0] = 1
    reached = sorted(cfg.reverse_postorder)
    reached = [b for b in reached if b < n]
    expected = np.zeros(n)
    expected[reached] = np.linalg.solve(matrix[np.ix_(reached, reached)], right[reached])
    np.testing.assert_allclose(visits(cfg, shares), expected, rtol=1e-7)
