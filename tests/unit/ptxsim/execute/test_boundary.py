"""A function across a boundary: called with its arguments in order, and not linked into its caller."""

import pytest
from numba import types

from ptxsim.base.jit import JIT_DISABLED, njit, uncached
from ptxsim.execute.boundary import boundary

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="there are no boundaries without compilation")


def test_a_call_by_symbol() -> None:
    @njit(types.int64(types.int64, types.int64, types.float64))
    def far(a, b, c):  # type: ignore[no-untyped-def]
        return 100 * a + 10 * b + types.int64(c)

    across = boundary("test_far", far)

    @uncached
    def near(a, b):  # type: ignore[no-untyped-def]
        return across(a, b, 3.5) - across(b, a, 0.0)

    assert near(1, 2) == 123 - 210
    (text,) = near.inspect_llvm().values()
    assert "declare" in text
    assert [
        line.split()[0] for line in text.splitlines() if "@ptxsim_test_far(" in line and "call" not in line
    ] == ["declare"]
