"""One L2 slice: merging, eviction and write-back, by its counters and those of DRAM (timing-model section 3.5)."""

import random
from collections import OrderedDict

import pytest
from memory_machine import LINE, Machine

from ptxsim.timing.memory.counts import memory_counts
from ptxsim.timing.memory.memory_state import ATOMIC, READ, RESTORE, SAVE, WRITE, WRITEBACK
from ptxtool.formats.gpu import load_gpu


def test_loads_of_a_line_on_its_way_merge() -> None:
    machine = Machine()
    for sm in range(4):
        machine.send(0, sm=sm)
    machine.finish()
    counts = memory_counts(machine.array)
    assert (counts["l2_misses"], counts["l2_pending_hits"], counts["dram_reads"]) == (1, 3, 2)
    assert sorted(sm for _, sm, *_ in machine.got) == [0, 1, 2, 3]


def test_a_fifth_load_of_a_line_waits_for_it() -> None:
    machine = Machine()
    for sm in range(5):
        machine.send(0, sm=sm)
    machine.finish()
    counts = memory_counts(machine.array)
    assert (counts["l2_misses"], counts["l2_pending_hits"], counts["l2_hits"]) == (1, 3, 1)
    assert counts["l2_reservation_fails"] > 50


def test_a_dirty_line_is_written_back_when_it_gives_way() -> None:
    # lines of a set: 64 sets x 128 bytes of a slice are 64 x 128 x 12 bytes apart
    machine = Machine()
    apart = 64 * LINE * 12
    machine.latency(0)
    machine.latency(0, WRITE)
    for way in range(1, 8):
        machine.latency(apart * way)
    before = memory_counts(machine.array)
    assert before["dram_writes"] == 0
    machine.latency(apart * 8)
    machine.finish()
    assert memory_counts(machine.array)["dram_writes"] == 2
    assert machine.latency(0) > 200


def test_a_write_back_of_an_l1_is_not_answered() -> None:
    machine = Machine()
    machine.send(0, WRITEBACK)
    machine.send(LINE, WRITEBACK, tag=1)
    machine.finish()
    machine.send(0, WRITEBACK)
    machine.finish()
    assert machine.got == []
    assert memory_counts(machine.array)["l2_hits"] == 1


@pytest.mark.parametrize(("gpu", "atom"), [("tesla-c2050", 64), ("gtx980-finereg", 32)])
def test_registers_pass_the_cache_by(gpu: str, atom: int) -> None:
    """Lines or sectors: what goes to DRAM is not answered, what comes is answered whole, and neither is an access."""
    machine = Machine(load_gpu(gpu))
    for line in range(40):
        while not machine.send(LINE * line, SAVE):
            machine.step()
    machine.finish()
    assert machine.got == []
    for line in range(40):
        while not machine.send(LINE * line, RESTORE, tag=line):
            machine.step()
    machine.finish()
    assert sorted((line, tag) for _, _, line, _, tag in machine.got) == [(LINE * k, k) for k in range(40)]
    counts = memory_counts(machine.array)
    assert counts["l2_accesses"] == 0
    assert counts["dram_writes"] == counts["dram_reads"] == 40 * LINE // atom


def test_an_atomic_makes_its_line_dirty() -> None:
    machine = Machine()
    apart = 64 * LINE * 12
    machine.latency(0, ATOMIC, 32)
    for way in range(1, 9):
        machine.latency(apart * way)
    machine.finish()
    assert memory_counts(machine.array)["dram_writes"] == 2


def test_tags_of_a_slice_agree_with_an_lru_list() -> None:
    """One request at a time into one slice, against a list per set."""
    source = random.Random(7)
    machine = Machine()
    sets: dict[int, OrderedDict[int, None]] = {}
    hits = 0
    for _ in range(400):
        number = source.randrange(40)  # 40 lines of 4 sets of slice 0
        line = (number // 4) * 64 * LINE * 12 + number % 4 // 2 * 12 * 256 + number % 2 * LINE
        ways = sets.setdefault(number % 4, OrderedDict())
        if line in ways:
            hits += 1
            ways.move_to_end(line)
        else:
            if len(ways) == 8:
                ways.popitem(last=False)
            ways[line] = None
        machine.latency(line, source.choice((READ, WRITE)))
        machine.run(20)
    counts = memory_counts(machine.array)
    assert (counts["l2_hits"], counts["l2_misses"]) == (hits, 400 - hits)
