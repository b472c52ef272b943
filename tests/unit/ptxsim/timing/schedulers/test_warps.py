"""Questions of policies about warps, with masks that are set by hand."""

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.timing.schedulers import warps
from ptxsim.timing.sharing.pairs import NON_OWNER, OWNER, UNSHARED
from ptxsim.timing.sm_state import SM

runnable, oldest, first_of_class = map(for_python, (warps.runnable, warps.oldest, warps.first_of_class))


@pytest.mark.parametrize(
    "wait", ["finishing", "at_barrier", "in_membar", "in_wait", "in_atomic", "lock_wait"]
)
def test_a_warp_that_waits_for_others_is_not_runnable(wait: str) -> None:
    sm = np.zeros(1, SM)[0]
    sm["resident"], sm[wait] = 0b0111, 0b1010
    assert runnable(sm) == 0b0101


def test_a_warp_that_waits_for_a_register_is_runnable() -> None:
    sm = np.zeros(1, SM)[0]
    sm["resident"], sm["blocked"], sm["long_wait"] = 0b11, 0b01, 0b01
    assert runnable(sm) == 0b11


def test_the_oldest_is_the_one_launched_first_wherever_it_is() -> None:
    sm = np.zeros(1, SM)[0]
    sm["dynamic_id"][:4] = 5, 2, 9, 1
    assert [oldest(sm, mask) for mask in (0b1111, 0b0111, 0b0101, 0b0100)] == [3, 1, 0, 2]


def test_the_warp_in_slot_63_is_one_of_them() -> None:
    sm = np.zeros(1, SM)[0]
    sm["dynamic_id"][0] = 1
    assert oldest(sm, -(1 << 63) | 1) == 63


def test_owners_are_first_then_unshared_then_by_age() -> None:
    sm = np.zeros(1, SM)[0]
    sm["dynamic_id"][:5] = 0, 1, 2, 3, 4
    sm["warp_class"][:5] = NON_OWNER, UNSHARED, UNSHARED, OWNER, OWNER
    found = [first_of_class(sm, mask) for mask in (0b11111, 0b10111, 0b00111, 0b00101, 0b00001)]
    assert found == [3, 4, 1, 2, 0]
