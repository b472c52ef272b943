"""The order in which requests leave the scheduler queues of a DRAM channel, with and without a queue for writes."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
from dram_commands import BANK, COLUMNS, ONE_CLOCK, commands, reads, times
from memory_machine import GPU, LINE, Machine

from ptxsim.base.jit import uncached
from ptxsim.timing.memory import dram_queue
from ptxsim.timing.memory.memory_setup import make_memory
from ptxsim.timing.memory.memory_state import FILL, READ, WRITE, WRITEBACK
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.settings import with_settings


def with_write_queue(gpu: Gpu, size: int, high: int, low: int) -> Gpu:
    marks = f"dram.write_queue={size}", f"dram.write_queue_high={high}", f"dram.write_queue_low={low}"
    return with_settings(gpu, marks)


@cache
def _compiled() -> tuple[Any, Any, Any]:
    def enter(array: Any, r: int) -> None:
        dram_queue.enter(array[0], array[0].channel[0], r)

    def take(array: Any) -> int:
        return dram_queue.take_request(array[0], array[0].channel[0])  # type: ignore[no-any-return]

    def room(array: Any, r: int) -> bool:
        return dram_queue.has_room(array[0], array[0].channel[0], r)  # type: ignore[no-any-return]

    return uncached(enter), uncached(take), uncached(room)


class Queue:
    """The queues of channel 0, all of whose banks stay idle; request k is the k-th that entered."""

    def __init__(self, gpu: Gpu) -> None:
        self.array = make_memory(gpu)
        self.enter, self.take, self.room = _compiled()
        self.entered = 0

    def put(self, kinds: str, bank: int | None = None, row: int = 0) -> None:
        """Requests of these kinds, r(ead) or w(rite), each for a bank of its own or all for one."""
        for letter in kinds:
            request = self.array[0]["request"][self.entered]
            request["kind"] = FILL if letter == "r" else WRITEBACK
            request["bank"], request["row"] = self.entered if bank is None else bank, row
            assert self.room(self.array, self.entered)
            self.enter(self.array, self.entered)
            self.entered += 1

    def taken(self, n: int) -> list[int]:
        return [int(self.take(self.array)) for _ in range(n)]


def test_one_queue_is_left_in_the_order_of_arrival() -> None:
    queue = Queue(GPU)
    queue.put("rwrww")
    assert queue.taken(5) == [0, 1, 2, 3, 4]


def test_a_request_to_the_open_row_goes_first() -> None:
    queue = Queue(GPU)
    queue.array[0]["channel"]["bank"]["row"][0, 3] = 7
    for row in (5, 7, 6, 7):
        queue.put("r", bank=3, row=row)
    assert queue.taken(4) == [1, 3, 0, 2]


def test_only_the_oldest_requests_are_considered() -> None:
    queue = Queue(with_settings(GPU, ["dram.reorder_window=2"]))
    queue.array[0]["channel"]["bank"]["row"][0, 3] = 7
    for row in (5, 6, 7):
        queue.put("r", bank=3, row=row)
    assert queue.taken(2) == [0, 2]  # 0 leaves first: 2 is one of the two oldest only then


def test_writes_wait_for_the_high_mark_and_stop_below_the_low_one() -> None:
    queue = Queue(with_write_queue(GPU, 8, 3, 2))
    queue.put("rwrw")
    assert queue.taken(1) == [0]  # two writes
    queue.put("w")
    assert queue.taken(2) == [1, 3]  # three writes: one is left then, fewer than two
    assert queue.taken(2) == [2, 4]  # no read is left


def test_writes_are_served_while_no_read_waits() -> None:
    queue = Queue(with_write_queue(GPU, 8, 8, 2))
    queue.put("www")
    assert queue.taken(1) == [0]
    queue.put("r")  # two writes are left, not fewer
    assert queue.taken(3) == [1, 3, 2]


@pytest.mark.parametrize(("kind", "room"), [("r", False), ("w", True)])
def test_reads_and_writes_have_places_of_their_own(kind: str, room: bool) -> None:
    queue = Queue(with_write_queue(with_settings(GPU, ["dram.scheduler_queue=2"]), 2, 2, 1))
    queue.put("rrw")
    queue.array[0]["request"][3]["kind"] = FILL if kind == "r" else WRITE
    assert bool(queue.room(queue.array, 3)) == room


# Reads of four lines of a row, then a store to the next bank, of the same group, whose line is read, too (`fetch`). The
# network's output has the reads' packets of one flit every 2 cycles and the store's five flits after them, which take 4
# cycles more: 4 * 2 + 4 = 12 cycles after the first read the write can activate its bank, a cycle later the line read.
_LINES = [k * COLUMNS for k in range(4)]
_EIGHT = [0, 3, 6, 9, 12, 15, 18, 21]  # columns at tCCDL 3


def _columns(gpu: Gpu) -> tuple[list[int], list[int]]:
    """Cycles of read and write columns after the first activate."""

    def send(machine: Machine) -> None:
        reads(*_LINES)(machine)
        assert machine.send(BANK, WRITE, LINE, len(_LINES))

    found = commands(send, gpu)
    return times(found, "R"), times(found, "W")


def test_a_write_in_the_common_queue_is_before_the_later_read_of_its_bank() -> None:
    # its activate is at 12, which delays the first read to 13; it waits tRTW 12 for the last one, 34, and its line read
    # tWTR 11 for it
    read, written = _columns(ONE_CLOCK)
    assert written == [34 + 12, 49]
    assert read == [*(13 + k for k in _EIGHT), 49 + 11, 63]


def test_a_write_queue_turns_the_bus_round_once() -> None:
    # the line read, whose activate is at 13, goes on at tCCDL 3; the write, tRTW 12 after it, is the last command
    read, written = _columns(with_write_queue(ONE_CLOCK, 8, 4, 2))
    assert read == [*(12 + k for k in _EIGHT), 36, 39]
    assert written == [39 + 12, 54]


def test_a_high_mark_of_one_serves_a_write_at_once() -> None:
    assert _columns(with_write_queue(ONE_CLOCK, 8, 1, 1)) == _columns(ONE_CLOCK)


@pytest.mark.parametrize(
    ("size", "high", "low"), [(0, 1, 1), (8, 9, 1), (8, 4, 5), (8, 4, 0), (129, 56, 32), (0, 0, 1)]
)
def test_marks_that_cannot_be_are_refused(size: int, high: int, low: int) -> None:
    with pytest.raises(PtxError, match=r"E502.*dram\.write_queue"):
        make_memory(with_write_queue(GPU, size, high, low))


@pytest.mark.parametrize(("size", "high", "low"), [(4, 3, 2), (128, 108, 32)])
def test_nothing_is_lost_and_skipping_changes_nothing(size: int, high: int, low: int) -> None:
    """The long queue is that of GPGPU-Sim's TITAN V: longer than the queue of reads and the window of 16, in turn."""
    gpu = with_settings(with_write_queue(GPU, size, high, low), ['dram.bank_choice="in-turn"'])
    runs = []
    for skip in (True, False):
        machine = Machine(gpu, skip)
        runs.append(_mixed(machine, range(1600)))
    assert runs[0] == runs[1]


def _mixed(machine: Machine, tags: Iterable[int]) -> list[tuple[int, int, int, int, int]]:
    """Reads and stores of 14 SMs, scattered over rows and banks; every one is answered."""
    for tag in tags:
        line = tag * 2654435761 % (1 << 22) // LINE * LINE
        while not machine.send(line, WRITE if tag % 3 == 0 else READ, LINE, tag % 14, tag):
            machine.step()
        if tag % 5 == 0:
            machine.step()
    machine.finish()
    assert sorted(reply[4] for reply in machine.got) == list(tags)
    return machine.got


def test_the_banks_may_take_turns() -> None:
    queue = Queue(with_settings(GPU, ['dram.bank_choice="in-turn"']))
    queue.put("rrrrr")  # banks 0 to 4
    queue.array[0]["channel"]["bank_turn"][0] = 3
    # from bank 3 on, and after each request from one bank on: 3, 4, and after bank 15 from the first again
    assert queue.taken(5) == [3, 4, 0, 1, 2]
    assert queue.array[0]["channel"]["bank_turn"][0] == 8
