"""Which quantity was wrong, worked out by hand."""

import pytest
from regdem_runs import benchmark, measured, run, variant

from ptxtool.sweep.reproduction.regdem.measured import Measured
from ptxtool.sweep.reproduction.regdem.mispredictions import Misprediction, misprediction

CONV = benchmark("conv")


def between(
    chosen: dict[str, float], fastest: dict[str, float], busy: int, busy_fastest: int
) -> Misprediction:
    """From a choice of 1000 cycles to a fastest variant of 800."""
    found = misprediction(
        measured(
            CONV,
            variant(CONV, "original", 2000, predicted=1000, stalls=1000),
            variant(CONV, "local 32", 1000, **chosen),  # type: ignore[arg-type]
            variant(CONV, "demote 32 accesses", 800, **fastest),  # type: ignore[arg-type]
            local_32=run(1000, busy),
            demote_32_accesses=run(800, busy_fastest),
        )
    )
    assert found is not None
    return found


def test_the_parts_of_a_prediction_are_its_change() -> None:
    """Issue slots 60 -> 80 and waits 40 -> 45 of 100 at the same occupancy, but 130 predicted: 5 by a resource."""
    found = between(
        {"stalls": 100, "slots": 60},
        {"stalls": 125, "slots": 80, "predicted": 130},
        busy=400,
        busy_fastest=500,
    )
    parts = (found.issue, found.waits, found.factor, found.resource)
    assert parts == (pytest.approx(20), pytest.approx(5), pytest.approx(0), pytest.approx(5))
    assert found.predicted == pytest.approx(30)
    assert (found.busy, found.not_ready, found.cycles) == (10, -30, pytest.approx(-20))
    assert found.lost == pytest.approx(25)
    assert dict(found.columns)["counted cycles"] == pytest.approx(-20)


def test_issue_slots_that_were_not_there() -> None:
    """Predicted: 40% more issue slots. Counted: as many busy slots, and 20% fewer without a ready warp."""
    found = between({"stalls": 100, "slots": 60}, {"stalls": 140, "slots": 100}, busy=400, busy_fastest=400)
    assert (found.issue, found.waits + found.factor) == (pytest.approx(40), pytest.approx(0))
    assert found.cause == "issue slots"


def test_waits_that_were_hidden() -> None:
    found = between({"stalls": 100, "slots": 60}, {"stalls": 140, "slots": 60}, busy=400, busy_fastest=400)
    assert (found.waits, found.factor, found.not_ready) == (pytest.approx(40), pytest.approx(0), -20)
    assert found.cause == "waits"


def test_a_resource_that_was_not_as_busy() -> None:
    """Nothing but the bound differs, and it says 30% more; counted are as many busy slots and 20% fewer others."""
    found = between(
        {"stalls": 100, "slots": 60},
        {"stalls": 100, "slots": 60, "predicted": 130},
        busy=400,
        busy_fastest=400,
    )
    assert (found.issue, found.waits, found.factor, found.resource) == (0, 0, 0, pytest.approx(30))
    assert found.cause == "busiest resource"


def test_occupancy_that_mattered_less_than_its_factor() -> None:
    """0.75 ** -0.86281 is 1.2817: that much longer without demotion, says the predictor."""
    found = misprediction(
        measured(
            CONV,
            variant(CONV, "original", 800, stalls=100, predicted=128.17),
            variant(CONV, "demote 32 accesses", 1000, stalls=100, predicted=100),
            original=run(800, 400),
            demote_32_accesses=run(1000, 400),
        )
    )
    assert found is not None
    assert found.factor == pytest.approx(28.17, abs=0.01)
    assert (found.issue, found.waits, found.resource) == (0, 0, pytest.approx(0, abs=0.01))
    assert found.cause == "occupancy factor"


def test_a_right_choice_has_no_changes() -> None:
    found = misprediction(measured(CONV, variant(CONV, "original"), original=run(1000, 400)))
    assert found is not None
    assert found.chosen is found.fastest
    assert {percent for _, percent in found.columns} == {0}
    assert found.lost == 0


def test_without_a_result_nothing_is_known() -> None:
    def without(**counters: object) -> Measured:
        return measured(CONV, variant(CONV, "original", None), **counters)  # type: ignore[arg-type]

    assert misprediction(without()) is None
