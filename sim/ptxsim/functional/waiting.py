"""CTAs that wait for other CTAs, or for ever.

A run without time takes one CTA after the other. A CTA that spins until another one has stored something (a barrier of
the whole grid, a lock) must be swapped out for the others; one that waits for something that never happens must end.
Both look the same from inside: the state of the CTA, registers and memory included, returns to an earlier one, and
since execution is deterministic it will always return to it. `Watch` detects that by R. Brent's method: it keeps one
state and compares it with those that follow, and keeps a newer one whenever twice as many have been compared. A spin
that counts its rounds is not detected until the counter wraps around; the limit of instructions covers that case.

`Residents` swaps the state of a CTA out and in.

Reference: R. P. Brent, An improved Monte Carlo factorization algorithm, BIT 20 (1980), section 2.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

FIRST_LOOK = 200_000
"""Warp instructions of a CTA before the first look at its state."""
BYTES_PER_INSTRUCTION = 10
"""Bytes of state hashed per executed instruction: about a tenth of the time."""
MAX_SWAPPED_OUT = 4096
"""CTAs that are swapped out at a time."""


class Watch:
    """Detects that a CTA has returned to an earlier state."""

    def __init__(self, arrays: Sequence[Any]):
        self._arrays = arrays
        n_bytes = sum(int(a.nbytes) for a in arrays)
        self.interval = max(FIRST_LOOK // 4, n_bytes // BYTES_PER_INSTRUCTION)
        """Instructions between two looks."""
        self._cta = -1
        self.begin()

    def begin(self) -> None:
        self._known, self._looks, self._next = b"", 0, 1

    def repeats(self, cta: int) -> bool:
        """Whether the present state is the kept one of this CTA."""
        if cta != self._cta:
            self._cta = cta
            self.begin()
        state = digest(self._arrays)
        if state == self._known:
            return True
        self._looks += 1
        if self._looks == self._next:
            self._known, self._looks, self._next = state, 0, 2 * self._next
        return False


def digest(arrays: Sequence[Any]) -> bytes:
    """A hash of what arrays hold."""
    found = hashlib.blake2b(digest_size=16)
    for array in arrays:
        found.update(array.view("u1").data if array.flags.c_contiguous else array.tobytes())
    return found.digest()


class Residents:
    """The states of CTAs that are swapped out: copies of the arrays that belong to a CTA."""

    def __init__(self, arrays: Sequence[Any]):
        self._arrays = arrays
        self.swapped_out: dict[int, list[Any]] = {}
        """By the CTA's number."""

    def swap_out(self, cta: int) -> None:
        self.swapped_out[cta] = [array.copy() for array in self._arrays]

    def swap_in(self, cta: int) -> None:
        for array, kept in zip(self._arrays, self.swapped_out.pop(cta), strict=True):
            array[...] = kept
