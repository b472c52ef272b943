"""Slices that are drawn by lot: a chunk of the address space gets one when it is first touched, and keeps it.

The lots are those of the C library's `rand()` with its first seed, so that slices are those of GPGPU-Sim 4.2, which
draws them for chunks of half the address map's: r(k) = r(k - 3) + r(k - 31), of which the lowest bit is not used.
Copies touch chunks before a launch does (`timing/memory/copied.py`).

Handled simply: chunks beyond the 57,344 KB for which there is room get a slice by a hash of their number.
Reference: timing-model section 3.5; GPGPU-Sim 4.2, addrdec.cc (`RANDOM`); GNU C library, `random_r.c`, of type 3.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import njit
from ptxsim.timing.memory.memory_state import CHUNKS, RANDOM_WORDS

_MOST = CHUNKS // 8 * 7
_LAG = 3
_DISCARDED = 310  # numbers that the library discards after it has seeded its words


def first_words(seed: int = 1) -> list[int]:
    """The last 31 words of the generator before its first number, the oldest first."""
    words = [seed]
    while len(words) < RANDOM_WORDS:
        words.append(words[-1] * 16807 % 0x7FFFFFFF)
    words = words[_LAG:] + words[:_LAG]  # numbers 31 to 33 are the first three words again
    for _ in range(_DISCARDED):
        words = [*words[1:], (words[0] + words[-_LAG]) & 0xFFFFFFFF]
    return words


@njit
def next_random(memory: Any) -> int:
    """The next number, of 31 bits."""
    at = memory.random_at
    word: Any = np.int64(memory.random_word[at])
    word = (word + np.int64(memory.random_word[(at + RANDOM_WORDS - _LAG) % RANDOM_WORDS])) & 0xFFFFFFFF
    memory.random_word[at] = word
    memory.random_at = (at + 1) % RANDOM_WORDS
    return word >> 1


@njit
def scattered(memory: Any, chunk: int) -> int:
    """The slice of a chunk, which is drawn if nothing has touched the chunk before."""
    at: Any = (chunk ^ chunk >> 19) & (CHUNKS - 1)
    while memory.chunk[at] != chunk + 1:
        if memory.chunk[at] == 0:
            if memory.n_chunks >= _MOST:
                return (chunk ^ chunk >> 7) % memory.n_slices
            memory.chunk[at] = chunk + 1
            memory.chunk_slice[at] = next_random(memory) % memory.n_slices
            memory.n_chunks += 1
            break
        at = (at + 1) & (CHUNKS - 1)
    found: Any = np.int64(memory.chunk_slice[at])
    return found
