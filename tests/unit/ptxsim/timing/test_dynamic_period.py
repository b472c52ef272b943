"""The end of a period of dynamic warp execution: the step that every SM's chance moves by."""

from typing import Any
from unittest import mock

import numpy as np
from dynamic_kernel import run

from ptxsim.base.jit import for_python
from ptxsim.timing import dynamic_period
from ptxsim.timing.dynamic_execution import Controller
from ptxsim.timing.sharing.hold_back import CERTAIN, DYNAMIC

move = for_python(dynamic_period.move)


def test_one_step_a_period_from_the_counters_of_the_sms() -> None:
    """SM 1 always has more stalls than SM 0, SM 2 fewer until period 5, then more."""
    seen: list[tuple[int, list[int]]] = []
    end_period = Controller.end_period

    def forced(controller: Controller, simulation: Any, policy: Any) -> None:
        due = simulation.cycles >= controller.next_cycle
        if due:
            late = controller.periods >= 5
            controller.records["stalls"][1:3] = -(10**9), -(10**9) if late else 10**9
        end_period(controller, simulation, policy)
        if due:
            seen.append((simulation.cycles, [int(c) for c in controller.records["chance"][:3]]))

    with mock.patch.object(Controller, "end_period", forced):
        result, _ = run(dynamic=True)
    assert [cycles for cycles, _ in seen] == [1000 * k for k in range(1, len(seen) + 1)]
    assert len(seen) == result.cycles // 1000 >= 14
    tenths = [[c / 100_000 for c in chances] for _, chances in seen]
    assert [t[0] for t in tenths] == [0] * len(seen)  # the reference
    assert [t[1] for t in tenths][:12] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]
    assert [t[2] for t in tenths][:8] == [10, 10, 10, 10, 10, 9, 8, 7]


def test_a_chance_stays_between_none_and_certain() -> None:
    d = np.zeros(1, DYNAMIC)[0]
    d["step"], d["chance"], d["lowest"] = 400_000, 900_000, CERTAIN
    chances = []
    for stalls in (10, 10, 11, 11, 11, 9, 9, 9):  # the reference has 10
        move(d, stalls, 10)
        chances.append(int(d["chance"]))
    assert chances == [900_000, 900_000, 500_000, 100_000, 0, 400_000, 800_000, CERTAIN]
    assert (int(d["lowest"]), int(d["lowered"]), int(d["raised"])) == (0, 3, 3)
