"""Stalls of CTAs: what is counted of a CTA in slot 1, whose context is 3."""

from typing import Any

import numpy as np
import pytest
from waiting_ctas import wait

from ptxsim.base.jit import for_python
from ptxsim.timing.residency import stalls
from ptxsim.timing.residency.switch_records import SWITCH
from ptxsim.timing.residency.trigger import NOT_STALLED
from ptxsim.timing.sm_state import RUN

starts_running, note_stall = for_python(stalls.starts_running), for_python(stalls.note_stall)
leaves_stalled, becomes_ready = for_python(stalls.leaves_stalled), for_python(stalls.becomes_ready)


@pytest.fixture
def run() -> Any:
    return np.zeros(1, RUN)[0]


@pytest.fixture
def switch(run: Any) -> Any:
    """The CTA was launched in cycle 100."""
    switch = np.zeros(1, SWITCH)[0]
    run["cycle"] = 100
    starts_running(run, switch, 1, 1)
    return switch


def counters(switch: Any) -> tuple[int, ...]:
    names = ("stalls", "stall_cycles", "to_stall_sum", "first_stalls", "to_first_stall_sum")
    return tuple(int(switch[name]) for name in names)


def test_a_stall_in_the_slot(run: Any, switch: Any) -> None:
    run["cycle"] = 130
    note_stall(run, switch, 1, 135)  # the pipes are empty 5 cycles later
    assert counters(switch) == (0, 0, 0, 0, 0)
    run["cycle"] = 150
    note_stall(run, switch, 1, 135)
    run["cycle"] = 160
    note_stall(run, switch, 1, NOT_STALLED)
    assert counters(switch) == (1, 25, 35, 1, 35)
    run["cycle"] = 180  # again, after 20 cycles: not the first
    note_stall(run, switch, 1, 180)
    run["cycle"] = 200
    note_stall(run, switch, 1, NOT_STALLED)
    assert counters(switch) == (2, 45, 55, 1, 35)


def test_no_stall_if_a_load_returns_before(run: Any, switch: Any) -> None:
    run["cycle"] = 130
    note_stall(run, switch, 1, 135)
    run["cycle"] = 133
    note_stall(run, switch, 1, NOT_STALLED)
    assert counters(switch) == (0, 0, 0, 0, 0)


def test_a_stall_of_a_cta_that_leaves_ends_with_its_last_load(run: Any, switch: Any) -> None:
    run["cycle"] = 130
    note_stall(run, switch, 1, 130)
    run["cycle"] = 140
    leaves_stalled(switch, 1, 3)
    assert counters(switch) == (1, 0, 30, 1, 30)
    run["cycle"] = 500
    becomes_ready(run, switch, 3)
    assert counters(switch) == (1, 370, 30, 1, 30)


def test_one_stall_of_each_cta() -> None:
    """Every CTA waits for one load, 40000 cycles and the way there and back, then for a store, which is no stall."""
    found = wait(5).switching
    assert found.stalls == 5
    assert 5 * 40_000 < found.stall_cycles < 5 * 40_300
    assert found.cycles_to_stall == found.cycles_to_first_stall < 120
