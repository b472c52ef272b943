"""Hashed indices: bits against the polynomials' definition, and that strides spread."""

from collections import Counter

import pytest

from ptxsim.base.jit import for_python
from ptxsim.timing.memory.mapping import hashes
from ptxsim.timing.memory.mapping.hashes import POLYNOMIALS, polynomial

hashed = for_python(hashes.hashed)


def test_a_bit_of_the_index_is_mixed_with_its_bits_of_the_address() -> None:
    # 16 indices: address bit 12 flips index bit 1 alone; bit 9 the bits 0, 2 and 3
    masks = polynomial(16)
    assert hashed(0, 1 << 12, masks, 4) == 0b0010
    assert hashed(0b0101, 1 << 9, masks, 4) == 0b0101 ^ 0b1101


@pytest.mark.parametrize("n", POLYNOMIALS)
def test_the_index_is_a_permutation_for_every_address(n: int) -> None:
    masks, bits = polynomial(n), n.bit_length() - 1
    for higher in (0, 1, 77, 12345, (1 << 40) - 1):
        assert {hashed(k, higher, masks, bits) for k in range(n)} == set(range(n))


@pytest.mark.parametrize("n", POLYNOMIALS)
def test_a_stride_of_all_indices_spreads_over_them(n: int) -> None:
    # without the hash index 0 would have all of them
    masks, bits = polynomial(n), n.bit_length() - 1
    counts = Counter(hashed(0, higher, masks, bits) for higher in range(32 * n))
    assert max(counts.values()) <= 2 * 32
    assert len(counts) == n
