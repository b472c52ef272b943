"""When a CTA may be switched out: two warps, of which the second is the one that varies."""

from typing import Any

import numpy as np
import pytest
from waiting_ctas import wait

from ptxsim.base.jit import for_python
from ptxsim.base.program import INSTRUCTION
from ptxsim.timing.residency import trigger
from ptxsim.timing.residency.switch_records import SWITCH
from ptxsim.timing.residency.trigger import NOT_STALLED
from ptxsim.timing.sm_state import LONG, RUN, SM

stalled_from = for_python(trigger.stalled_from)
ONE, BOTH = 0b10, 0b11
AT_BARRIER = {"has_head": 1, "blocked": 1, "at_barrier": ONE}
REFUSED = {"blocked": 1, "ready": ONE, "head_class": [0, 0, ONE], "head_stuck": 1, "id_oc_n": [0, 0, 2]}
"""The second warp has a memory instruction, and the LDST unit, whose head a cache refuses, takes no more than 2."""


@pytest.mark.parametrize(
    ("changes", "ready_at", "since"),
    [
        ({}, LONG, 9),  # both wait for loads; the pipes hold nothing after cycles 5 and 9
        (AT_BARRIER, 0, 9),
        (
            AT_BARRIER | {"has_head": 0, "blocked": 0, "at_barrier": BOTH},
            0,
            NOT_STALLED,
        ),  # no reply ends that
        ({"has_head": 1, "blocked": 1, "in_atomic": ONE}, 0, 9),
        ({"finishing": ONE}, 0, 9),
        ({"finishing": BOTH}, 0, NOT_STALLED),
        ({"in_membar": ONE}, LONG, NOT_STALLED),
        ({"in_wait": ONE}, LONG, NOT_STALLED),
        ({"blocked": 1}, LONG, NOT_STALLED),  # it can issue
        ({}, 100, NOT_STALLED),  # its register will be written in cycle 100, by no load from beyond the SM
        ({"imiss": ONE}, LONG, NOT_STALLED),
        ({"latch_warp": 1}, LONG, NOT_STALLED),
        ({"latch_warp": 2}, LONG, 9),  # of another CTA
        ({"front_count": [0, 1]}, LONG, NOT_STALLED),
        (REFUSED, LONG, NOT_STALLED),
    ],
)
def test_a_cta_is_stalled_if_all_of_its_warps_wait_and_one_for_memory(
    changes: dict[str, Any], ready_at: int, since: int
) -> None:
    assert _stalled_from(changes, ready_at) == since


@pytest.mark.parametrize(
    ("changes", "since"),
    [
        ({}, 9),
        ({"head_stuck": 0}, NOT_STALLED),  # no cache refuses the head: the port opens soon
        ({"id_oc_n": [0, 0, 1]}, NOT_STALLED),  # the port is open
        ({"pending_free_n": 0, "id_oc_n": [0, 0, 0]}, 9),  # no load more can be on its way
        ({"head_class": [ONE]}, NOT_STALLED),  # it wants another port
        ({"blocked": 0, "ready": BOTH, "head_class": [0, 0, BOTH]}, NOT_STALLED),  # no warp waits for a load
    ],
)
def test_a_refused_warp_is_stalled_where_the_machine_says_so(changes: dict[str, Any], since: int) -> None:
    assert _stalled_from(REFUSED | changes, LONG, refused_is_stalled=1) == since


def _stalled_from(changes: dict[str, Any], ready_at: int, refused_is_stalled: int = 0) -> int:
    run, sm, switch = np.zeros(1, RUN)[0], np.zeros(1, SM)[0], np.zeros(1, SWITCH)[0]
    switch["refused_is_stalled"] = refused_is_stalled
    code, registers = np.zeros(1, INSTRUCTION), np.array([LONG, ready_at], np.int64)
    code["n_registers"] = 1
    run["code"], sm["ready_at"] = code.ctypes.data, registers.ctypes.data
    run["warps_per_cta"], run["contexts"], run["n_registers"] = 2, 2, 1
    run["port_width"] = 2
    given = {"resident": BOTH, "has_head": BOTH, "blocked": BOTH, "latch_warp": -1, "done_at": [5, 9]}
    given |= {"first_register": [0, 1], "pending_free_n": 9}
    for name, value in (given | changes).items():
        if isinstance(value, list):
            sm[name][: len(value)] = value
        else:
            sm[name] = value
    return int(stalled_from(run, sm, switch, 0))


def test_patience() -> None:
    assert wait(4, "switching.stalled_cycles=45000").switching.switches == 0
    late, early = (wait(3, f"switching.stalled_cycles={n}") for n in (300, 0))
    assert late.switching.switches == early.switching.switches == 2
