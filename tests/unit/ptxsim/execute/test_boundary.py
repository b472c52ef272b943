"""A function across a boundary: called with its arguments in order, and not linked into its caller."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import JIT_DISABLED, njit, record, record_at, record_type, types, uncached
from ptxsim.base.wide_masks import WIDE, wide_record
from ptxsim.execute import boundary as boundaries
from ptxsim.execute.boundary import boundary, compile_wide

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


def test_wide_records_have_a_function_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled when it is asked for."""
    monkeypatch.setattr(boundaries, "_for_wide", [])
    narrow, wide = record([("mask", "i8"), ("n", "i8")]), wide_record([("mask", WIDE), ("n", "i8")])

    @njit(types.void(record_type(narrow), types.int64))
    def count(r, step):  # type: ignore[no-untyped-def]
        r.n += step
        if r.mask != 0:
            r.mask &= r.mask - 1

    across = boundary("test_count", count, types.void(record_type(wide), types.int64))
    compile_wide.__wrapped__()

    def counted(dtype: Any, mask: Any) -> tuple[Any, int]:
        at, array = record_at(dtype), np.zeros(1, dtype)
        array["mask"] = mask

        @uncached(types.void(types.uint64))
        def call(address):  # type: ignore[no-untyped-def]
            across(at(address, 0), 7)

        call(array.ctypes.data)
        return array["mask"][0].tolist(), int(array["n"][0])

    assert counted(narrow, 0b101) == (0b100, 7)
    assert counted(wide, (0, 0b101)) == ((0, 0b100), 7)
