"""Slices that are drawn by lot: the numbers of the C library's rand(), and which chunk gets which."""

from typing import Any

import numpy as np
from memory_machine import on_array
from volta_memory import machine

from ptxsim.base.pool.record_pool import UsedRecords
from ptxsim.timing.memory.copied import leave, leave_in_empty
from ptxsim.timing.memory.mapping import address_map, random_slices
from ptxsim.timing.memory.memory_setup import make_memory

FIRST = (1804289383, 846930886, 1681692777, 1714636915, 1957747793, 424238335, 719885386, 1649760492)
"""What rand() of the GNU C library returns in a program that has not called srand()."""
SETTINGS = ("l2.slices=24", "dram.channels=12", 'dram.slice_hash="random"')

next_random = on_array(random_slices.next_random)
place_line = on_array(address_map.place_line)


def slice_of(memory: Any, address: int) -> int:
    place_line(memory, 0, address)
    return int(memory[0]["request"][0]["slice"])


def test_the_numbers_are_those_of_the_c_library() -> None:
    memory = make_memory(machine(*SETTINGS))
    assert tuple(next_random(memory) for _ in FIRST) == FIRST


def test_a_chunk_of_128_bytes_gets_its_slice_at_the_first_touch_and_keeps_it() -> None:
    memory = make_memory(machine(*SETTINGS))
    addresses = (1 << 44, 0x1000, 1 << 31, 0x1080)  # whatever the address
    drawn = [slice_of(memory, address) for address in addresses]
    assert drawn == [number % 24 for number in FIRST[:4]]
    assert [slice_of(memory, address + 96) for address in addresses] == drawn
    assert slice_of(memory, 0) == FIRST[4] % 24


def test_chunks_with_the_same_place_in_the_table_are_told_apart() -> None:
    memory = make_memory(machine(*SETTINGS))
    chunks = [k * ((1 << 19) + 1) for k in range(5)]  # the hash of each is 0
    drawn = [slice_of(memory, chunk << 7) for chunk in chunks]
    assert drawn == [number % 24 for number in FIRST[:5]]
    assert [slice_of(memory, chunk << 7) for chunk in chunks] == drawn


def test_copies_draw_in_the_order_of_addresses() -> None:
    gpu = machine(*SETTINGS)
    memory = make_memory(gpu)
    leave(memory, [(0x8000, 256), (0x2000, 128)], UsedRecords())
    memory_2, memory_3 = make_memory(gpu), make_memory(gpu)
    for other in (memory_2, memory_3):  # the second takes what the first left
        leave_in_empty(other, gpu, [(0x8000, 256), (0x2000, 128)], UsedRecords())
    for one in (memory, memory_2, memory_3):
        assert [slice_of(one, at) for at in (0x8000, 0x8080, 0x2000, 0x4000)] == [
            number % 24 for number in FIRST[:4]
        ]


def test_a_full_table_spreads_further_chunks_by_their_number() -> None:
    memory = make_memory(machine(*SETTINGS))
    memory[0]["n_chunks"] = 1 << 19
    assert np.bincount([slice_of(memory, k << 7) for k in range(24)]).tolist() == [1] * 24
    assert memory[0]["n_chunks"] == 1 << 19
