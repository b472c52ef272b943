"""What a machine keeps from a launch to the next: launches that are laid out and not run."""

import pytest
from built import GPU, built, kernel_of

from ptxsim.timing.machine_state import MachineState
from ptxtool.base.diag import PtxError


@pytest.mark.parametrize(("scheduler", "turn"), [("lrr", 7), ("gto", 0)])
def test_a_scheduler_keeps_its_turn_while_its_name_is_the_same(scheduler: str, turn: int) -> None:
    state = MachineState(GPU)
    first = built(state=state)
    state.resume(first, "lrr")
    first.sms["policy"], first.sms["last_fetched"], first.run["last_sm"] = 7, 3, 5
    state.keep(first)
    second = built(state=state)
    state.resume(second, scheduler)
    assert (second.sms["policy"] == turn).all()
    assert (second.sms["last_fetched"] == 3).all()  # fetch goes on whatever the scheduler
    assert int(second.run["last_sm"][0]) == 5


def test_caches_and_memory_go_on_and_counters_do_not() -> None:
    state = MachineState(GPU)
    assert state.memory is None
    first = built(state=state)
    state.resume(first, "lrr")
    first.sms["warp_instructions"], first.l1s["cache"]["hits"] = 9, 9
    first.l1s["cache"]["tag"][:, 0] = 0x1000
    state.keep(first)
    second = built(state=state)
    state.resume(second, "lrr")
    assert second.memory is first.memory
    assert (second.l1s["cache"]["tag"][:, 0] == 0x1000).all()
    assert not second.l1s["cache"]["hits"].any()
    assert not second.sms["warp_instructions"].any()


def test_no_launch_begins_while_another_one_has_not_ended() -> None:
    state = MachineState(GPU)
    state.resume(built(state=state), "lrr")
    with pytest.raises(PtxError, match=r"E401.*'k'.*has not ended"):
        state.program(kernel_of(""), (32, 1, 1), "hardware", 1024)
