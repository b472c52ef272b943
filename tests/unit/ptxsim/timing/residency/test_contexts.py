"""The state that moves at a switch of CTAs: a CTA of two warps leaves slot 1 and comes back in slot 0."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from waiting_ctas import wait

from ptxsim.base.jit import for_python
from ptxsim.timing.residency import contexts
from ptxsim.timing.residency.switch_records import NOWHERE, PIPELINE, SHARED_MEMORY, SWITCH, WARP
from ptxsim.timing.sm_state import RUN, SM

swap_out, swap_in = for_python(contexts.swap_out), for_python(contexts.swap_in)
CONTEXT = 3
"""Of the CTA; its warps have contexts 6 and 7."""


class Bench(NamedTuple):
    """Slot 1 has CTA 40, whose warp 2 is inside a branch, and warp 3 has exited; slot 2 has another CTA."""

    run: Any
    sm: Any
    switch: Any
    warps: Any


@pytest.fixture
def bench() -> Bench:
    run, sm, switch = (np.zeros(1, dtype)[0] for dtype in (RUN, SM, SWITCH))
    warps = np.zeros(8, WARP)
    switch["warps"] = warps.ctypes.data
    switch["place"][CONTEXT], switch["active"] = PIPELINE, 2
    run["warps_per_cta"], run["n_registers"] = 2, 5
    sm["pair"] = -1
    sm["resident"], sm["finishing"], sm["has_head"] = 0b111100, 0b001000, 0b010100
    sm["cta_context"][1], sm["cta_id"][1], sm["cta_warps"][1] = CONTEXT, 40, 2
    sm["dynamic_id"][2:4] = 17, 18
    sm["depth"][2:4] = 2, 1
    sm["stack_pc"][:2, 2] = 9, 7
    sm["stack_mask"][:2, 2] = 0xFFFFFFFF, 0xFF
    sm["cta_arrived"][1, 4], sm["cta_seen"][1, 4] = 32, 0b0011
    return Bench(run, sm, switch, warps)


def test_a_cta_leaves_nothing_in_its_slot(bench: Bench) -> None:
    run, sm, switch, _ = bench
    swap_out(run, sm, switch, 1)
    assert (int(sm["resident"]), int(sm["finishing"]), int(sm["has_head"])) == (0b110000, 0, 0b010000)
    assert int(sm["cta_id"][1]) == -1
    assert sm["slot_of"][6:8].tolist() == [NOWHERE, NOWHERE]
    assert (int(switch["place"][CONTEXT]), int(switch["active"])) == (SHARED_MEMORY, 1)
    assert int(switch["seen"][CONTEXT, 4]) == 0b11  # the CTA's first warp in bit 0


@pytest.mark.parametrize(("loads", "ready"), [(0, 1), (2, 0)])
def test_a_cta_that_waits_for_loads_is_not_ready(bench: Bench, loads: int, ready: int) -> None:
    run, sm, switch, _ = bench
    sm["loads"][6] = loads
    swap_out(run, sm, switch, 1)
    assert (int(switch["loads"][CONTEXT]), int(switch["n_ready"])) == (loads, ready)


def test_a_cta_comes_back_in_another_slot_as_it_was(bench: Bench) -> None:
    run, sm, switch, _ = bench
    swap_out(run, sm, switch, 1)
    sm["stack_pc"][:, 2:4] = sm["depth"][2:4] = 0
    swap_in(run, sm, switch, 0, CONTEXT)
    assert (int(sm["cta_id"][0]), int(sm["cta_warps"][0]), int(sm["cta_context"][0])) == (40, 2, CONTEXT)
    assert (int(sm["resident"]), int(sm["finishing"])) == (0b110011, 0b000010)
    assert sm["depth"][:2].tolist() == [2, 1]
    assert sm["stack_pc"][:2, 0].tolist() == [9, 7]
    assert sm["stack_mask"][:2, 0].tolist() == [0xFFFFFFFF, 0xFF]
    assert int(sm["fetch_pc"][0]) == 7  # the I-buffer was flushed: fetched again from the top of the stack
    assert sm["dynamic_id"][:2].tolist() == [17, 18]
    assert sm["first_register"][:2].tolist() == [6 * 5, 7 * 5]  # registers have not moved
    assert sm["slot_of"][6:8].tolist() == [0, 1]
    assert (int(sm["cta_arrived"][0, 4]), int(sm["cta_seen"][0, 4])) == (32, 0b0011)


def test_a_swap_takes_its_time() -> None:
    slow, fast = (wait(2, f"switching.swap_cycles={n}", switching="virtual-thread").cycles for n in (124, 24))
    # when the first one's load is there, it comes back; the second comes back when the first has ended
    assert slow - fast == 2 * 100
