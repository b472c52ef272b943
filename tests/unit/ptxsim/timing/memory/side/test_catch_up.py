"""Replies arrive in the same cycles whether the memory side is behind the SMs or does each cycle with them."""

from typing import Any

import numpy as np
import pytest
from memory_machine import LINE, Machine

from ptxsim.base.jit import JIT_DISABLED, for_python
from ptxsim.timing.memory.memory_state import FOREVER, READ
from ptxsim.timing.memory.side import catch_up
from ptxsim.timing.memory.team import ports
from ptxsim.timing.memory.team.team import TEAM

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")
N_SMS, STOP = 14, 5000
catch_up_once = for_python(catch_up._catch_up)


def shared_by_one(machine: Machine) -> Any:
    """A team of one worker, whose SMs have done all cycles before STOP."""
    shared = np.zeros(1, TEAM)
    shared["n"], shared["n_sms"], shared["memory"] = 1, N_SMS, machine.array.ctypes.data
    shared["first_cycle"], shared["port"]["due"] = FOREVER, FOREVER
    shared["stop"], shared["fault_at"], shared["end_at"] = STOP, FOREVER, FOREVER
    shared["end_sm"][0][0] = N_SMS
    shared["told"]["turn"] = STOP << 8
    machine.m["has_team"], machine.m["team"] = 1, shared.ctypes.data
    return shared


def test_a_request_of_the_past_is_answered_in_its_time() -> None:
    beside = Machine()
    beside.now = 100
    arrival = 100 + beside.latency(LINE)
    machine = Machine()
    shared = shared_by_one(machine)
    team = np.uint64(shared.ctypes.data)
    for_python(ports.post)(team, 0, 100, LINE, LINE, READ, 0, 0xFFFFFFFF, 1)
    shared["told"]["posted"] = shared["own"]["posted"]
    catch_up_once(team)
    assert shared["memory_cycle"][0] == STOP  # the cycle of the stop is left to the next slice
    assert shared["arrived"][0][:2].tolist() == [1, 0]
    assert shared["inbox"][0][0][0]["due"] == arrival
    # all have left an input that the first had to itself
    assert shared["left_flits"][0][0] == 1


def test_it_waits_for_the_last_worker() -> None:
    machine = Machine()
    shared = shared_by_one(machine)
    shared["n"], shared["told"]["turn"][0][1] = 2, 40 << 8
    catch_up_once(np.uint64(shared.ctypes.data))
    assert shared["memory_cycle"][0] == 41
