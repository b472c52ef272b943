"""The L1 with sectors: states of sectors, stores by policy, replacement, one access at a time."""

import random
from typing import Any

import pytest
from volta_memory import SECTORS, machine

from ptxsim.base.jit import for_python
from ptxsim.timing.memory import l1 as _l1
from ptxsim.timing.memory import l1_sectors
from ptxsim.timing.memory.counts import l1_counts
from ptxsim.timing.memory.mapping import on_their_way
from ptxsim.timing.memory.memory_setup import make_l1
from ptxsim.timing.memory.memory_state import FAIL, HIT, MISS, PENDING, READ, WRITE, WRITEBACK
from ptxtool.base.diag import PtxError

fill = for_python(l1_sectors.sector_fill)
forget = for_python(l1_sectors.forget)
load = for_python(l1_sectors.sector_load)
next_waiter = for_python(_l1.l1_next_waiter)
store = for_python(l1_sectors.sector_store)

entry_of = for_python(on_their_way.entry_of)

WORDS = 0xFFFFFFFF
LINE, SET = 128, 512  # 4 sets: lines 512 bytes apart share one


def empty(*settings: str) -> Any:
    return make_l1(machine(*SECTORS, *settings), 1)[0]


def drain(l1: Any) -> list[tuple[int, int, int, int]]:
    """Take all of the miss queue: (address, bytes, kind, tag)."""
    size = len(l1["miss_line"])
    places = [(l1["miss_head"] + k) % size for k in range(l1["miss_count"])]
    l1["miss_head"] = (l1["miss_head"] + l1["miss_count"]) % size
    l1["miss_count"] = 0
    return [tuple(int(l1[f"miss_{name}"][p]) for name in ("line", "bytes", "kind", "tag")) for p in places]


def answer(l1: Any) -> list[int]:
    """Let all reads of the miss queue arrive; the waiters in their order."""
    for _, _, kind, entry in drain(l1):
        if kind == READ:
            fill(l1, entry)
    found = []
    while (waiter := int(next_waiter(l1))) >= 0:
        found.append(waiter)
    return found


def test_a_miss_reads_its_sector_alone() -> None:
    l1 = empty()
    assert load(l1, 0x1020, 7) == MISS
    assert drain(l1) == [(0x1020, 32, READ, int(l1["cache"]["entry"][1]))]
    fill(l1, int(l1["cache"]["entry"][1]))
    assert int(next_waiter(l1)) == 7
    assert load(l1, 0x1020, 8) == HIT
    assert load(l1, 0x1040, 9) == MISS  # another sector of the line
    counts = l1_counts(l1)
    assert (counts["accesses"], counts["hits"], counts["misses"]) == (3, 1, 2)


def test_eight_loads_wait_for_a_sector() -> None:
    l1 = empty()
    assert [load(l1, 0x1000, k) for k in range(9)] == [MISS] + [PENDING] * 7 + [FAIL]
    assert answer(l1) == list(range(8))


def test_a_load_needs_two_places_of_the_miss_queue_even_to_merge() -> None:
    # 16 places: at most 14 taken, and so 15 misses
    l1 = empty()
    assert [load(l1, LINE * k, k) for k in range(16)] == [MISS] * 15 + [FAIL]
    assert load(l1, 0, 20) == FAIL
    assert store(l1, 0x9000, 0, 3, WORDS) == MISS
    assert store(l1, 0x9020, 0, 3, WORDS) == FAIL


class TestWriteThrough:
    """Volta's policy: every store goes on to the L2, and is kept."""

    def test_a_whole_sector_can_be_read_and_a_part_cannot(self) -> None:
        l1 = empty()
        assert store(l1, 0x1000, 0, 5, 0xFF) == MISS
        assert store(l1, 0x1020, 0, 5, 0x0F << 8) == MISS
        assert drain(l1) == [(0x1000, 32, WRITE, 5), (0x1020, 32, WRITE, 5)]
        assert load(l1, 0x1000, 1) == HIT
        assert load(l1, 0x1020, 2) == MISS
        assert answer(l1) == [2]
        assert load(l1, 0x1020, 3) == HIT

    def test_two_parts_make_a_sector_whole(self) -> None:
        l1 = empty()
        assert store(l1, 0x1000, 0, 5, 0x0F) == MISS
        assert store(l1, 0x1000, 0, 5, 0xF0) == HIT
        assert load(l1, 0x1000, 1) == HIT

    def test_a_sector_that_was_read_before_stays_readable(self) -> None:
        l1 = empty()
        assert load(l1, 0x1000, 1) == MISS
        answer(l1)
        assert store(l1, 0x1000, 0, 5, 1) == HIT
        assert load(l1, 0x1000, 2) == HIT

    def test_a_store_to_a_sector_on_its_way_counts_as_pending(self) -> None:
        # it is dirty at once; a load waits for the same read, and finds it whole when it comes
        l1 = empty()
        assert load(l1, 0x1000, 1) == MISS
        assert store(l1, 0x1000, 0, 5, 1) == PENDING
        assert load(l1, 0x1000, 2) == PENDING
        assert int(l1["n_dirty"]) == 1
        assert answer(l1) == [1, 2]
        assert load(l1, 0x1000, 3) == HIT
        counts = l1_counts(l1)
        assert (counts["pending_hits"], counts["misses"]) == (1, 2)

    def test_dirty_lines_stay_until_a_quarter_of_the_lines_is_dirty(self) -> None:
        # 4 sets of 4 ways: below 4 dirty lines those of a set are kept, whatever their age
        l1 = empty("l1d.ways=4")
        for k in range(3):
            store(l1, SET * k, 0, 5, WORDS)
        for k in range(3, 9):
            assert load(l1, SET * k, 1) == MISS
            answer(l1)
        assert [load(l1, SET * k, 1) for k in range(3)] == [HIT] * 3
        store(l1, LINE, 0, 5, WORDS)  # of another set: the fourth
        drain(l1)
        assert load(l1, SET * 9, 1) == MISS  # takes the place of the oldest line, which is clean
        answer(l1)
        assert load(l1, SET * 10, 1) == MISS  # line 0 is the oldest now, and dirty
        assert drain(l1)[0][2] == READ  # it is dropped: the L2 has its data
        assert load(l1, 0, 1) == MISS


def test_a_line_with_a_sector_on_its_way_is_not_replaced() -> None:
    l1 = empty("l1d.ways=2")
    assert [load(l1, SET * k, k) for k in range(3)] == [MISS, MISS, FAIL]
    assert answer(l1) == [0, 1]
    assert load(l1, SET * 2, 2) == MISS


def test_the_least_recently_used_line_of_any_sector_is_replaced() -> None:
    l1 = empty("l1d.ways=2")
    for address in (0, SET, 32):  # line 0 again, another sector
        load(l1, address, 0)
        answer(l1)
    load(l1, 2 * SET, 0)
    answer(l1)
    assert [load(l1, address, 0) for address in (0, 32)] == [HIT, HIT]
    assert load(l1, SET, 0) == MISS


def test_a_replaced_line_whose_read_comes_late_wakes_its_waiters_only() -> None:
    # a sector written while on its way no longer holds its line
    l1 = empty("l1d.ways=1", "l1d.dirty_percent=0")
    assert load(l1, 0, 1) == MISS
    (first,) = (entry for _, _, kind, entry in drain(l1) if kind == READ)
    assert store(l1, 0, 0, 5, 1) == PENDING
    drain(l1)
    assert load(l1, SET, 2) == MISS
    (second,) = (entry for _, _, kind, entry in drain(l1) if kind == READ)
    fill(l1, first)
    assert int(next_waiter(l1)) == 1
    assert load(l1, SET, 3) == PENDING
    fill(l1, second)
    assert load(l1, SET, 4) == HIT
    assert load(l1, 0, 5) == MISS


def test_local_stores_stay_and_global_ones_evict() -> None:
    l1 = empty('l1d.stores="local-back"', 'l1d.store_miss="pass"', "l1d.ways=1", "l1d.dirty_percent=0")
    assert store(l1, 0, 1, 5, WORDS) == MISS  # not there: it passes
    assert load(l1, 0, 1) == MISS
    answer(l1)
    assert store(l1, 0, 1, 5, WORDS) == HIT
    assert int(l1["kept"]) == 1
    assert drain(l1) == []
    assert load(l1, 32, 1) == MISS
    answer(l1)
    assert store(l1, 32, 0, 6, WORDS) == HIT
    assert int(l1["kept"]) == 0
    assert drain(l1) == [(32, 32, WRITE, 6)]
    assert load(l1, 32, 1) == MISS  # evicted
    answer(l1)
    assert load(l1, SET, 1) == MISS  # the dirty sector of line 0 is written back
    assert (0, 32, WRITEBACK, -1) in drain(l1)


ON_FILL = ('l1d.allocation="fill"', 'l1d.stores="local-back"', 'l1d.store_miss="pass"', "l1d.dirty_percent=0")


def test_a_line_gets_its_place_when_its_first_sector_arrives() -> None:
    """One way: three lines of a set may be on their way at a time, where a cache that allocates on a miss refuses the
    second; the last one to arrive stays."""
    l1, on_miss = empty(*ON_FILL, "l1d.ways=1"), empty("l1d.ways=1")
    assert [load(on_miss, k * SET, k) for k in range(2)] == [MISS, FAIL]
    assert [load(l1, k * SET, k) for k in range(3)] == [MISS, MISS, MISS]
    assert load(l1, SET, 9) == PENDING
    counts = l1_counts(l1)
    assert (counts["accesses"], counts["misses"], counts["pending_hits"]) == (4, 4, 0)
    assert answer(l1) == [0, 1, 9, 2]
    assert load(l1, 2 * SET, 0) == HIT
    assert [load(l1, 0, 0), load(l1, SET, 0)] == [MISS, MISS]


def test_an_arriving_line_drops_the_dirty_one_that_it_replaces() -> None:
    l1 = empty(*ON_FILL, "l1d.ways=1")
    load(l1, 0, 1)
    answer(l1)
    assert store(l1, 0, 1, 5, WORDS) == HIT
    assert int(l1["n_dirty"]) == 1
    assert load(l1, SET, 2) == MISS
    assert load(l1, 0, 3) == HIT  # it stays until then
    assert drain(l1) == [(SET, 32, READ, int(entry_of(l1["waits"], SET)))]
    fill(l1, int(entry_of(l1["waits"], SET)))
    assert drain(l1) == []  # nothing is written back
    assert int(l1["n_dirty"]) == 0
    assert load(l1, SET, 4) == HIT


def test_an_arriving_sector_joins_its_line() -> None:
    l1 = empty(*ON_FILL, "l1d.ways=1")
    assert [load(l1, 32 * k, k) for k in range(4)] == [MISS] * 4
    answer(l1)
    assert [load(l1, 32 * k, k) for k in range(4)] == [HIT] * 4


def test_a_cache_in_which_stores_take_lines_cannot_allocate_on_a_fill() -> None:
    with pytest.raises(PtxError, match=r"E502.*l1d.allocation is 'fill'"):
        empty('l1d.allocation="fill"')


def test_write_back_keeps_stores_that_miss() -> None:
    l1 = empty('l1d.stores="back"')
    assert store(l1, 0, 0, 5, WORDS) == MISS
    assert int(l1["kept"]) == 1
    assert drain(l1) == []
    assert load(l1, 0, 1) == HIT


def test_what_is_forgotten_misses_and_what_is_on_its_way_comes() -> None:
    l1 = empty("l1d.ways=2")
    store(l1, 0, 0, 5, WORDS)
    load(l1, SET, 1)
    forget(l1)
    assert int(l1["n_dirty"]) == 0
    assert load(l1, 2 * SET, 2) == MISS  # line 0 is replaced first
    assert answer(l1) == [1, 2]
    assert [load(l1, address, 3) for address in (SET, 2 * SET, 0)] == [HIT, HIT, MISS]


@pytest.mark.parametrize("ways", [1, 3, 64])
def test_random_accesses_against_a_plain_model(ways: int) -> None:
    """Loads and whole-sector stores, answered at once: sets as lists in the order of their use."""
    l1 = empty(f"l1d.ways={ways}", "l1d.dirty_percent=0")
    chosen = random.Random(ways)
    sets: dict[int, list[tuple[int, set[int]]]] = {k: [] for k in range(4)}
    for _ in range(1500):
        line, sector = chosen.randrange(4 * ways + 9), chosen.randrange(4)
        lines = sets[line % 4]
        found = next((entry for entry in lines if entry[0] == line), (line, set()))
        expected = HIT if sector in found[1] else MISS
        address = LINE * line + 32 * sector
        if chosen.random() < 0.3:
            assert store(l1, address, 0, 1, 255 << 8 * sector) == expected
            drain(l1)
        else:
            assert load(l1, address, 1) == expected
            assert answer(l1) == [1] * (expected == MISS)
        if found in lines:
            lines.remove(found)
        found[1].add(sector)
        lines.append(found)
        del lines[:-ways]
        if chosen.random() < 0.003:
            forget(l1)
            for of_set in sets.values():
                of_set.clear()
