"""The garbage collector is paused, and afterwards it is as it was before."""

import gc

import pytest

from ptxtool.base.collector import paused_collector


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
