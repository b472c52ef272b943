"""The address map: fields of an address, by its bits, and slices that are hashed."""

from collections import Counter
from functools import cache
from typing import Any

import pytest
from memory_machine import on_array
from volta_memory import HASHED, SIXTEEN, machine

from ptxsim.timing.memory.mapping import address_map
from ptxsim.timing.memory.memory_setup import make_memory

place_line = on_array(address_map.place_line)


@cache
def memory_of(*settings: str) -> Any:
    return make_memory(machine(*settings))


def placed(line: int, *settings: str) -> tuple[int, ...]:
    """Slice, set, sector, bank and row."""
    memory = memory_of(*settings)
    place_line(memory, 0, line)
    q = memory[0]["request"][0]
    return tuple(int(q[name]) for name in ("slice", "set", "sector", "bank", "row"))


def test_bits_of_an_address_with_eight_channels() -> None:
    # chunks of 256 bytes: channel bits 8 to 10, bank bits 11, 15, 16, 17, columns 0 to 7, 12 to 14, rows from bit 18
    assert placed(3 << 8, *SIXTEEN) == (6, 0, 0, 0, 0)
    assert placed(1 << 11, *SIXTEEN) == (1, 0, 0, 1, 0)
    assert placed(5 << 15, *SIXTEEN)[3] == 10
    assert placed(7 << 18, *SIXTEEN)[4] == 7
    # the set is the address without channel and slice bits
    assert placed(1 << 7 | 96, *SIXTEEN)[:3] == (0, 1, 3)
    assert placed(1 << 12, *SIXTEEN)[1] == 2


def test_a_hashed_slice_leaves_set_bank_and_row_as_they_are() -> None:
    # address bit 12 is bit 0 of those above the slice, which flips bits 0 and 1 of the slice
    assert placed(1 << 12, *HASHED) == (0b0011, *placed(1 << 12, *SIXTEEN)[1:])
    assert placed(1 << 24 | 3 << 8, *HASHED)[0] == 6 ^ 0b0010


def test_the_slice_bit_may_lie_in_a_chunk() -> None:
    # dram.slice_bytes 128: bit 7 tells the slices, and a line of 128 bytes is all of a set's
    settings = (*SIXTEEN, "dram.slice_bytes=128")
    assert placed(128, *settings) == (1, 0, 0, 1, 0)
    assert placed(1 << 11, *settings)[:2] == (0, 1)


@pytest.mark.parametrize("stride", [256, 2048, 4096, 32768])
def test_strides_spread_over_hashed_slices(stride: int) -> None:
    counts = Counter(placed(k * stride, *HASHED)[0] for k in range(256))
    assert max(counts.values()) <= 32, counts
    if stride >= 4096:
        assert len({placed(k * stride, *SIXTEEN)[0] for k in range(256)}) == 1


@pytest.mark.parametrize(
    ("stride", "base", "out", "counts"),
    [
        (32, 0xC0010000, 0xC0000000, [1, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8]),
        (512, 0xC0057800, 0xC0047800, [4, 3, 5, 4, 4, 3, 5, 4, 4, 3, 5, 4, 4, 3, 5, 5]),
        (4096, 0xC00BF800, 0xC00AF800, [4, 4, 5, 4, 4, 3, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4]),
    ],
)
def test_slices_of_a_stride_are_those_of_gpgpusim(
    stride: int, base: int, out: int, counts: list[int]
) -> None:
    """GPGPU-Sim 4.2 with 16 slices: 64 loads at a stride and one store, accesses by slice."""
    found = Counter(placed(base + k * stride & -32, *HASHED)[0] for k in range(64))
    found[placed(out, *HASHED)[0]] += 1
    assert [found[k] for k in range(16)] == counts


def test_a_hash_of_channels_that_are_no_power_of_two_is_a_rest() -> None:
    # 24 channels of 2 slices, hashed as 64. Chunk 48 is chunk 2 of channel 0: slice 0, and bits above the channel 0b10,
    # whose bit 1 flips bits 1 and 2: 6. Chunk 24 * 2**5 is number 32 of channel 0: bit 5 flips 0, 1 and 5: 35
    settings = ("l2.slices=48", "dram.channels=24", 'dram.slice_hash="polynomial"')
    assert placed(48 << 8, *settings)[0] == 0b000110
    assert placed(24 << 13, *settings)[0] == 0b100011
    # number 33, of slice 1 (the lowest bit): 0b000001 ^ bits 0 and 1 of bit 0 ^ 0b100011 = 0b100001
    assert placed(24 * 33 << 8, *settings)[0] == 0b100001
    # bit 4 flips 4 and 5: 48, which is slice 0
    assert placed(24 << 12, *settings)[0] == 48 % 48


def test_a_bank_may_be_mixed_with_the_low_bits_of_the_row() -> None:
    # rows begin at bit 18 with eight channels: row 5, bank 10 ^ 5
    address = 5 << 18 | 5 << 15
    assert placed(address, *SIXTEEN)[3:] == (10, 5)
    assert placed(address, *SIXTEEN, 'dram.bank_hash="xor"')[3:] == (15, 5)
