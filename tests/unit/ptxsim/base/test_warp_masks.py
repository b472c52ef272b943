"""Masks over warps, as wide as those of the record: the same numbers compiled and without."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base import jit
from ptxsim.base.jit import types
from ptxsim.base.warp_masks import (
    for_wide,
    from_warp,
    no_warps,
    warp_bit,
    warp_slots,
    wide_bit,
    wide_from_bit,
)
from ptxsim.base.wide_masks import WIDE, mask_of, wide_record

NARROW = jit.record([("mask", "i8"), ("upwards", "i8"), ("none", "i8"), ("n", "i8")])
WIDE_ONE = wide_record([("mask", WIDE), ("upwards", WIDE), ("none", WIDE), ("n", "i8")])


def write(r: Any, w: Any) -> None:
    r.none = ~no_warps(r)
    r.mask = warp_bit(r, w)
    r.upwards = from_warp(r, w)
    r.n = warp_slots(r)


@pytest.mark.parametrize(("dtype", "bits"), [(NARROW, 64), (WIDE_ONE, 128)], ids=["narrow", "wide"])
def test_masks_of_a_record(dtype: Any, bits: int) -> None:
    records: Any = np.zeros(1, dtype)
    at, inner = jit.record_at(dtype), jit.njit(write)

    def main(address: int, w: int) -> None:
        inner(at(address, 0), w)

    compiled = jit.uncached(types.void(types.uint64, types.int64))(main)
    every = (1 << bits) - 1
    for w in range(bits):
        compiled(records.ctypes.data, w)
        found = [mask_of(records[0][name]) for name in ("mask", "upwards", "none")]
        assert found == [1 << w, every & -(1 << w), every], w
        assert records[0]["n"] == bits
    compiled(records.ctypes.data, bits)
    assert mask_of(records[0]["upwards"]) == 0


def test_names_of_a_scheduler() -> None:
    names = for_wide({"bit": jit.bit, "upwards": jit.from_bit, "ctz": jit.ctz})
    assert names == {"bit": wide_bit, "upwards": wide_from_bit, "ctz": jit.ctz}
