"""Narrow and wide records of SMs: the same fields, masks of 64 and 128 bits, and which of them a run has."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.compiler.wide_types import INT128
from ptxsim.base.jit import array_of, for_python, record_type, types, uncached
from ptxsim.base.later import now
from ptxsim.base.warp_masks import warp_slots
from ptxsim.base.wide_masks import WIDE
from ptxsim.timing.sm_state import MASK, RUN, RUN_WIDE, SM, SM_WIDE, signatures, sm_of

BOTH = pytest.mark.parametrize(
    ("run", "sm", "mask", "warps", "ctas"),
    [(RUN, SM, np.dtype("i8"), 64, 32), (RUN_WIDE, SM_WIDE, WIDE, 128, 64)],
    ids=["narrow", "wide"],
)


@BOTH
def test_sizes(run: Any, sm: Any, mask: Any, warps: int, ctas: int) -> None:
    fields = {name: sm.fields[name][0] for name in sm.names}
    assert list(fields) == list(SM.names or ())
    for name in ("resident", "ready", "imiss", "lock_wait"):
        assert fields[name] == mask
    assert (fields["supervised"].base, fields["wakes"].base) == (mask, mask)
    assert fields["ib_pc"].shape == fields["wake"].shape == (warps,)
    assert fields["cta_id"].shape == (ctas,)
    assert fields["policy"].shape[1] == 8 + 2 * warps


@BOTH
def test_the_sms_of_a_run(run: Any, sm: Any, mask: Any, warps: int, ctas: int) -> None:
    runs, sms = np.zeros(1, run), np.zeros(3, sm)
    runs["sms"], sms["index"] = sms.ctypes.data, [10, 11, 12]
    inner = for_python(sm_of)

    def look(run_array: Any, i: int) -> int:
        found = inner(run_array[0], i)
        return 1000 * found.index + warp_slots(found)

    compiled = uncached(types.int64(array_of(run), types.int64))(look)
    assert [int(compiled(runs, i)) for i in range(3)] == [1000 * i + warps for i in (10, 11, 12)]


def test_signatures_for_both() -> None:
    narrow, wide = map(now, signatures(MASK, RUN, SM, types.int64, MASK))
    assert narrow == now(types.int64(record_type(RUN), record_type(SM), types.int64, types.int64))
    assert wide == INT128(*map(now, (record_type(RUN_WIDE), record_type(SM_WIDE), types.int64, INT128)))


def test_numba_takes_no_wide_record_for_a_narrow_one() -> None:
    """It converts a record to another one that has its first fields."""
    for one, other in ((RUN, RUN_WIDE), (SM, SM_WIDE)):
        for a, b in ((one, other), (other, one)):
            assert now(record_type(a)).can_convert_to(None, now(record_type(b))) is None
