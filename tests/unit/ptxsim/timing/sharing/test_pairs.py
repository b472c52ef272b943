"""Pairs of CTA slots: partners, and who owns a pair from its first lock to the end of its CTAs."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.timing.sharing import pairs
from ptxsim.timing.sharing.pairs import NON_OWNER, OWNER, UNSHARED, pair_slots
from ptxsim.timing.sm_state import RUN, SM

classify, set_owner, cta_ended = map(for_python, (pairs.classify, pairs.set_owner, pairs.cta_ended))


def paired(unowned: int = UNSHARED) -> tuple[Any, Any]:
    """Five CTA slots of one warp: slot 0 is unshared, slots 1 and 3 are pair 0, slots 2 and 4 pair 1."""
    run, sms = np.zeros(1, RUN)[0], np.zeros(1, SM)
    run["resident_ctas"], run["warps_per_cta"], run["unowned_class"] = 5, 1, unowned
    pair_slots(sms, 2, 1)
    sms["cta_first"][0, :5], sms["cta_size"][0, :5] = range(5), 1
    for slot in range(5):
        classify(run, sms[0], slot)
    return run, sms[0]


def classes(sm: Any) -> list[int]:
    return [int(kind) for kind in sm["warp_class"][:5]]


def test_a_slot_is_paired_with_the_one_as_many_places_further_as_there_are_pairs() -> None:
    _, sm = paired()
    assert sm["pair"][:5].tolist() == [-1, 0, 1, 0, 1]
    assert sm["partner"][:5].tolist() == [-1, 3, 4, 1, 2]
    assert sm["side"][:5].tolist() == [0, 0, 0, 1, 1]
    assert (sm["owner"] == -1).all()
    assert (sm["lock"] == -1).all()


@pytest.mark.parametrize("unowned", [OWNER, UNSHARED, NON_OWNER])
def test_the_class_of_a_pair_without_owner_is_a_setting(unowned: int) -> None:
    _, sm = paired(unowned)
    assert classes(sm) == [UNSHARED, unowned, unowned, unowned, unowned]


def test_an_owner_makes_its_partner_the_non_owner_and_leaves_other_pairs() -> None:
    run, sm = paired()
    set_owner(run, sm, 0, 1)
    assert classes(sm) == [UNSHARED, NON_OWNER, UNSHARED, OWNER, UNSHARED]


def test_when_the_owner_ends_a_running_partner_becomes_owner() -> None:
    run, sm = paired()
    sm["cta_id"][:5] = 10, 11, 12, 13, 14
    run["cycle"] = 700
    set_owner(run, sm, 0, 0)
    sm["cta_id"][1] = -1
    cta_ended(run, sm, 1)
    assert classes(sm) == [UNSHARED, NON_OWNER, UNSHARED, OWNER, UNSHARED]
    assert int(sm["release_cycle"]) == 701  # warps that wait for its locks are tested in the next cycle


def test_when_the_last_cta_of_a_pair_ends_it_has_no_owner() -> None:
    run, sm = paired()
    sm["cta_id"][:5] = -1
    set_owner(run, sm, 0, 0)
    cta_ended(run, sm, 1)
    assert int(sm["owner"][0]) == -1


def test_the_end_of_a_non_owner_changes_no_owner() -> None:
    run, sm = paired()
    set_owner(run, sm, 0, 0)
    sm["cta_id"][:5] = 10, 11, 12, -1, 14
    cta_ended(run, sm, 3)
    assert int(sm["owner"][0]) == 0
