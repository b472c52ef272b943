"""Which schemes the papers' tables and figures need."""

import pytest

from ptxtool.sweep.reproduction.papers import SHARING, paper
from ptxtool.sweep.reproduction.schemes import (
    BASELINE,
    DOUBLE,
    REPLICAS,
    factored_schemes,
    full_scheme,
    limited_schemes,
    release_schemes,
    replicas,
    rungs,
    schemes,
    unlimited_schemes,
    variant_schemes,
)


@pytest.mark.parametrize("name", SHARING)
def test_schemes_of_an_application_have_names_of_their_own(name: str) -> None:
    found = paper(name)
    for application in (found.application[0], found.unlimited[0]):
        names = [scheme.name for scheme in schemes(found, application)]
        assert len(set(names)) == len(names)
        assert names[0] == BASELINE


def test_the_full_scheme_has_its_percentage_in_its_name_unless_it_is_the_full_one() -> None:
    found = paper("register-sharing")
    assert full_scheme(found, 90) == rungs(found)[-1]
    assert (full_scheme(found, 30).name, full_scheme(found, 30).percent) == ("Shared-OWF-Unrolled-Dyn-30", 30)


def test_a_machine_with_twice_the_resource_shares_nothing() -> None:
    found = paper("scratchpad-sharing")
    (double,) = [scheme for scheme in limited_schemes(found) if scheme.name == DOUBLE]
    assert (double.options, double.settings) == ({}, found.double)


def test_replicas_differ_in_accidents() -> None:
    found = replicas(paper("register-sharing"))
    assert len(found) == 2 * (REPLICAS - 1)
    assert [scheme.name for scheme in found[:2]] == [
        "Unshared-LRR-Replica-2",
        "Shared-OWF-Unrolled-Dyn-Replica-2",
    ]
    assert found[0].settings == found[1].settings == ("dispatch.first_sm=3", "l2.rop_cycles=121")
    assert (found[0].percent, found[1].percent) == (0, 90)


def test_early_release_is_compared_with_the_same_passes_without_marks() -> None:
    without, marked = release_schemes(paper("register-sharing"))
    assert marked.passes.startswith(without.passes + ",")
    assert marked.passes.count("release-registers") == 1
    assert "release-registers" not in without.passes


def test_set_3_is_shared_under_every_scheduler() -> None:
    found = unlimited_schemes(paper("scratchpad-sharing"))
    assert [(s.scheduler, bool(s.percent)) for s in found] == [
        ("lrr", False),
        ("lrr", True),
        ("gto", False),
        ("gto", True),
        ("owf", True),
    ]


def test_register_sharing_has_the_other_papers_machine_too() -> None:
    chosen = paper("register-sharing")
    two = variant_schemes(chosen)
    assert [s.name for s in two] == ["Unshared-LRR-Variant", "Shared-OWF-Unrolled-Dyn-Variant"]
    assert {s.settings for s in two} == {("sm.scratchpad_bytes=16384",)}
    assert [s.percent for s in two] == [0, 90]
    assert limited_schemes(chosen)[-2:] == unlimited_schemes(chosen)[-2:] == two
    assert variant_schemes(paper("scratchpad-sharing")) == ()


def test_the_three_of_a_gain_and_its_factors() -> None:
    three = factored_schemes(paper("scratchpad-sharing"))
    assert [(s.name, s.scheduler, s.percent) for s in three] == [
        ("Unshared-LRR", "lrr", 0),
        ("Shared-OWF-0", "owf", 0),
        ("Shared-OWF", "owf", 90),
    ]
