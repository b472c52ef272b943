"""Masks of 128 bits in compiled code: operations against those of Python's integers."""

import operator
import random
from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from ptxsim.base import jit
from ptxsim.base.compiler.wide_types import INT128
from ptxsim.base.jit import bit, ctz, popcount, types
from ptxsim.base.later import now
from ptxsim.base.wide_masks import WIDE, mask_of, set_masks, wide_record

ALL = (1 << 128) - 1
DTYPE = wide_record([("small", "i4"), ("a", WIDE), ("b", WIDE), ("n", "i8"), ("many", WIDE, (3,))])
compiled_only = pytest.mark.skipif(
    jit.JIT_DISABLED, reason="Python's integers are as wide as they have to be"
)


def masks() -> list[int]:
    chosen = random.Random(128)
    edges = [0, 1, ALL, 1 << 63, 1 << 64, 1 << 127, (1 << 64) - 1]
    return edges + [chosen.getrandbits(128) & chosen.getrandbits(128) for _ in range(20)]


def run(function: Any, a: int, b: int = 0) -> Any:
    """Call `function(record)`, compiled, on a record with these masks."""
    records: Any = np.zeros(1, DTYPE)
    set_masks(records["a"], a)
    set_masks(records["b"], b)
    at, inner = jit.record_at(DTYPE), jit.njit(function)

    def main(address: int) -> None:
        inner(at(address, 0))

    jit.uncached(types.void(types.uint64))(main)(records.ctypes.data)
    return records[0]


@compiled_only
@pytest.mark.parametrize("name", ["and_", "or_", "xor"])
def test_operations_on_two_masks(name: str) -> None:
    def combine(r):  # type: ignore[no-untyped-def]
        r.many[2] = operation(r.a, r.b)

    operation = getattr(operator, name)
    for a, b in zip(masks(), reversed(masks()), strict=True):
        assert mask_of(run(combine, a, b)["many"][2]) == operation(a, b)


@compiled_only
def test_operations_on_one_mask_and_constants() -> None:
    def take_apart(r):  # type: ignore[no-untyped-def]
        r.many[0] = r.a & (r.a - 1)
        r.many[1] = ~r.a
        r.many[2] = r.a & -r.a
        r.n = (ctz(r.a) if r.a else 999) + 1000 * popcount(r.a)
        r.small = 1 * (r.a == r.b) + 2 * (r.a != 0)

    for a in masks():
        found = run(take_apart, a, 1 << 64)
        lowest = a & -a
        assert [mask_of(found["many"][k]) for k in range(3)] == [a & ~lowest, ALL & ~a, lowest]
        assert int(found["n"]) == (lowest.bit_length() - 1 if a else 999) + 1000 * a.bit_count()
        assert int(found["small"]) == (a == 1 << 64) + 2 * (a != 0)


@compiled_only
def test_loops_and_branches() -> None:
    def numbers(r):  # type: ignore[no-untyped-def]
        left = r.a
        if r.b:
            left &= r.b
        r.n = 0
        while left:
            r.n = 7 * r.n + ctz(left)
            left &= left - 1

    expected = 0
    for w in (3, 63, 64, 100, 127):
        expected = 7 * expected + w
    mask = sum(1 << w for w in (3, 63, 64, 100, 127))
    assert int(run(numbers, mask)["n"]) == expected
    assert int(run(numbers, ALL, mask)["n"]) == expected


@compiled_only
def test_a_variable_that_begins_as_a_constant() -> None:
    def gather(r):  # type: ignore[no-untyped-def]
        found = -1
        left = r.a
        while left:
            found &= ~(left & -left)
            left &= left - 1
        r.b = found

    for a in masks():
        assert mask_of(run(gather, a)["b"]) == ALL & ~a


@compiled_only
def test_a_narrow_mask_does_not_pass_for_a_wide_one() -> None:
    def mixed(r):  # type: ignore[no-untyped-def]
        r.n = popcount(r.a & bit(r.n))

    with pytest.raises(TypingError, match="int128"):
        run(mixed, 1)


@compiled_only
def test_policies_take_and_return_them() -> None:
    """As arguments of typed first-class functions."""
    at = jit.record_at(DTYPE)
    signature = INT128(now(jit.record_type(DTYPE)), INT128)

    def rest(r: Any, mask: Any) -> Any:
        return mask & ~r.b

    def main(address: int, function: Any) -> None:
        r = at(address, 0)
        r.many[0] = function(r, r.a)

    records: Any = np.zeros(1, DTYPE)
    set_masks(records["a"], ALL)
    set_masks(records["b"], 5 << 100)
    compiled = jit.uncached(types.void(types.uint64, types.FunctionType(signature)))(main)
    compiled(records.ctypes.data, jit.uncached(signature)(rest))
    assert mask_of(records["many"][0, 0]) == ALL & ~(5 << 100)
