"""Elements of rows as the uncompiled loads and stores see them: rows of a warp, constant rows, every type."""

import numpy as np
import pytest

from ptxsim.execute.row_elements import LANES, _python_load, _python_store

OWN = np.arange(3 * LANES, dtype=np.uint32)
CONSTANTS = np.arange(2 * LANES, dtype=np.uint32) + 1000


@pytest.mark.parametrize(("row", "lane", "expected"), [(0, 5, 5), (2, 31, 95), (-1, 3, 1003), (-2, 0, 1032)])
def test_a_row_below_0_is_a_constant_one(row: int, lane: int, expected: int) -> None:
    assert _python_load("u32")(OWN.ctypes.data, CONSTANTS.ctypes.data, row, lane) == expected


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("u32", -1, 0xFFFFFFFF),
        ("i32", -1, -1),
        ("f32", 0.1, np.float32(0.1)),
        ("u64", 2**64 - 1, 2**64 - 1),
        ("f64", 0.1, 0.1),
    ],
)
def test_what_is_stored_is_loaded(kind: str, value: float, expected: float) -> None:
    rows = np.zeros(2 * LANES, np.uint64)
    size = 4 if kind.endswith("32") else 8
    _python_store(kind)(rows.ctypes.data + LANES * size, 7, value)  # the address of row 1
    assert _python_load(kind)(rows.ctypes.data, 0, 1, 7) == expected
    assert np.count_nonzero(rows) == 1
