"""The L1 data cache: hits, merging, eviction and its queues, one access at a time."""

import random
from typing import Any

from ptxsim.base.jit import for_python
from ptxsim.timing.memory import l1 as _l1
from ptxsim.timing.memory.counts import l1_counts
from ptxsim.timing.memory.memory_setup import make_l1
from ptxsim.timing.memory.memory_state import FAIL, HIT, MISS, PENDING, READ, WRITE, WRITEBACK
from ptxtool.formats.gpu import Gpu, load_gpu

fill_entry = for_python(_l1.l1_fill)
l1_load = for_python(_l1.l1_load)
l1_next_waiter = for_python(_l1.l1_next_waiter)
l1_store = for_python(_l1.l1_store)

l1_forget = for_python(_l1.l1_forget)

GPU = load_gpu("tesla-c2050")
GPU42 = load_gpu("gpgpusim42-c2050")
LINE = 128
LAST_ENTRY = GPU.l1d.mshr_entries - 1  # the first one that is taken


def empty(gpu: Gpu = GPU) -> Any:
    return make_l1(gpu, 1)[0]


def drain(l1: Any) -> list[tuple[int, int, int, int]]:
    """Take all of the miss queue: (line, bytes, kind, tag)."""
    size = len(l1["miss_line"])
    places = [(l1["miss_head"] + k) % size for k in range(l1["miss_count"])]
    l1["miss_head"] = (l1["miss_head"] + l1["miss_count"]) % size
    l1["miss_count"] = 0
    return [tuple(int(l1[f"miss_{name}"][p]) for name in ("line", "bytes", "kind", "tag")) for p in places]


def l1_fill(l1: Any, address: int) -> None:
    """A line that is on its way, or its next sector, arrives."""
    place = l1["cache"]["tag"].tolist().index(address & -LINE)
    fill_entry(l1, int(l1["cache"]["entry"][place]))


def waiters(l1: Any) -> list[int]:
    found = []
    while (waiter := l1_next_waiter(l1)) >= 0:
        found.append(int(waiter))
    return found


def bring(l1: Any, line: int, now: int) -> None:
    """Load a line and let it arrive."""
    assert l1_load(l1, line, 0, now) == MISS
    drain(l1)
    l1_fill(l1, line)
    waiters(l1)


def test_a_miss_asks_for_the_line_and_tells_its_waiter() -> None:
    l1 = empty()
    assert l1_load(l1, 0x1234, 7, 0) == MISS
    assert drain(l1) == [(0x1200, LINE, READ, LAST_ENTRY)]
    assert l1_next_waiter(l1) == -1
    l1_fill(l1, 0x1200)
    assert waiters(l1) == [7]
    assert l1_load(l1, 0x1278, 8, 1) == HIT


def test_the_ninth_load_of_a_line_on_its_way_waits() -> None:
    # micro-kernel 17: 8 waiters a line, the first among them
    l1 = empty()
    found = [l1_load(l1, 4 * lane, lane, lane) for lane in range(9)]
    assert found == [MISS] + [PENDING] * 7 + [FAIL]
    assert len(drain(l1)) == 1
    l1_fill(l1, 0)
    assert l1_load(l1, 32, 8, 9) == HIT
    assert waiters(l1) == list(range(8))
    counts = l1_counts(l1)
    assert (counts["accesses"], counts["misses"], counts["pending_hits"], counts["hits"]) == (9, 1, 7, 1)
    assert counts["reservation_fails"] == 1


def test_five_lines_of_one_set_never_hit() -> None:
    # micro-kernel 18: 4 ways, 32 sets: lines 4 KB apart share a set, LRU evicts the one needed next
    l1 = empty()
    for now in range(25):
        bring(l1, 4096 * (now % 5), now)
    assert l1_counts(l1)["hits"] == 0


def test_four_lines_of_one_set_stay() -> None:
    l1 = empty()
    for now in range(4):
        bring(l1, 4096 * now, now)
    assert [l1_load(l1, 4096 * k, 0, 10 + k) for k in range(4)] == [HIT] * 4


def test_a_set_whose_ways_all_wait_takes_no_fifth_line() -> None:
    l1 = empty()
    assert [l1_load(l1, 4096 * k, k, k) for k in range(5)] == [MISS] * 4 + [FAIL]
    drain(l1)
    assert l1_load(l1, 4096 * 4, 4, 5) == FAIL
    l1_fill(l1, 4096 * 2)
    assert l1_load(l1, 4096 * 4, 4, 6) == MISS


def test_thirty_two_misses_are_in_flight_at_most() -> None:
    l1 = empty()
    for k in range(32):
        assert l1_load(l1, LINE * k, k, k) == MISS
        drain(l1)
    assert l1_load(l1, LINE * 40, 40, 40) == FAIL
    l1_fill(l1, 0)
    assert l1_load(l1, LINE * 40, 40, 41) == FAIL  # the entry is free when its waiter was woken
    assert waiters(l1) == [0]
    assert l1_load(l1, LINE * 40, 40, 42) == MISS


def test_a_load_miss_needs_two_places_of_the_miss_queue_and_a_store_one() -> None:
    l1 = empty()
    assert [l1_load(l1, LINE * k, k, k) for k in range(8)] == [MISS] * 7 + [FAIL]
    assert l1_store(l1, LINE * 20, 32, 0, 5, 8) == MISS
    assert l1_store(l1, LINE * 21, 32, 0, 5, 9) == FAIL
    assert len(drain(l1)) == 8


def test_a_global_store_evicts_and_is_sent_on() -> None:
    l1 = empty()
    bring(l1, 0x1000, 0)
    assert l1_store(l1, 0x1040, 64, 0, 3, 1) == HIT
    assert drain(l1) == [(0x1040, 64, WRITE, 3)]
    assert l1_load(l1, 0x1000, 0, 2) == MISS


def test_a_store_to_a_line_on_its_way_leaves_it() -> None:
    l1 = empty()
    l1_load(l1, 0x1000, 4, 0)
    assert l1_store(l1, 0x1000, 128, 0, 3, 1) == MISS
    l1_fill(l1, 0x1000)
    assert waiters(l1) == [4]
    assert l1_load(l1, 0x1000, 0, 2) == HIT


def test_a_local_store_that_hits_stays_and_is_written_back_later() -> None:
    l1 = empty()
    for way in range(4):
        bring(l1, 4096 * way, way)
    assert l1_store(l1, 0, 128, 1, 3, 10) == HIT
    assert drain(l1) == []
    for way in range(1, 4):
        assert l1_load(l1, 4096 * way, 0, 10 + way) == HIT
    assert l1_load(l1, 4096 * 4, 0, 20) == MISS
    assert [request[:3] for request in drain(l1)] == [(4096 * 4, LINE, READ), (0, LINE, WRITEBACK)]


def test_a_local_store_that_misses_is_sent_on() -> None:
    l1 = empty()
    assert l1_store(l1, 0x1000, 128, 1, 3, 0) == MISS
    assert drain(l1) == [(0x1000, 128, WRITE, 3)]
    assert l1_load(l1, 0x1000, 0, 1) == MISS


def test_random_accesses_agree_with_a_list_per_set() -> None:
    """Against an LRU list per set, with every miss filled before the next access."""
    source = random.Random(1)
    l1 = empty()
    sets: dict[int, list[list[Any]]] = {}
    expected, found = [], []
    for now in range(3000):
        line = LINE * source.randrange(400)
        ways = sets.setdefault(line // LINE % 32, [])
        entry = next((e for e in ways if e[0] == line), None)
        kind = source.choice(("load", "load", "global store", "local store"))
        sent: list[tuple[int, int]] = []
        if kind == "load":
            if entry is None:
                sent.append((line, READ))
                if len(ways) == 4:
                    old, dirty = ways.pop(0)
                    if dirty:
                        sent.append((old, WRITEBACK))
                ways.append([line, False])
            else:
                ways.remove(entry)
                ways.append(entry)
        elif kind == "local store" and entry is not None:
            entry[1] = True
            ways.remove(entry)
            ways.append(entry)
        else:
            sent.append((line, WRITE))
            if kind == "global store" and entry is not None:
                ways.remove(entry)
        expected.append((HIT if entry is not None else MISS, sent))
        if kind == "load":
            outcome = l1_load(l1, line, 0, now)
        else:
            outcome = l1_store(l1, line, 32, int(kind == "local store"), 0, now)
        found.append((outcome, [(request[0], request[2]) for request in drain(l1)]))
        if kind == "load" and outcome == MISS:
            l1_fill(l1, line)
            assert waiters(l1) == [0]
    assert found == expected


def test_the_hash_of_fermi_mixes_five_higher_bits_into_the_set() -> None:
    # timing-model-42 section 3.3: bits 7-11 xor {13, 14, 15, 17, 19}; bits 12, 16 and 18 tell nothing
    l1 = empty(GPU42)
    for k, address in enumerate((0, 1 << 12, 1 << 16, 1 << 18)):
        assert l1_load(l1, address, k, k) == MISS
        drain(l1)
    for bit in (13, 14, 15, 17, 19):  # sets of their own
        assert l1_load(l1, 1 << bit, 9, 9) == MISS
        drain(l1)
    # sets 1 << 0 of bit 7 and of bit 13 are one: with both bits it is set 0, which is full
    assert l1_load(l1, 1 << 13 | 1 << 7, 10, 10) == FAIL
    assert l1_load(l1, 1 << 19 | 1 << 11, 10, 10) == FAIL
    assert l1_load(l1, 1 << 19 | 1 << 10, 10, 10) == MISS


def test_a_line_is_here_with_its_last_sector() -> None:
    l1 = empty(GPU42)
    assert l1_load(l1, 0, 5, 0) == MISS
    for sector in (0, 32, 96):
        l1_fill(l1, sector)
        assert waiters(l1) == []
    l1_fill(l1, 64)
    assert waiters(l1) == [5]
    assert l1_load(l1, 0, 6, 1) == HIT


def test_what_is_forgotten_misses_but_what_is_on_its_way_comes() -> None:
    l1 = empty(GPU42)
    bring(l1, 0x1000, 0)
    for sector in (32, 64, 96):
        l1_fill(l1, 0x1000 + sector)
    assert waiters(l1) == [0]
    assert l1_load(l1, 0x1000, 1, 1) == HIT
    assert l1_load(l1, 0x2000, 2, 1) == MISS
    l1_forget(l1)
    assert l1_load(l1, 0x1000, 1, 2) == MISS
    for sector in range(0, LINE, 32):
        l1_fill(l1, 0x2000 + sector)
    assert waiters(l1) == [2]


def test_a_merge_may_need_places_in_the_miss_queue() -> None:
    for gpu, expected in ((GPU, PENDING), (GPU42, FAIL)):
        l1 = empty(gpu)
        assert [l1_load(l1, LINE * k, k, k) for k in range(7)] == [MISS] * 7
        assert l1_load(l1, 0, 9, 9) == expected


def test_a_store_to_a_line_on_its_way_may_count_as_pending() -> None:
    for gpu, expected in ((GPU, 0), (GPU42, 1)):
        l1 = make_l1(gpu, 1)
        l1_load(l1[0], 0x1000, 4, 0)
        assert l1_store(l1[0], 0x1000, 128, 0, 3, 1) == MISS
        assert l1_counts(l1)["pending_hits"] == expected
