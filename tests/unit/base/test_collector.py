"""The garbage collector is paused, and afterwards it is as it was before."""

import gc

import pytest

from ptxtool.base.collector import paused_collector, rare_collection


def test_it_is_on_again_also_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), paused_collector():
        _ = 1 // gc.isenabled()
    assert gc.isenabled()


def test_an_inner_pause_does_not_end_the_outer_one() -> None:
    with paused_collector():
        with paused_collector():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collection_is_rare_and_afterwards_as_before() -> None:
    before = gc.get_threshold()
    with rare_collection():
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_threshold()[1:] == before[1:]
        kept = [[n] for n in range(2 * before[0])]
    assert gc.get_threshold() == before
    assert gc.get_count()[0] < before[0]  # no collection is due
    assert any(one is kept for one in gc.get_objects(generation=2))
