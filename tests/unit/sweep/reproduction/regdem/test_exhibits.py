"""The tables of RegDem's evaluation from invented results."""

import pytest
from regdem_runs import MACHINE, benchmark, measured, run, variant

from ptxtool.results.exhibits import Exhibit
from ptxtool.sweep.reproduction.regdem.exhibits import exhibits
from ptxtool.sweep.reproduction.regdem.measured import Measured
from ptxtool.sweep.reproduction.regdem.paper import paper

CFD = benchmark("cfd")


def tables(found: Measured) -> dict[str, Exhibit]:
    return {exhibit.key: exhibit for exhibit in exhibits(paper(), [found], MACHINE)}


def row(exhibit: Exhibit) -> dict[str, float | None]:
    """Our values of the only row, by column."""
    assert exhibit.rows in ((), ("cfd",))
    return {value.column: value.ours for value in exhibit.values}


@pytest.fixture
def found() -> dict[str, Exhibit]:
    """Cycles: original 1200, demoted by accesses 1000 to 800, by frequency 1100, local 1500, local-shared 960."""
    demote = "demote 56 accesses"
    return tables(
        measured(
            CFD,
            variant(CFD, "original", 1200, naive=50),
            variant(CFD, "local 56", 1500, naive=49),
            variant(CFD, "local-shared 56", 960, predicted=90, equations=70),
            variant(CFD, demote, 1000),
            variant(CFD, f"{demote} hoist", 1000, predicted=80),
            variant(CFD, f"{demote} banks+substitute+hoist", 800),
            variant(CFD, "demote 56 frequency", 1100),
            original=run(1200, instructions=1000, conflicts=5),
            demote_56_accesses=run(1000, instructions=1250, conflicts=5),
            demote_56_accesses_banks_substitute_hoist=run(800, instructions=1100, conflicts=2),
        )
    )


def test_resources_are_those_of_the_plain_variant(found: dict[str, Exhibit]) -> None:
    assert row(found["registers"]) == {"before": 68, "after, as allocated": 56, "demoted": 14}
    assert row(found["slots"]) == {"slots": 10752}
    assert row(found["occupancy"]) == {"before": 0.375, "after": 0.5625}
    for key in ("registers", "slots", "occupancy"):
        assert all(value.ours == value.paper for value in found[key].values)


def test_gains_by_method(found: dict[str, Exhibit]) -> None:
    assert row(found["gain"]) == {
        "RegDem, fastest": pytest.approx(50),
        "predictor's choice": pytest.approx(20),
        "local": pytest.approx(-20),
        "local-shared": pytest.approx(25),
    }


def test_gains_by_rule_and_by_switch(found: dict[str, Exhibit]) -> None:
    rules = row(found["rules"])
    assert rules == {"accesses": pytest.approx(50), "frequency": pytest.approx(100 / 11), "conflicts": None}
    switches = row(found["switches"])
    # without switches: the geometric mean of 1200 / 1000 and 1200 / 1100
    none = 100 * ((1.2 * 12 / 11) ** 0.5 - 1)
    assert switches == {
        "none": pytest.approx(none),
        "banks": None,
        "substitute": None,
        "hoist": pytest.approx(20),
        "all three": pytest.approx(50),
    }


def test_the_predictor_against_an_exhaustive_search(found: dict[str, Exhibit]) -> None:
    assert row(found["predictor"]) == {
        "fastest of all": pytest.approx(50),
        "predictor's choice": pytest.approx(20),
        "equations alone": pytest.approx(25),
        "naive choice": pytest.approx(-20),
    }
    assert row(found["share"]) == {
        "predictor's choice": pytest.approx(80),
        "equations alone": pytest.approx(100 * 800 / 960),
        "naive choice": pytest.approx(100 * 800 / 1500),
    }
    assert row(found["causes"])["counted cycles"] == pytest.approx(-20)
    missed = "cfd: demote 56 accesses hoist; fastest: demote 56 accesses banks+substitute+hoist"
    assert missed in found["causes"].notes


def test_what_demoted_accesses_cost(found: dict[str, Exhibit]) -> None:
    assert row(found["conflicts"]) == {"original": 5, "largest change by a demoted variant": -5}
    assert row(found["added"]) == {
        "text, none": pytest.approx(10),
        "executed, none": pytest.approx(25),
        "text, all three": pytest.approx(10),
        "executed, all three": pytest.approx(10),
        "text, local": 0,
        "executed, local": pytest.approx(-50),
    }
    assert row(found["banks"]) == {"original": 15, "none": 15, "banks": None}


def test_what_did_not_run_leaves_gaps() -> None:
    without = tables(measured(CFD, variant(CFD, "original", None)))
    assert row(without["registers"]) == {"before": 68, "after, as allocated": None, "demoted": None}
    for key in ("gain", "rules", "switches", "predictor", "share", "causes", "banks", "added"):
        assert set(row(without[key]).values()) <= {None}, key
