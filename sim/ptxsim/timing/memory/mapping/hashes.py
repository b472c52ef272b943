"""Hashed indices: sets of caches, banks of the L1 and slices of the L2, so that strides do not meet in few of them.

Each bit of a POLYNOMIAL index is that bit of the plain index, exclusive-or of some bits of the address above it. Which
they are follows from an irreducible polynomial (of 16, 32 or 64 indices); `polynomial` has GPGPU-Sim's.
A FERMI index is the exclusive-or of address bits 7 to 11 with bits 13, 14, 15, 17 and 19.
Reference: B. R. Rau, Pseudo-randomly interleaved memory, ISCA 1991; the bits are those of GPGPU-Sim 4.2, hashing.cc;
timing-model-42 section 3.3 for Fermi, timing-model section 3.5.
"""

from typing import Any

from ptxsim.base.jit import inline, njit, popcount
from ptxsim.timing.memory.memory_state import POLYNOMIAL

_BITS = {
    16: (
        (0, 3, 4, 6, 8, 9, 10, 11),
        (0, 1, 3, 5, 6, 7, 8, 12),
        (1, 2, 4, 6, 7, 8, 9),
        (2, 3, 5, 7, 8, 9, 10),
    ),
    32: (
        (0, 3, 5, 6, 9, 10, 11, 12, 13),
        (1, 4, 6, 7, 10, 11, 12, 13, 14),
        (0, 2, 3, 6, 7, 8, 9, 10, 14),
        (1, 3, 4, 7, 8, 9, 10, 11),
        (2, 4, 5, 8, 9, 10, 11, 12),
    ),
    64: (
        (0, 5, 6, 10, 12, 15, 16, 17, 18),
        (0, 1, 5, 7, 10, 11, 12, 13, 15),
        (1, 2, 6, 8, 11, 12, 13, 14, 16),
        (2, 3, 7, 9, 12, 13, 14, 15, 17),
        (3, 4, 8, 10, 13, 14, 15, 16, 18),
        (4, 5, 9, 11, 14, 15, 16, 17),
    ),
}
"""Of each bit of an index among so many: the bits of the address above it that it is mixed with."""

POLYNOMIALS = tuple(_BITS)
"""Numbers of indices for which there is a polynomial."""


def polynomial(n: int) -> tuple[int, ...]:
    """The masks for an index among `n`, which is one of `POLYNOMIALS`: one for each bit, the lowest first."""
    return tuple(sum(1 << bit for bit in bits) for bits in _BITS[n])


@inline
def hashed(index: int, higher: Any, masks: Any, bits: int) -> Any:
    """An index of so many bits, mixed with the address bits above it."""
    mixed = index
    for k in range(bits):
        mixed ^= (popcount(higher & masks[k]) & 1) << k
    return mixed


@njit
def set_of(c: Any, line_number: int) -> int:
    """The set of a line; `line_number` is its address divided by the bytes of a line."""
    if c.set_mask < 0:
        return line_number % c.sets
    if c.hashed == POLYNOMIAL:
        return hashed(line_number & c.set_mask, line_number >> c.set_bits, c.set_poly, c.set_bits)
    if c.hashed:  # address bits 13, 14, 15, 17 and 19 of lines of 128 bytes
        line_number ^= (line_number >> 6 & 7) | (line_number >> 10 & 1) << 3 | (line_number >> 12 & 1) << 4
    return line_number & c.set_mask
