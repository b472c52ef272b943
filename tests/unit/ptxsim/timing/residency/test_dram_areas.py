"""Registers in DRAM: which lines move, in which order, and when a switch is over. Figures: row 23 of `microkernels`."""

from typing import Any

import numpy as np
import pytest
from microkernels.switching import launch_through_dram
from mixed_kernel import run_mixed

from ptxsim.base.jit import for_python
from ptxsim.timing.memory.memory_state import L1, RESTORE, SAVE
from ptxsim.timing.residency import dram_areas
from ptxsim.timing.residency.switch_records import NOWHERE, SWITCH
from ptxsim.timing.sm_state import AREAS_BASE, FOREVER, RUN, SM
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

begin_lines, send_lines = for_python(dram_areas.begin_lines), for_python(dram_areas.send_lines)
line_came, is_moving = for_python(dram_areas.line_came), for_python(dram_areas.is_moving)


class OneSwitch:
    """A switch in slot 0 of SM 2, of CTAs with four registers; five CTAs can be resident."""

    def __init__(self, leaving: int, coming: int, rate: int = 1) -> None:
        self.run, self.sm, self.switch = (np.zeros(1, dtype)[0] for dtype in (RUN, SM, SWITCH))
        self.l1: Any = np.zeros(1, L1)[0]
        self.l1["miss_read_max"] = 5
        self.sm["index"], self.run["cycle"] = 2, 100
        self.switch["ctas"], self.switch["lines"], self.switch["swap_cycles"] = 5, 4, 24
        self.switch["registers_per_cycle"], self.switch["under_way"] = rate, 1
        self.switch["incoming"][0] = coming
        begin_lines(self.run, self.switch, 0, leaving, coming)

    def send(self) -> int:
        return int(send_lines(self.run, self.sm, self.switch, self.l1))

    @property
    def queued(self) -> list[tuple[int, int, int]]:
        """Context, register and kind of what is in the miss queue, in the areas of SM 2."""
        n = int(self.l1["miss_count"])
        lines = (self.l1["miss_line"][:n] - AREAS_BASE) // 128 - 2 * 5 * 4
        return [
            (int(k) // 4, int(k) % 4, int(kind)) for k, kind in zip(lines, self.l1["miss_kind"], strict=False)
        ]


def test_a_register_is_requested_when_one_has_left() -> None:
    case = OneSwitch(3, 1)
    for _ in range(6):
        assert case.send() == case.run["cycle"] + 1
        case.run["cycle"] += 1
    assert case.queued == [
        (3, 0, SAVE),
        (1, 0, RESTORE),
        (3, 1, SAVE),
        (1, 1, RESTORE),
        (3, 2, SAVE),
        (1, 2, RESTORE),
    ]
    assert case.send() == case.run["cycle"] + 1  # six are in the queue: no room
    assert len(case.queued) == 6
    case.l1["miss_count"] = 0
    case.send()
    case.send()
    assert case.send() == FOREVER
    assert is_moving(case.switch, 0)


def test_the_contexts_move_after_the_last_register() -> None:
    case = OneSwitch(NOWHERE, 1, rate=4)
    assert case.send() == FOREVER
    assert [kind for *_, kind in case.queued] == [RESTORE] * 4
    for _ in range(4):
        assert case.switch["due"][0] == FOREVER
        case.run["cycle"] += 10
        line_came(case.run, case.switch, 0)
    assert case.switch["due"][0] == case.switch["moved"][0] == 140 + 1 + 24
    assert case.switch["switch_cycles"] == 40 + 1 + 24
    assert not is_moving(case.switch, 0)


def test_a_new_cta_waits_for_what_leaves_alone() -> None:
    case = OneSwitch(0, NOWHERE, rate=3)
    case.send()
    case.run["cycle"] = 101
    assert case.send() == FOREVER
    assert case.queued == [(0, k, SAVE) for k in range(4)]
    assert case.switch["due"][0] == 101 + 1 + 24


def test_without_areas_it_is_virtual_thread() -> None:
    found = launch_through_dram(3, "switching.dram_ctas=0")
    assert (found.resident_most, found.switches, found.dram_bytes_written) == (1, 0, 0)


@pytest.mark.parametrize("order", ["launch-first", "ready-first"])
@pytest.mark.parametrize(("gpu", "ctas"), [("tesla-c2050", 1), ("gtx980-finereg", 5)])
def test_event_skip_changes_nothing(gpu: str, ctas: int, order: str) -> None:
    """Lines on a memory of lines, and on one of sectors; registers for few CTAs."""
    settings = "sm.ctas=2", "sm.count=3", "sm.registers=12288", f"switching.dram_ctas={ctas}"
    machine = with_settings(load_gpu(gpu), [*settings, f"switching.order={order}"])
    options = {"gpu": machine, "scheme": "reg-dram", "registers": 40}
    skipped, stepped = (run_mixed(29, 250, event_skip=skip, **options) for skip in (True, False))
    assert skipped == stepped
    switching = skipped[0]["switching"]
    assert switching["dram_bytes_written"] == switching["dram_bytes_read"] > 0
    assert switching["dram_most"] <= ctas
