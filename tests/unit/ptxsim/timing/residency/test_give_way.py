"""What a scheme is shown of a stalled CTA, and what is refused: one SM, the stalled CTA in slot 1."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.timing.residency import give_way
from ptxsim.timing.residency.switch_records import ACRF, NOWHERE, OUTSIDE, SHARED_MEMORY, SWITCH
from ptxsim.timing.sm_state import RUN, SM

first_ready, look = for_python(give_way.first_ready), for_python(give_way.look)
POSSIBLE = ("can_swap", "can_fetch", "can_launch", "can_look_up")


def switch_of(**fields: Any) -> Any:
    """An SM with room for two CTAs in the file, which is full, and four resident; those of contexts 2 and 3 are ready,
    as CTAs 12 and 7."""
    switch = np.zeros(1, SWITCH)[0]
    switch["ctas"], switch["acrf_ctas"], switch["in_acrf"], switch["n_ready"] = 6, 2, 2, 2
    switch["place"][2:4], switch["registers"][2:4], switch["cta"][2:4] = SHARED_MEMORY, OUTSIDE, (12, 7)
    switch["live_count"] = -1
    for name, value in fields.items():
        switch[name] = value
    return switch


def test_the_ready_cta_that_was_launched_first() -> None:
    run, sm = np.zeros(1, RUN)[0], np.zeros(1, SM)[0]
    switch = switch_of(entries=[0, 0, 30, 20] + [0] * 124)
    assert first_ready(run, sm, switch, OUTSIDE, 0) == 3
    assert first_ready(run, sm, switch, OUTSIDE, 25) == 2
    assert first_ready(run, sm, switch, OUTSIDE, 31) == first_ready(run, sm, switch, ACRF, 0) == NOWHERE
    switch["loads"][3] = 1
    assert first_ready(run, sm, switch, OUTSIDE, 0) == 2


@pytest.mark.parametrize(
    ("fields", "live", "more", "possible"),
    [
        ({}, -1, True, (0, 0, 0, 0)),  # Virtual Thread: the file is full
        ({"in_acrf": 1}, -1, True, (0, 1, 1, 0)),
        ({"in_acrf": 1}, -1, False, (0, 1, 0, 0)),
        ({"registers": ACRF, "in_acrf": 1}, -1, True, (1, 0, 1, 0)),
        ({"lines": 64}, -1, True, (0, 1, 1, 0)),  # DRAM always has room
        ({"lines": 64, "loads": 1}, -1, False, (0, 0, 0, 0)),
        ({"pcrf_entries": 100, "free_entries": 40}, -1, True, (0, 0, 0, 1)),
        ({"pcrf_entries": 100, "free_entries": 40}, 40, True, (0, 1, 1, 0)),
        ({"pcrf_entries": 100, "free_entries": 40}, 41, True, (0, 0, 0, 0)),
        (
            {"pcrf_entries": 100, "free_entries": 40, "entries": 1},
            41,
            True,
            (0, 1, 0, 0),
        ),  # with those of the other
        ({"pcrf_entries": 100, "in_acrf": 1}, -1, True, (0, 1, 1, 0)),  # nothing to count
    ],
)
def test_what_is_possible(fields: dict[str, Any], live: int, more: bool, possible: tuple[int, ...]) -> None:
    run, sm, switch = np.zeros(1, RUN)[0], np.zeros(1, SM)[0], switch_of(**fields)
    switch["live_count"][1] = live
    look(run, sm, switch, 1, more)
    assert tuple(int(switch["scheme_view"][name]) for name in POSSIBLE) == possible


def test_what_is_shown() -> None:
    run, sm = np.zeros(1, RUN)[0], np.zeros(1, SM)[0]
    switch = switch_of(resident=4, active=1, outside=2, free_entries=17, stalled_since=100)
    run["cycle"], run["n_ctas"], run["next_cta"] = 130, 50, 13
    sm["index"], sm["cta_id"][1] = 3, 9
    look(run, sm, switch, 1, True)
    view = switch["scheme_view"]
    shown = {name: int(view[name]) for name in view.dtype.names if name not in (*POSSIBLE, "notes")}
    assert shown == {
        "slot": 1,
        "cta": 9,
        "stalled": 30,
        "live": -1,
        "index": 3,
        "cycle": 130,
        "resident": 4,
        "active": 1,
        "outside": 2,
        "ready": 2,
        "left": 37,
        "has_room": 0,
        "free": 17,
    }


def test_one_that_awaits_a_section_is_ready_while_one_is_free() -> None:
    run, sm, switch = np.zeros(1, RUN)[0], np.zeros(1, SM)[0], switch_of(registers=ACRF)
    run["sections"], switch["awaits_section"][3] = 2, 1
    for taken, found in ((0, 3), (1, 3), (2, 2)):
        sm["sections_taken"] = taken
        assert first_ready(run, sm, switch, ACRF, 0) == found
