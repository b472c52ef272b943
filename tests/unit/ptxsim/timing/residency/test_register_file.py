"""The divided register file: what a restore costs, what an eviction loses, and how many entries there are."""

from typing import Any

import numpy as np
import pytest
from waiting_ctas import wait

import ptxsim.timing.residency.switching_setup
from ptxsim.base.jit import for_python
from ptxsim.timing.residency import register_file
from ptxsim.timing.residency.switch_records import ACRF, NOWHERE, OUTSIDE, SWITCH, WARP
from ptxsim.timing.sm_state import FOREVER, RUN, SM
from ptxtool.base.diag import PtxError

restore, moving_cycles = for_python(register_file.restore), for_python(register_file.moving_cycles)
hold_until_moved, hold_new = for_python(register_file.hold_until_moved), for_python(register_file.hold_new)
release_arrived = for_python(register_file.release_arrived)


@pytest.mark.parametrize("first", [2, 5, 104])
def test_restoring_takes_its_time(first: int) -> None:
    slow, fast = (wait(3, f"switching.restore_first_cycles={n}").cycles for n in (first, 1))
    # CTA 1 and CTA 2 come back: the first register, then 19; the eviction at the same time as one takes 20 cycles
    assert slow - fast == 2 * (first - 1)


@pytest.mark.parametrize(
    ("rate", "leaving", "coming", "cycles"),
    [
        (1, 0, 0, 0),
        (1, 30, 0, 30),
        (1, 0, 1, 4),  # the first register takes 4 cycles
        (1, 0, 30, 4 + 29),  # each of the 29 others one
        (1, 40, 30, 40),  # both directions at a time
        (4, 30, 0, 8),  # 7.5
        (4, 0, 30, 4 + 8),  # 29 / 4
        (4, 0, 29, 4 + 7),
        (1000, 30, 30, 5),
    ],
)
def test_moving_takes_its_time(rate: int, leaving: int, coming: int, cycles: int) -> None:
    switch = np.zeros(1, SWITCH)[0]
    switch["registers_per_cycle"], switch["restore_first_cycles"] = rate, 4
    assert moving_cycles(switch, leaving, coming) == cycles


def test_a_warp_runs_when_its_own_registers_are_there() -> None:
    """CTAs of two warps, a register each: context 1 with 5 and 10 entries leaves, context 2 with 3 and 4 comes."""
    run, sm, switch = (np.zeros(1, dtype)[0] for dtype in (RUN, SM, SWITCH))
    warps, ready_at = np.zeros(6, WARP), np.zeros(6, np.int64)
    warps["entries"][2:] = 5, 10, 3, 4
    switch["warps"], sm["ready_at"] = warps.ctypes.data, ready_at.ctypes.data
    switch["registers_per_cycle"], switch["restore_first_cycles"] = 1, 4
    run["warps_per_cta"], run["n_registers"], run["contexts"] = 2, 1, 6
    hold_until_moved(run, sm, switch, 0, 1, 2, 1000)
    # max(5, 4 + 2), then max(5 + 10, 4 + 6)
    assert switch["arrival"][:2].tolist() == [1006, 1015]
    assert ready_at.tolist() == [0, 0, 0, 0, FOREVER, FOREVER]
    switch["incoming"][0], switch["due"][0], run["cycle"] = 2, 1010, 1006
    assert release_arrived(run, sm, switch, 0) == 1015  # the CTA has not taken its slot
    assert ready_at.tolist() == [0, 0, 0, 0, 1006, FOREVER]
    sm["resident"], sm["context"][:2], switch["due"][0], run["cycle"] = 0b11, (4, 5), FOREVER, 1015
    assert release_arrived(run, sm, switch, 0) == FOREVER  # it has
    assert ready_at.tolist() == [0, 0, 0, 0, 1006, 1015]
    hold_until_moved(run, sm, switch, 0, NOWHERE, 2, 1000)
    assert switch["arrival"][:2].tolist() == [1006, 1010]


def test_a_new_cta_runs_when_the_registers_of_the_one_before_have_left() -> None:
    """Slot 1 of CTAs of two warps: context 1 leaves with 5 and 10 entries, a new one has context 0."""
    run, sm, switch = (np.zeros(1, dtype)[0] for dtype in (RUN, SM, SWITCH))
    warps, ready_at = np.zeros(4, WARP), np.zeros(4, np.int64)
    warps["entries"][2:] = 5, 10
    switch["warps"], sm["ready_at"] = warps.ctypes.data, ready_at.ctypes.data
    switch["registers_per_cycle"] = 1
    run["warps_per_cta"], run["n_registers"], run["contexts"] = 2, 1, 4
    hold_until_moved(run, sm, switch, 1, 1, NOWHERE, 1000)
    assert switch["arrival"][2:4].tolist() == [1005, 1015]
    switch["incoming"][1], switch["due"][1], run["cycle"] = NOWHERE, FOREVER, 1005
    assert release_arrived(run, sm, switch, 1) == 1015  # before it is launched
    sm["resident"], sm["context"][2:4] = 0b1100, (0, 1)
    hold_new(run, sm, switch, 1)
    assert ready_at.tolist() == [0, FOREVER, 0, 0]
    run["cycle"] = 1015
    assert release_arrived(run, sm, switch, 1) == FOREVER
    assert ready_at.tolist() == [0, 1015, 0, 0]


def test_running_overlaps_with_moving() -> None:
    options = "switching.overlap=true", "switching.swap_cycles=0"
    slow, fast = (wait(3, *options, f"switching.registers_per_cycle={n}").cycles for n in (1, 1000))
    # CTA 1 and CTA 2 come back; their next instruction waits 4 + 19 cycles or 4 + 1 for its registers
    assert slow - fast == 2 * 18


def test_what_is_not_live_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the vectors leave out what is needed, a kernel that is switched computes something else."""
    live = ptxsim.timing.residency.switching_setup.live_rows

    def without_any(*arguments: Any) -> Any:
        vectors = live(*arguments)
        vectors[:-2] = 0
        return vectors

    wait(3)
    monkeypatch.setattr(ptxsim.timing.residency.switching_setup, "live_rows", without_any)
    with pytest.raises((AssertionError, PtxError)):
        wait(3)


def test_a_restored_cta_frees_its_entries() -> None:
    switch = np.zeros(1, SWITCH)[0]
    switch["pcrf_entries"], switch["free_entries"] = 100, 70
    switch["entries"][2], switch["registers"][2] = 30, OUTSIDE
    assert restore(switch, 2) == 30
    assert (int(switch["free_entries"]), int(switch["entries"][2])) == (100, 0)
    assert (int(switch["registers"][2]), int(switch["in_acrf"])) == (ACRF, 1)
    assert int(switch["restores"]) == 1
