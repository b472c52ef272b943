"""Masks of 128 bits in a record: their two words, and the same without compilation."""

from typing import Any

import numpy as np

from ptxsim.base.wide_masks import WIDE, WideRecord, mask_of, set_masks, wide_record, words_of

ALL = (1 << 128) - 1
DTYPE = wide_record([("small", "i4"), ("a", WIDE), ("b", WIDE), ("n", "i8"), ("many", WIDE, (3,))])


def test_a_record_without_compilation() -> None:
    r: Any = np.zeros(1, DTYPE)[0]
    assert isinstance(r, WideRecord)
    for mask in (0, 1, ALL, 1 << 63, 1 << 64, 1 << 127, 0x9E3779B97F4A7C15F39CC0605CEDC834):
        r.a = mask
        r.many[1] = r.a
        r.a |= 1 << 90
        assert (r.a, r.many[1], r.b) == (mask | 1 << 90, mask, 0)
    r.b = -1  # as many bits as there are
    r.small = 7
    assert (r.b, r.small, r.n) == (ALL, 7, 0)


def test_words() -> None:
    assert words_of((5 << 64) + 7) == (7, 5)
    narrow = np.zeros(2, "i8")
    set_masks(narrow, 1 << 63 | 1)
    assert [mask_of(each) for each in narrow] == [1 << 63 | 1] * 2


def test_masks_lie_where_compiled_code_expects_an_int128() -> None:
    assert DTYPE.fields is not None
    assert [DTYPE.fields[name][1] for name in ("small", "a", "b", "n", "many")] == [0, 16, 32, 48, 64]
    assert DTYPE.itemsize == 112
