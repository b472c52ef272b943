"""The choices among the variants of a benchmark."""

import pytest
from regdem_runs import benchmark, measured, run, variant

from ptxtool.sweep.reproduction.regdem.measured import fastest

CONV = benchmark("conv")


def test_each_choice_has_its_own_order() -> None:
    found = measured(
        CONV,
        variant(CONV, "original", 1000, stalls=100, naive=50),
        variant(CONV, "local 32", 990, stalls=90, naive=40, equations=70),
        variant(CONV, "demote 32 accesses", 800, stalls=95, naive=60),
        variant(CONV, "demote 32 accesses hoist", 810, stalls=80, naive=55),
    )
    assert found.fastest is found.tuning.variants[2]
    assert found.predicted.name == "demote 32 accesses hoist"
    assert found.by_equations.name == found.naively_predicted.name == "local 32"
    assert found.gain(found.fastest) == pytest.approx(25)
    assert found.gain(found.original) == 0


def test_the_original_is_chosen_where_nothing_is_better() -> None:
    found = measured(CONV, variant(CONV, "original"), variant(CONV, "local 32"))
    assert found.predicted is found.naively_predicted is found.fastest is found.original


def test_runs_without_a_good_result_are_never_fastest() -> None:
    found = measured(
        CONV,
        variant(CONV, "original", 1000),
        variant(CONV, "local 32", 10, problem="memory differs"),
        variant(CONV, "demote 32 accesses", None, problem="out of bounds"),
    )
    assert found.fastest is found.original
    assert [found.gain(v) for v in found.tuning.variants] == [0, None, None]
    assert found.gain(None) is None


def test_nothing_is_fastest_while_runs_are_missing() -> None:
    missing = variant(CONV, "demote 32 accesses", None)
    found = measured(CONV, variant(CONV, "original", 1000), missing, variant(CONV, "local 32", 900))
    assert found.fastest is None
    assert fastest(found.of("local")) is found.tuning.variants[2]
    assert fastest([]) is None


def test_variants_at_the_papers_registers() -> None:
    qtc = benchmark("qtc")
    found = measured(
        qtc,
        variant(qtc, "original"),
        variant(qtc, "demote 48 accesses"),
        variant(qtc, "demote 48 frequency substitute+hoist"),
        variant(qtc, "demote 40 accesses"),
    )
    assert [v.name for v in found.of("demote")] == [v.name for v in found.tuning.variants[1:]]
    assert [v.target for v in found.at_target] == [48, 48]
    both = found.demoted("frequency", ("hoist", "substitute"))
    assert both is found.tuning.variants[2]
    assert found.demoted("frequency") is None


def test_counters_of_equal_texts_are_those_of_the_first() -> None:
    found = measured(
        CONV,
        variant(CONV, "original"),
        variant(CONV, "demote 32 accesses", 800),
        variant(CONV, "demote 32 accesses banks", 800, same_as="demote 32 accesses"),
        variant(CONV, "local 32", None),
        demote_32_accesses=run(800, busy=300, conflicts=7),
    )
    _, first, equal, missing = found.tuning.variants
    assert found.count(equal, "slots.issued", "core.bank_conflict_cycles") == 307
    assert found.count(first, "cycles") == 800
    assert found.count(missing, "cycles") is None
    assert found.count(None, "cycles") is None
