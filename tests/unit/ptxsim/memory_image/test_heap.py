"""The heap of a machine: which addresses blocks have, what is detected, and whose memory it is."""

import mmap

import numpy as np
import pytest

from ptxsim.lowering.variable_layout import GLOBAL_BASE
from ptxsim.memory_image.heap import BEFORE_FIRST, MOST_MEMORY_BYTES, Heap, memory_of
from ptxtool.base.diag import PtxError

FIRST = GLOBAL_BASE + BEFORE_FIRST
SIZE = BEFORE_FIRST + (1 << 16)


def heap(n_bytes: int = SIZE) -> Heap:
    return Heap(np.zeros(n_bytes, np.uint8))


def test_blocks_lie_at_multiples_of_256_with_a_byte_between_them() -> None:
    h = heap()
    assert [h.malloc(n) for n in (1, 255, 256, 257)] == [FIRST, FIRST + 256, FIRST + 512, FIRST + 1024]
    assert h.malloc(8, 4096) == FIRST + 4096
    assert h.malloc(8, 16) == FIRST + 1536  # first fit, before the aligned one


def test_freed_memory_is_used_again_and_adjacent_ranges_are_merged() -> None:
    h = heap(BEFORE_FIRST + 4 * 256)
    a, b, c, d = (h.malloc(200) for _ in range(4))
    for block in (a, c, b):  # b joins both neighbours
        h.free(block)
    assert h.malloc(600) == a
    with pytest.raises(
        PtxError, match=r"E402.*no room for 1 bytes.*2 blocks have 800 of 66560.*largest free range has 0"
    ):
        h.malloc(1)
    h.free(d)
    h.free(a)
    assert h.malloc(1000) == a


def test_it_agrees_with_a_list_of_blocks() -> None:
    """Random calls: blocks are apart, keep what is written, and all memory is free in the end."""
    h, random = heap(), np.random.default_rng(1)
    blocks: dict[int, bytes] = {}
    for _ in range(2000):
        if blocks and random.random() < 0.45:
            address = sorted(blocks)[random.integers(len(blocks))]
            assert h.read(address, len(blocks[address])) == blocks.pop(address)
            h.free(address)
            assert h.freed(address) is not None
        else:
            n_bytes = int(random.integers(1, 3000))
            try:
                address = h.malloc(n_bytes)
            except PtxError:
                continue
            assert h.freed(address) is None
            blocks[address] = random.bytes(n_bytes)
            h.write(address, blocks[address])
        assert h.ranges.tolist() == [[a, a + len(blocks[a])] for a in sorted(blocks)]
    assert (h.ranges[1:, 0] > h.ranges[:-1, 1]).all()
    for address in blocks:
        h.free(address)
    assert h.malloc(SIZE - BEFORE_FIRST - 1) == FIRST


def test_contents_are_read_written_and_set() -> None:
    h = heap()
    a = h.malloc(16)
    h.fill(a, 0xAB, 16)
    h.write(a + 4, np.array([1, 2], np.uint32))
    assert h.read(a, 16) == b"\xab" * 4 + b"\1\0\0\0\2\0\0\0" + b"\xab" * 4
    view = h.view(a + 4, 8).view(np.uint32)
    view += 1
    assert h.read(a + 4, 8) == b"\2\0\0\0\3\0\0\0"
    assert h.address_of(view) == a + 4
    assert h.address_of(np.zeros(4)) is None


def test_addresses_that_are_not_of_one_block_are_refused() -> None:
    h = heap()
    a, b, own = h.malloc(64), h.malloc(64), h.reserve(64)
    h.free(b)
    for action, message in (
        (lambda: h.read(a, 65), r"read of 65 bytes at address 0x10010000, byte 0 of the block of 64 bytes"),
        (
            lambda: h.write(a + 64, b"x"),
            r"write of 1 byte at .*, right after the block of 64 bytes at 0x10010000",
        ),
        (
            lambda: h.fill(a - 4, 0, 4),
            r"fill of 4 bytes at .*, 4 bytes before the block of 64 bytes at 0x10010000",
        ),
        (lambda: h.view(b + 8, 8), r"byte 8 of the block of 64 bytes at 0x10010100, which was freed"),
        (lambda: h.free(b), r"free of address 0x10010100, byte 0 of the block .*, which was freed"),
        (lambda: h.free(a + 8), r"free of address 0x10010008, byte 8 of the block of 64 bytes at 0x10010000"),
        (lambda: h.free(own), r"byte 0 of the block of 64 bytes at 0x10010200, the machine's own"),
        (lambda: h.free(0), r"free of address 0x0, where no block is"),
    ):
        with pytest.raises(PtxError, match=f"E404.*{message}"):
            action()
    for wrong in (
        lambda: h.malloc(0),
        lambda: h.malloc(8, 24),
        lambda: h.fill(a, 256, 1),
        lambda: h.write(a, "x"),
    ):
        with pytest.raises(PtxError, match="E401"):
            wrong()


def test_what_is_left_of_a_freed_block_is_still_known() -> None:
    h = heap()
    a = h.malloc(4096)
    h.free(a)
    assert h.malloc(1000) == a
    assert (h.freed(a), h.freed(a + 1023), h.freed(a + 1024)) == (None, None, (a, 4096))
    assert h.allocation(a + 999) == (a, 1000)
    assert h.allocation(a + 1000) is None


def test_it_lies_over_the_memory_of_the_caller() -> None:
    with mmap.mmap(-1, SIZE) as mapping:
        h = Heap(memory_of(mapping))
        a = h.malloc(8)
        h.write(a, b"12345678")
        assert mapping[a - GLOBAL_BASE :][:8] == b"12345678"
        del h


@pytest.mark.parametrize(
    "given", ["text", b"\0" * SIZE, np.zeros(SIZE + 1, np.uint8)[1:], 100, MOST_MEMORY_BYTES + 1, True]
)
def test_memory_that_cannot_be_a_heap_is_refused(given: object) -> None:
    with pytest.raises(PtxError, match="E401"):
        memory_of(given)


def test_blocks_can_be_placed_at_addresses() -> None:
    h = heap()
    h.place(FIRST + 1024, 100)
    h.place(FIRST + 512, 255)
    assert h.blocks() == [(FIRST + 512, 255), (FIRST + 1024, 100)]
    assert [h.malloc(n) for n in (300, 400)] == [FIRST, FIRST + 1280]
    h.free(FIRST + 1024)
    for address, n_bytes in ((FIRST, 8), (FIRST + 1, 8), (FIRST + 1024, 256), (FIRST - 256, 8), (h.end, 1)):
        with pytest.raises(PtxError, match=f"E401.*can be at {address:#x}"):
            h.place(address, n_bytes)


def test_all_blocks_can_be_replaced_but_the_machines_own() -> None:
    h = heap()
    own, kept, freed, other = h.reserve(8), h.malloc(100), h.malloc(100), h.malloc(100)
    h.write(kept, b"text")
    h.replace({kept: 100, freed + 256: 60, other + 512: 8}, own=[kept])
    assert h.blocks() == [(own, 8), (kept, 100), (other, 60), (other + 512, 8)]
    assert h.read(kept, 4) == b"text"
    assert h.described(freed).endswith("which was freed")
    assert h.ranges[:, 0].tolist() == [other, other + 512]
    with pytest.raises(PtxError, match=r"E404.*the machine's own"):
        h.free(kept)
    h.replace({})
    assert h.blocks() == [(own, 8), (kept, 100)]
    with pytest.raises(PtxError, match="E401"):
        h.replace({own: 16})


def test_written_bytes_are_tracked() -> None:
    h, marks = heap(), np.zeros(SIZE, np.uint8)
    own = h.reserve(3)
    h.track_writes(marks)
    block = h.malloc(8)
    h.write(block + 1, b"ab")
    h.fill(block + 6, 0, 2)

    def marked(start: int, n_bytes: int) -> list[int]:
        found: list[int] = marks[start - GLOBAL_BASE : start - GLOBAL_BASE + n_bytes].tolist()
        return found

    assert (marked(own, 4), marked(block, 8)) == ([1, 1, 1, 0], [0, 1, 1, 0, 0, 0, 1, 1])
    second = h.reserve(2)
    assert marked(second, 3) == [1, 1, 0]
    h.free(block)
    h.release(second)
    assert marks.sum() == 3
    assert h.malloc(8) == block


def test_a_buffer_for_written_bytes_is_writable_and_as_large_as_the_memory() -> None:
    for given in (np.zeros(SIZE - 1, np.uint8), bytes(SIZE)):
        with pytest.raises(PtxError, match="for written ones"):
            heap().track_writes(given)
