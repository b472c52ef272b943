"""The divided register file: what a restore costs, what an eviction loses, and how many entries there are."""

from typing import Any

import numpy as np
import pytest
from waiting_ctas import wait

import ptxsim.timing.residency.switching_setup
from ptxsim.base.jit import for_python
from ptxsim.timing.residency import register_file
from ptxsim.timing.residency.switch_records import ACRF, PCRF, SWITCH
from ptxtool.base.diag import PtxError

restore = for_python(register_file.restore)


@pytest.mark.parametrize("first", [2, 5, 104])
def test_restoring_takes_its_time(first: int) -> None:
    slow, fast = (wait(3, f"switching.restore_first_cycles={n}").cycles for n in (first, 1))
    # CTA 1 and CTA 2 come back: the first register, then 19; the eviction at the same time as one takes 20 cycles
    assert slow - fast == 2 * (first - 1)


def test_what_is_not_live_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the vectors leave out what is needed, a kernel that is switched computes something else."""
    live = ptxsim.timing.residency.switching_setup.live_rows

    def without_any(*arguments: Any) -> Any:
        counts, kept = live(*arguments)
        return counts, np.zeros_like(kept)

    wait(3)
    monkeypatch.setattr(ptxsim.timing.residency.switching_setup, "live_rows", without_any)
    with pytest.raises((AssertionError, PtxError)):
        wait(3)


def test_a_restored_cta_frees_its_entries() -> None:
    switch = np.zeros(1, SWITCH)[0]
    switch["restore_first_cycles"] = 4
    switch["pcrf_entries"], switch["free_entries"] = 100, 70
    switch["entries"][2], switch["registers"][2] = 30, PCRF
    # the first register takes 4 cycles, each of the 29 others one
    assert restore(switch, 2) == 4 + 29
    assert (int(switch["free_entries"]), int(switch["entries"][2])) == (100, 0)
    assert (int(switch["registers"][2]), int(switch["in_acrf"])) == (ACRF, 1)


def test_a_cta_without_live_registers_is_back_at_once() -> None:
    switch = np.zeros(1, SWITCH)[0]
    switch["restore_first_cycles"] = 4
    assert restore(switch, 0) == 0
    assert int(switch["restores"]) == 1
