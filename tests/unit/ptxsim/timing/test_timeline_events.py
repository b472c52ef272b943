"""Events for a timeline: the state of a warp, and when it is recorded."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.base.program import FOR_REGISTERS
from ptxsim.timing import timeline_codes as codes
from ptxsim.timing import timeline_events
from ptxsim.timing.sm_state import RUN, SM

observe, note = for_python(timeline_events._observe), for_python(timeline_events._note)


class Bench:
    """SM 1 of two, with warp 2, whose next instruction is number 6; both SMs are in the timeline."""

    def __init__(self) -> None:
        self.run, self.sm = np.zeros(1, RUN)[0], np.zeros(1, SM)[0]
        self.buffer, self.states = np.zeros(codes.SIZE, np.int64), np.zeros(2 * len(self.sm.ib_pc), np.int64)
        self.run["timeline"], self.run["timeline_states"] = self.buffer.ctypes.data, self.states.ctypes.data
        self.run["timeline_sms"], self.run["n_sms"], self.run["cycle"] = 0b11, 2, 40
        self.sm["index"], self.sm["resident"], self.sm["depth"][2] = 1, 0b100, 1
        self.sm["stack_pc"][0, 2] = self.sm["fetch_pc"][2] = self.sm["ib_pc"][2] = 6
        self.sm["waits_since"][0, 2] = 3

    def observe(self, **changes: int) -> list[list[int]]:
        """The records of a cycle: (cycle, kind with SM, warp, state, instruction)."""
        for name, value in changes.items():
            self.sm[name] = value
        before = int(self.run["timeline_used"])
        observe(self.run, self.sm)
        return self.buffer[before : int(self.run["timeline_used"])].reshape(-1, codes.WORDS)[:, :5].tolist()


@pytest.mark.parametrize(
    ("changes", "state", "at"),
    [
        ({}, codes.RUNNING, -1),
        ({"at_barrier": 0b100}, codes.BARRIER, 3),  # the barrier instruction
        ({"at_barrier": 0b100, "stack_wait": FOR_REGISTERS}, codes.REGISTERS, 3),
        ({"in_membar": 0b100}, codes.FENCE, 5),  # it has issued: the instruction before the PC
        ({"in_wait": 0b100}, codes.COPIES, 5),
        ({"in_atomic": 0b100}, codes.ATOMIC, 5),
        ({"lock_wait": 0b100}, codes.LOCK, 6),
        ({"imiss": 0b100}, codes.FETCHING, 6),
        ({"imiss": 0b1000}, codes.RUNNING, -1),  # of another warp
        ({"finishing": 0b100, "at_barrier": 0b100}, codes.EXITED, -1),
        ({"at_barrier": 0b100, "imiss": 0b100}, codes.BARRIER, 3),
    ],
)
def test_the_state_of_a_warp_and_where_it_waits(changes: dict[str, int], state: int, at: int) -> None:
    assert Bench().observe(**changes) == [[40, codes.KINDS + codes.WARP, 2, state, at]]


def test_a_state_is_recorded_when_it_changes_and_when_the_warp_is_gone() -> None:
    bench = Bench()
    assert len(bench.observe()) == 1
    assert bench.observe() == []
    assert [record[3] for record in bench.observe(lock_wait=0b100)] == [codes.LOCK]
    assert [record[3] for record in bench.observe(resident=0)] == [codes.ABSENT]
    assert bench.observe() == []


def test_an_sm_outside_the_timeline_records_nothing() -> None:
    bench = Bench()
    bench.run["timeline_sms"] = 0b01
    assert bench.observe() == []


@pytest.mark.parametrize(("used", "stops"), [(codes.HALF - codes.WORDS, False), (codes.HALF, True)])
def test_the_loop_stops_after_a_cycle_in_which_the_buffer_is_half_full(used: int, stops: bool) -> None:
    bench = Bench()
    bench.run["timeline_used"], bench.run["stop_cycle"] = used, 1000
    arguments: tuple[Any, ...] = (codes.BACK, 7, 0, 0, 0)
    note(bench.run, bench.sm, *arguments)
    assert int(bench.run["stop_cycle"]) == (41 if stops else 1000)
