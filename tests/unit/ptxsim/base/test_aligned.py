"""Bytes at multiples of a number."""

import pytest

from ptxsim.base.aligned import aligned


@pytest.mark.parametrize("to", [64, 256])
@pytest.mark.parametrize("zeroed", [True, False])
def test_bytes_begin_at_a_multiple(to: int, zeroed: bool) -> None:
    for n_bytes in (0, 1, 63, 1000):
        found = aligned(n_bytes, to, zeroed)
        assert len(found) == n_bytes
        assert found.ctypes.data % to == 0 or n_bytes == 0
        assert not (zeroed and found.any())
