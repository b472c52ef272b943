"""Accesses of a warp and shared-memory conflicts, against cases worked out by hand and simple sets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxsim.base.jit import for_python
from ptxsim.base.program import CONTEXT
from ptxsim.timing.memory import coalesce as _coalesce
from ptxsim.timing.memory.coalesce import LOCAL_BASE

coalesce = for_python(_coalesce.coalesce)
constant_lines = for_python(_coalesce.constant_lines)
shared_conflict_degree = for_python(_coalesce.shared_conflict_degree)

ALL = 0xFFFFFFFF
X = np.zeros(1, CONTEXT)
LINES, SIZES, WORDS = np.zeros((3, 128), np.int64)
# local or not; parts of the warp of an atomic; bytes of segments
GLOBAL, LOCAL, ATOMIC = (0, 0, 0), (1, 0, 0), (0, 2, 0)
SECTORS, SECTOR_ATOMIC = (0, 0, 32), (0, 1, 32)


def context(addresses: Sequence[int], mask: int = ALL, warp: int = 0) -> Any:
    """The record of an instruction of a GPU with 100 warp slots: 3200 threads."""
    X[0]["lane_address"][: len(addresses)] = addresses
    X[0]["access_mask"] = mask if len(addresses) == 32 else (1 << len(addresses)) - 1
    X[0]["warp"] = warp
    X[0]["constant_rows32"], X[0]["rows32"], X[0]["total_rows32"] = 3, 5, 503
    return X[0]


def accesses(
    kind: tuple[int, int, int], addresses: Sequence[int], size: int, mask: int = ALL, warp: int = 0
) -> list[tuple[int, int]]:
    count = coalesce(context(addresses, mask, warp), size, *kind, LINES, SIZES, WORDS)
    return [(int(LINES[k]), int(SIZES[k])) for k in range(count)]


def constants(addresses: Sequence[int], line_bytes: int) -> list[int]:
    return [int(line) for line in LINES[: constant_lines(context(addresses), line_bytes, LINES)]]


def lanes(start: int, stride: int) -> list[int]:
    return [start + stride * lane for lane in range(32)]


@pytest.mark.parametrize(
    ("addresses", "size", "expected"),
    [
        (lanes(0x1000, 4), 4, [(0x1000, 128)]),
        # half a line off: the upper half of one segment and the lower half of the next, the higher first
        (lanes(0x1040, 4), 4, [(0x1080, 64), (0x1040, 64)]),
        # all lanes on one word: one quarter of a segment
        (lanes(0x1064, 0), 4, [(0x1060, 32)]),
        # bytes 0x1010..0x102f in segments of 32
        (lanes(0x1010, 1), 1, [(0x1020, 32), (0x1000, 32)]),
        (lanes(0x1000, 2), 2, [(0x1000, 64)]),
        ([0x1022], 2, [(0x1020, 32)]),
        # 256 and 512 contiguous bytes
        (lanes(0x1000, 8), 8, [(0x1080, 128), (0x1000, 128)]),
        (lanes(0x1000, 16), 16, [(0x1180, 128), (0x1100, 128), (0x1080, 128), (0x1000, 128)]),
        # the second and third quarter belong to different halves: nothing to shrink
        ([0x1020, 0x1040], 4, [(0x1000, 128)]),
        ([0x1040, 0x1060], 4, [(0x1040, 64)]),
        ([0x2000, 0x1000, 0x3000], 4, [(0x3000, 32), (0x2000, 32), (0x1000, 32)]),
    ],
)
def test_global_accesses(addresses: list[int], size: int, expected: list[tuple[int, int]]) -> None:
    assert accesses(GLOBAL, addresses, size) == expected


def test_a_column_of_a_matrix_is_one_access_per_lane() -> None:
    expected = [(0x1000 + 4096 * lane, 32) for lane in reversed(range(32))]
    assert accesses(GLOBAL, lanes(0x1000, 4096), 4) == expected


def test_inactive_lanes_access_nothing() -> None:
    assert accesses(GLOBAL, lanes(0x1000, 128), 4, mask=0b1001) == [(0x1180, 32), (0x1000, 32)]
    assert accesses(GLOBAL, lanes(0x1000, 128), 4, mask=0) == []


def test_the_same_word_of_consecutive_threads_of_local_memory_is_one_line() -> None:
    # 100 warps: 3200 threads; word 5 of warp 2's threads starts at word 5 * 3200 + 64
    expected = [(LOCAL_BASE + 4 * (5 * 3200 + 64), 128)]
    assert accesses(LOCAL, [20] * 32, 4, warp=2) == expected


def test_eight_bytes_of_local_memory_are_two_words_far_apart() -> None:
    expected = [(LOCAL_BASE + 4 * 3200, 128), (LOCAL_BASE, 128)]
    assert accesses(LOCAL, [0] * 32, 8) == expected


def test_sixteen_scattered_bytes_of_local_memory_fill_the_list() -> None:
    found = accesses(LOCAL, lanes(0, 16), 16)
    assert len(found) == 128
    assert {size for _, size in found} == {32}


def test_atomics_on_one_word_need_an_access_each() -> None:
    assert accesses(ATOMIC, [0x1004] * 32, 4) == [(0x1000, 32)] * 32


def test_atomics_on_neighbouring_words_go_by_half_warps() -> None:
    assert accesses(ATOMIC, lanes(0x1000, 4), 4) == [(0x1040, 64), (0x1000, 64)]


def test_atomics_of_pairs_of_lanes_on_a_word_need_two_accesses_a_half_warp() -> None:
    # 8 words of 4 bytes, two lanes each, per half warp
    addresses = [0x1000 + 4 * (lane // 2) for lane in range(32)]
    assert accesses(ATOMIC, addresses, 4) == [(0x1020, 32)] * 2 + [(0x1000, 32)] * 2


def test_words_of_an_access() -> None:
    # eight floats from the middle of a line on: words 16 to 23; a lane of 8 bytes touches two words
    assert accesses(GLOBAL, lanes(0x1040, 4)[:8], 4) == [(0x1040, 32)]
    assert WORDS[0] == 0xFF << 16
    assert accesses(GLOBAL, [0x1000, 0x1078], 8) == [(0x1000, 128)]
    assert WORDS[0] == 0b11 | 0b11 << 30
    assert accesses(GLOBAL, lanes(0x1040, 4), 4) == [(0x1080, 64), (0x1040, 64)]
    assert (WORDS[0], WORDS[1]) == (0xFFFF, 0xFFFF << 16)


def test_what_passes_the_l1_goes_by_sectors() -> None:
    # timing-model-42 section 3.1: one access per touched sector of 32 bytes
    assert accesses(SECTORS, lanes(0x1000, 4), 4) == [(0x1000 + 32 * k, 32) for k in (3, 2, 1, 0)]
    assert accesses(SECTORS, lanes(0x1000, 64)[:3], 4) == [(0x1080, 32), (0x1040, 32), (0x1000, 32)]


def test_atomics_of_a_whole_warp_go_by_sectors() -> None:
    assert accesses(SECTOR_ATOMIC, lanes(0x1000, 4), 4) == [(0x1000 + 32 * k, 32) for k in (3, 2, 1, 0)]
    assert accesses(SECTOR_ATOMIC, [0x1004] * 32, 4) == [(0x1000, 32)] * 32
    # lanes 16 to 31 on the words of lanes 0 to 15: they take their turn after them
    addresses = [0x1000 + 4 * (lane % 16) for lane in range(32)]
    assert accesses(SECTOR_ATOMIC, addresses, 4) == [(0x1020, 32), (0x1000, 32)] * 2


def test_constants_are_one_access_per_line() -> None:
    assert constants(lanes(0, 4), 64) == [64, 0]
    assert constants([4] * 32, 64) == [0]
    assert constants(lanes(0, 128), 128) == [128 * k for k in reversed(range(32))]
    assert constants([300, 4, 200, 300, 190], 64) == [256, 192, 128, 0]


@pytest.mark.parametrize(
    ("addresses", "size", "degree"),
    [
        (lanes(0, 4), 4, 1),
        (lanes(0, 0), 4, 1),  # broadcast
        (lanes(0, 8), 4, 2),
        (lanes(0, 16), 4, 4),
        (lanes(0, 128), 4, 32),
        (lanes(0, 132), 4, 1),  # padded column
        (lanes(0, 8), 8, 2),  # 64 words
        (lanes(0, 16), 16, 4),
        (lanes(0, 1), 1, 1),  # four lanes a word
        ([0, 128, 256, 256, 4], 4, 3),
    ],
)
def test_conflict_degree(addresses: list[int], size: int, degree: int) -> None:
    assert shared_conflict_degree(context(addresses), size) == degree


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([1, 2, 4, 8, 16]),
    st.lists(st.integers(0, 400), min_size=32, max_size=32),
    st.integers(0, ALL),
)
def test_accesses_cover_exactly_what_the_lanes_touch(size: int, places: list[int], mask: int) -> None:
    addresses = [size * place for place in places]
    touched = {addresses[k] + b for k in range(32) if mask >> k & 1 for b in range(size)}
    segment = {1: 32, 2: 64}.get(size, 128)
    found = accesses(GLOBAL, addresses, size, mask=mask)
    assert [a for a, _ in found] == sorted((a for a, _ in found), reverse=True)
    assert len(found) == len({byte // segment for byte in touched})
    covered = {a + b for a, n in found for b in range(n)}
    assert touched <= covered
    for address, n in found:
        assert n in (32, 64, 128)
        assert n <= segment
        assert address % n == 0
        if n > 32:  # both halves are in use
            assert any(address <= byte < address + n // 2 for byte in touched)
            assert any(address + n // 2 <= byte < address + n for byte in touched)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([4, 8, 16]),
    st.lists(st.integers(0, 300), min_size=32, max_size=32),
    st.integers(1, ALL),
)
def test_degree_is_the_most_words_of_a_bank(size: int, places: list[int], mask: int) -> None:
    addresses = [size * place for place in places]
    words = {addresses[k] // 4 + w for k in range(32) if mask >> k & 1 for w in range(size // 4)}
    banks = [word % 32 for word in words]
    expected = max(banks.count(bank) for bank in range(32))
    assert shared_conflict_degree(context(addresses, mask=mask), size) == expected
