"""The records of two workers of 14 SMs, five and nine, before and after a slice: hand-worked."""

from typing import Any

import numpy as np
import pytest
from memory_machine import Machine

from ptxsim.base.jit import JIT_DISABLED, uncached
from ptxsim.timing.core.cycle import PAUSED
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.memory.team.team import LAST, TEAM
from ptxsim.timing.sm_state import RUN
from ptxsim.timing.workers import slice_records
from ptxsim.timing.workers.slice_records import LEAVE

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")
N_SMS = 14


def _begin(runs, memories):  # type: ignore[no-untyped-def]
    slice_records.begin(runs, memories[0])


def _end(runs, memories):  # type: ignore[no-untyped-def]
    return slice_records.end(runs, memories[0])


class Slice:
    """A slice from cycle 500 to 900 of a run whose SMs have room for CTAs."""

    def __init__(self) -> None:
        self.memory = Machine().array
        self.team, self.runs = np.zeros(1, TEAM), np.zeros(3, RUN)
        team = self.team[0]
        team["n"], team["n_sms"], team["memory"] = 2, N_SMS, self.memory.ctypes.data
        team["first_sm"][:2], team["end_sm"][:2], team["worker_of"][5:] = (0, 5), (5, N_SMS), 1
        self.runs["team"], self.runs["n_sms"], self.runs["cycle"] = self.team.ctypes.data, N_SMS, 500
        self.runs["stop_cycle"], self.runs["ctas_done"], self.runs["sm_next"] = 900, 3, 510
        self.runs["is_open"][:, :N_SMS], self.runs["open_sms"] = 1, N_SMS
        uncached(_begin)(self.runs, self.memory)

    def end(self) -> tuple[int, int]:
        """Why it has stopped, and the cycle of the run."""
        reason = uncached(_end)(self.runs, self.memory)
        assert self.memory["has_team"] == 0
        assert uncached(_end)(self.runs, self.memory) == reason  # an interrupt can come between
        return int(reason), int(self.runs["cycle"][2])


@pytest.fixture
def one() -> Any:
    return Slice()


def test_before_a_slice_each_worker_has_its_sms(one: Slice) -> None:
    first, second, _ = one.runs
    assert first["is_open"][:N_SMS].tolist() == [1] * 5 + [0] * 9
    assert second["is_open"][:N_SMS].tolist() == [0] * 5 + [1] * 9
    assert one.runs["open_sms"].tolist() == [5, 9, N_SMS]
    assert one.runs["has_team"].tolist() == [1, 1, 0]
    assert one.runs["ctas_done"].tolist() == [0, 0, 3]
    assert one.runs["worker"][:2].tolist() == [0, 1]
    assert one.memory["has_team"] == 1
    told = one.team[0]["told"]
    assert told["turn"][:2].tolist() == [500 << 8] * 2
    assert (one.team[0]["stop"][0], one.team[0]["fault_at"][0], one.team[0]["ctas_done"][0]) == (
        900,
        FOREVER,
        3,
    )


def test_after_a_slice_the_run_has_what_they_have_done(one: Slice) -> None:
    one.runs["sm_next"][0], one.runs["sm_next"][1] = 910, 920
    one.runs["is_open"][1, 6] = 0
    one.team["ctas_done"][0, 0] = 5
    assert one.end() == (PAUSED, 900)
    run = one.runs[2]
    assert run["sm_next"][:N_SMS].tolist() == [910] * 5 + [920] * 9
    assert np.flatnonzero(run["is_open"][:N_SMS] == 0).tolist() == [6]
    assert (run["open_sms"], run["ctas_done"]) == (N_SMS - 1, 5)


def test_a_fault_ends_the_run_after_its_cycle(one: Slice) -> None:
    fault = 650 << 8 | 6
    one.team["fault_at"][0, 0] = fault
    one.runs["kept_fault"][0, :2] = 651 << 8, 1  # of a later one
    one.runs["kept_fault"][1, :2] = fault, 2
    assert one.end() == (LEAVE, 651)
    assert one.runs["kept_fault"][2, :2].tolist() == [fault, 2]


def test_the_last_cta_ends_the_run_after_its_cycle(one: Slice) -> None:
    one.team["end_at"][0, 0] = 700 << 8 | LAST
    assert one.end() == (LEAVE, 701)


def test_where_nothing_goes_on_the_run_ends_with_its_last_cycle(one: Slice) -> None:
    one.team["idle"][0, 0] = 1
    one.team["own"]["last_step"][0, :2] = 640, 655
    assert one.end() == (LEAVE, 655)
