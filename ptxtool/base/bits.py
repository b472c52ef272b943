"""Bit sets in Python integers: bit k stands for element k.

For dataflow and live-register vectors. Union, intersection and difference are `|`, `&` and `& ~`;
`int.bit_count()` counts. Here is what the integers lack: their elements, and their 64-bit words, least
significant first.
"""

import struct
from collections.abc import Iterable

WORD_BITS = 64
_SPARSE = 512
"""With fewer elements than one per so many bits, a set is taken apart element by element."""


def from_indices(indices: Iterable[int]) -> int:
    """The set of the given elements."""
    data = bytearray()  # shifting an integer for every element would be quadratic
    for index in indices:
        place = index >> 3
        if place >= len(data):
            data.extend(bytes(place + 1 - len(data)))
        data[place] |= 1 << (index & 7)
    return int.from_bytes(data, "little")


def indices(bits: int) -> tuple[int, ...]:
    """The elements in ascending order."""
    found: list[int] = []
    if bits.bit_count() * _SPARSE < bits.bit_length():
        while bits:
            low = bits & -bits
            found.append(low.bit_length() - 1)
            bits ^= low
        return tuple(found)
    for base, word in enumerate(to_words(bits, word_count(bits.bit_length()))):
        first = base * WORD_BITS - 1
        while word:
            low = word & -word
            found.append(first + low.bit_length())
            word ^= low
    return tuple(found)


def word_count(n_bits: int) -> int:
    """How many 64-bit words hold that many bits; at least 1."""
    return max(1, -(-n_bits // WORD_BITS))


def to_words(bits: int, n_words: int) -> tuple[int, ...]:
    """The set as 64-bit words, the one with elements 0 to 63 first. The set must fit."""
    return struct.unpack(f"<{n_words}Q", bits.to_bytes(n_words * 8, "little"))


def from_words(words: Iterable[int]) -> int:
    """The set that `to_words` took apart."""
    return int.from_bytes(b"".join(word.to_bytes(8, "little") for word in words), "little")
