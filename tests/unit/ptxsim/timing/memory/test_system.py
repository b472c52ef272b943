"""The memory system below the L1: latencies, rates, the address map, and that nothing is lost.

Expected numbers are derived by hand from timing-model section 3 in the comments. `inject to arrival` is what the SMs
see: 9 cycles less than from load issue to dependent issue (5 from issue to injection, 4 from arrival to issue).
"""

import random
from collections import Counter

import pytest
from memory_machine import GPU, LINE, Machine, mixed
from msgspec.structs import replace
from uncompiled import output_of

from ptxsim.timing.memory.counts import memory_counts
from ptxsim.timing.memory.memory_state import (
    ATOMIC,
    CONSTANT,
    FOREVER,
    INSTRUCTION,
    READ,
    WRITE,
)

# timing-model section 3.6: load issue to dependent issue on an idle machine
L2_HIT, ROW_OPEN, ROW_CLOSED, ROW_CONFLICT = 149, 267, 277, 287
OUTSIDE = 9  # cycles of a load's latency that are not the memory system's


def warm(machine: Machine, n_lines: int) -> None:
    """Bring the lines 0.. into the L2."""
    for line in range(n_lines):
        while not machine.send(line * LINE, sm=line % machine.n_sms):
            machine.step()
        machine.step()
    machine.finish()


class TestLatency:
    def test_an_l2_hit_takes_140_cycles(self) -> None:
        # 8 request network, 120 ROP, 1 tags, 11 reply network
        machine = Machine()
        machine.latency(0)
        machine.run(100)
        assert machine.latency(0) == 140 == L2_HIT - OUTSIDE

    def test_shorter_replies_leave_the_network_earlier(self) -> None:
        # 64 bytes and the header are 3 flits: 9 advances instead of 11; 32 bytes 2 flits
        machine = Machine()
        machine.latency(0)
        machine.run(100)
        assert machine.latency(0, CONSTANT, 64) == 138
        assert machine.latency(0, READ, 32) == 137

    def test_a_store_hit_is_acknowledged_at_once(self) -> None:
        # 5 flits there (12 cycles), 1 flit back (7)
        machine = Machine()
        machine.latency(0)
        machine.run(100)
        assert machine.latency(0, WRITE, 128) == 12 + 120 + 1 + 7

    def test_an_atomic_carries_its_data_both_ways(self) -> None:
        # 128 bytes: 5 flits each way
        machine = Machine()
        machine.latency(0)
        machine.run(100)
        assert machine.latency(0, ATOMIC, 128) == 12 + 120 + 1 + 11

    def test_dram_row_closed(self) -> None:
        found = [Machine().latency(line) + OUTSIDE for line in (0, 256, 4096, 1 << 20)]
        assert all(abs(cycles - ROW_CLOSED) <= 2 for cycles in found), found

    def test_dram_row_open(self) -> None:
        # 12 DRAM cycles less: tRCD
        machine = Machine()
        machine.latency(0)
        found = []
        for k in range(1, 8):  # chunks of 256 bytes return to a channel after 6, to a slice after 12
            machine.run(50 + k)
            found.append(machine.latency(12 * 256 * k) + OUTSIDE)
        assert all(abs(cycles - ROW_OPEN) <= 2 for cycles in found), found

    def test_dram_row_conflict(self) -> None:
        # 12 DRAM cycles more: tRP; rows of a bank are 64 KB of a channel apart
        machine = Machine()
        machine.latency(0)
        found = []
        for k in range(1, 8):
            machine.run(50 + k)
            found.append(machine.latency(6 * (1 << 16) * k) + OUTSIDE)
        assert all(abs(cycles - ROW_CONFLICT) <= 2 for cycles in found), found

    def test_an_instruction_fetch_is_a_read(self) -> None:
        machine = Machine()
        machine.latency(0)
        machine.run(100)
        assert machine.latency(0, INSTRUCTION) == 140


class TestRates:
    def test_one_sm_reads_a_line_every_six_cycles(self) -> None:
        # micro-kernel 12: a reply of 5 flits holds the SM's port for 6 cycles
        machine = Machine()
        warm(machine, 192)
        replies = machine.stream(3000, lambda _, n: n % 192 * LINE, 48, sms=1)
        assert (3000 - 300) / 6 <= replies <= 3000 / 6

    def test_one_sm_streaming_from_dram_is_bound_by_its_misses(self) -> None:
        # micro-kernel 12: 32 lines in flight, 267 to 277 cycles each less those outside the memory system
        machine = Machine()
        replies = machine.stream(4000, lambda _, n: n * LINE, 32, sms=1)
        assert 32 / 280 <= replies / (4000 - 260) <= 32 / 250

    def test_all_sms_read_the_l2_at_the_network_s_rate(self) -> None:
        # section 3.4: 1.3 lines a cycle for random lines, 2.0 (12 slices, 6 cycles a line) for regular ones
        machine = Machine()
        warm(machine, 1536)
        source = random.Random(1)
        rate = machine.stream(2500, lambda *_: source.randrange(1536) * LINE, 48) / 2500
        assert 1.0 <= rate <= 1.45
        machine.run(500)
        assert 1.45 <= machine.stream(2500, lambda sm, n: (14 * n + sm) % 1536 * LINE, 48) / 2500 <= 2.0

    def test_all_sms_stream_from_dram(self) -> None:
        # micro-kernel 13: columns of one bank group every 3 DRAM cycles: 6 channels x 64 / 3 x 750 / 575 = 167 bytes
        machine = Machine()
        replies = machine.stream(5000, lambda sm, n: (14 * n + sm) * LINE, 32)
        assert 0.85 * 167 <= replies * LINE / (5000 - 300) <= 250
        assert memory_counts(machine.array)["dram_row_hits"] > 0.9 * replies

    def test_rows_of_a_bank_follow_each_other_after_forty_dram_cycles(self) -> None:
        # activate to activate of a bank: tRAS + tRP = tRC = 40 DRAM cycles = 30.7 core cycles
        machine = Machine()
        assert machine.send(0, sm=0)
        assert machine.send(6 << 16, sm=1)
        machine.finish()
        first, second = (reply[0] for reply in machine.got)
        assert 30 <= second - first <= 32

    def test_an_sm_stores_a_line_every_six_cycles(self) -> None:
        # micro-kernel 14: 5 flits hold the SM's port for 6 cycles
        machine = Machine()
        warm(machine, 1536)
        replies = machine.stream(3000, lambda _, n: n % 1536 * LINE, 64, WRITE, sms=1)
        assert (3000 - 300) / 6 <= replies <= 3000 / 6

    def test_a_slice_takes_a_stored_line_every_six_cycles(self) -> None:
        machine = Machine()
        machine.latency(0)
        replies = machine.stream(3000, lambda *_: 0, 64, WRITE)
        assert (3000 - 300) / 6 <= replies <= 3000 / 6

    def test_store_misses_double_the_traffic_to_dram(self) -> None:
        # the store itself, and the line it allocates: two columns each
        machine = Machine()
        for n in range(300):
            while not machine.send(n * LINE, WRITE, sm=n % 14):
                machine.step()
        machine.finish()
        counts = memory_counts(machine.array)
        assert len(machine.got) == 300
        assert (counts["dram_writes"], counts["dram_reads"], counts["l2_misses"]) == (600, 600, 300)


def test_a_request_that_finds_the_network_full_is_refused() -> None:
    # 9 + 8 flits before the crossbar: 3 stores of 5 flits, and 2 reads
    machine = Machine()
    assert [machine.send(0, WRITE) for _ in range(4)] == [True] * 3 + [False]
    assert [machine.send(0) for _ in range(3)] == [True, True, False]


def test_an_sm_that_takes_no_replies_stops_only_what_it_must() -> None:
    machine = Machine()
    warm(machine, 12)
    machine.got.clear()
    sent = 0
    for _ in range(2000):
        machine.step(stalled=(0,))
        sent += machine.send(0, sm=0)
    # replies stand in the SM's 16 places and in the slice; requests before it
    assert machine.got == []
    assert sent < 200
    machine.finish()
    assert len(machine.got) == sent


@pytest.mark.parametrize(("lines", "seed"), [(30, 1), (3000, 2), (40000, 3)])
def test_every_request_is_answered_once(lines: int, seed: int) -> None:
    machine = Machine()
    expected = mixed(machine, 2500, lines, seed)
    assert Counter((sm, line, tag) for _, sm, line, _, tag in machine.got) == expected
    assert int(machine.m["next"]) >= FOREVER or int(machine.m["next"]) > machine.now


@pytest.mark.parametrize(("lines", "seed"), [(30, 4), (3000, 5)])
def test_skipping_cycles_changes_nothing(lines: int, seed: int) -> None:
    skipping, looking = Machine(), Machine(skip=False)
    mixed(skipping, 800, lines, seed)
    mixed(looking, 800, lines, seed)
    assert skipping.got == looking.got
    assert memory_counts(skipping.array) == memory_counts(looking.array)


def test_a_machine_with_nothing_to_do_says_so() -> None:
    machine = Machine()
    assert int(machine.m["next"]) == FOREVER
    machine.latency(0)
    machine.finish()
    assert int(machine.m["next"]) == FOREVER


def test_waiting_for_dram_skips_most_cycles() -> None:
    machine = Machine()
    machine.send(0)
    visited = 0
    while not machine.got:
        visited += int(machine.m["next"]) <= machine.now + 1
        machine.step()
    assert machine.now > 260
    assert visited < 25


def test_a_machine_with_one_slice_a_channel() -> None:
    gpu = replace(GPU, l2=replace(GPU.l2, slices=6), dram=replace(GPU.dram, slices_per_channel=1))
    machine = Machine(gpu)
    expected = mixed(machine, 600, 4000, 8)
    assert len(machine.got) == sum(expected.values())


TRACE = """
from memory_machine import Machine, mixed
machine = Machine()
mixed(machine, 60, 200, 9)
print(machine.got)
"""


def test_runs_without_compilation_give_the_same_replies() -> None:
    machine = Machine()
    mixed(machine, 60, 200, 9)
    assert output_of(TRACE, compiled=False).strip() == str(machine.got)
