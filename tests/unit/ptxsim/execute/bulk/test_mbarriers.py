"""The state of an mbarrier after each operation, by the PTX manual's description of phases."""

from uncompiled import in_python

from ptxsim.execute.bulk.mbarriers import next_state
from ptxsim.execute.codes import (
    ARRIVE,
    BYTES_SHIFT,
    COMPLETE_BYTES,
    DROP,
    EXPECT_BYTES,
    EXPECTED_SHIFT,
    INITIALISE,
    LAYOUT_SHIFT,
    PHASE_SHIFT,
    STAY,
)


def state(pending: int, expected: int, n_bytes: int = 0, phase: int = 0) -> int:
    return pending | expected << EXPECTED_SHIFT | (n_bytes & 0x3FFFFF) << BYTES_SHIFT | phase << PHASE_SHIFT


def after(before: int, what: int, count: int = 0, n_bytes: int = 0) -> int:
    return int(in_python(next_state)(before, what, count, n_bytes))


def test_the_last_arrival_completes_the_phase() -> None:
    start = after(12345, INITIALISE, 2)
    assert start == state(2, 2)
    assert after(start, ARRIVE, 1) == state(1, 2)
    assert after(state(1, 2), ARRIVE, 1) == state(2, 2, phase=1)
    assert after(state(1, 2, phase=1), ARRIVE, 1) == state(2, 2, phase=0)


def test_bytes_that_are_missing_keep_the_phase_open() -> None:
    waiting = after(state(1, 1), EXPECT_BYTES | ARRIVE, 1, 16)
    assert waiting == state(0, 1, 16)
    assert after(waiting, COMPLETE_BYTES, 0, 8) == state(0, 1, 8)
    assert after(state(0, 1, 8), COMPLETE_BYTES, 0, 8) == state(1, 1, phase=1)


def test_bytes_may_come_before_they_are_expected() -> None:
    early = after(state(1, 1), COMPLETE_BYTES, 0, 16)
    assert early == state(1, 1, -16)
    assert after(early, EXPECT_BYTES | ARRIVE, 1, 16) == state(1, 1, phase=1)


def test_a_thread_that_drops_out_is_not_expected_again() -> None:
    assert after(state(1, 2), ARRIVE | DROP, 1) == state(1, 1, phase=1)


def test_an_arrival_that_must_not_complete_leaves_the_phase() -> None:
    assert after(state(1, 1), ARRIVE | STAY, 1) == state(0, 1)


def test_a_layout_stays() -> None:
    """Of layout v1, whose bit is that of the sign."""
    start = after(0, INITIALISE, 2, 1)
    assert start == state(2, 2) - (1 << LAYOUT_SHIFT)
    assert after(start, ARRIVE, 2) == state(2, 2, phase=1) - (1 << LAYOUT_SHIFT)
    assert after(start, INITIALISE, 1) == state(1, 1)
