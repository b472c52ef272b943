"""Atomics: how one operand changes a value, and that lanes take their turns."""

import math

import numpy as np
import pytest
from three_ways import words
from uncompiled import in_python

from ptxsim.execute.codes import ATOMICS
from ptxsim.execute.memory.atomics import combine, combine_float


@pytest.mark.parametrize(
    ("name", "old", "a", "b", "expected"),
    [
        ("inc", 4, 5, 0, 5),
        ("inc", 5, 5, 0, 0),
        ("inc", 6, 5, 0, 0),
        ("dec", 5, 5, 0, 4),
        ("dec", 0, 5, 0, 5),
        ("dec", 6, 5, 0, 5),
        ("cas", 7, 7, 9, 9),
        ("cas", 7, 8, 9, 7),
        ("exch", 7, 8, 0, 8),
        ("xor", 6, 3, 0, 5),
    ],
)
def test_integers(name: str, old: int, a: int, b: int, expected: int) -> None:
    values = (np.uint64(v) for v in (old, a, b))
    assert in_python(combine)(ATOMICS[name], *values) == expected


@pytest.mark.parametrize("name", ["min", "max"])
def test_a_number_wins_against_a_nan(name: str) -> None:
    assert in_python(combine_float)(ATOMICS[name], math.nan, 2.0) == 2.0
    assert in_python(combine_float)(ATOMICS[name], 2.0, math.nan) == 2.0


def test_each_lane_finds_what_the_one_before_it_left() -> None:
    """`in` begins with 0; lane t adds t, and finds the sum of the numbers below."""
    assert words("atom.global.add.u32 %r6, [%d2], %r1;", 32) == [t * (t - 1) // 2 for t in range(32)]


def test_signed_extremes_are_not_those_of_unsigned_numbers() -> None:
    body = "atom.global.{}.{} %r7, [%d2], 1; ld.global.u32 %r6, [%d2];"
    assert words(body.format("max", "s32"), 1, [0xFFFFFFFF]) == [1]
    assert words(body.format("max", "u32"), 1, [0xFFFFFFFF]) == [0xFFFFFFFF]
    assert words(body.format("min", "s32"), 1, [0xFFFFFFFF]) == [0xFFFFFFFF]


def test_sums_of_subnormals_are_flushed_in_global_memory_alone() -> None:
    body = "mov.b32 %f1, 1; {} atom.{}.add.f32 %f2, [{}], %f1; ld.{}.u32 %r6, [{}];"
    assert words(body.format("", "global", "%d2", "global", "%d2"), 1, [1]) == [0]
    shared = "mov.u32 %r7, tile; st.shared.u32 [%r7], 1;"
    assert words(body.format(shared, "shared", "%r7", "shared", "%r7"), 1) == [2]
