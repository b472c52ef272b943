"""Registers that trade places so that fewer operands lie in one bank.

The conflicts of an arrangement are counted by pairs: of two units that an instruction reads, in one bank. The two
entries, of as many units, whose exchange saves most of them trade places, until no exchange saves any (hill climbing;
of equal ones the first). With T the pairs that are read together and c(e, b) = sum of T(e, x) over all x in bank b,
exchanging e and f, in other banks, saves

    c(e, bank of e) + c(f, bank of f) - c(e, bank of f) - c(f, bank of e) + 2 T(e, f)

Not handled: entries of different sizes do not trade places, nor those of `n_banks` units, whose banks are all.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ptxtool.analysis.flow.accesses import Numbers

Matrix = npt.NDArray[np.int64]


def traded(
    reads: tuple[Numbers, Numbers],
    units: Mapping[int, int],
    n_banks: int,
    pinned: frozenset[int] = frozenset(),
) -> dict[int, int]:
    """The new first unit of every entry by its old one.

    `reads` are instructions, in ascending order, and units that they read, each once; `units` is the number of units of
    every entry by its first, which is aligned to it; entries in `pinned` stay.
    """
    n_units = max((first + n for first, n in units.items()), default=0)
    together = _together(*reads, n_units)
    classes = [
        (n, np.array(sorted(f for f in units if units[f] == n and f not in pinned), np.int64))
        for n in {*units.values()}
        if n < n_banks
    ]
    place = np.arange(n_units)
    while True:
        in_bank = (place % n_banks)[:, None] == np.arange(n_banks)
        cost = together @ in_bank.astype(np.int64)
        most, n, first, second = max(
            (_best(together, cost, place % n_banks, *some) for some in classes), default=(0,) * 4
        )
        if most <= 0:
            return {entry: int(place[entry]) for entry in units}
        here, there = slice(first, first + n), slice(second, second + n)
        place[here], place[there] = place[there].copy(), place[here].copy()


def _together(instruction: Numbers, unit: Numbers, n_units: int) -> Matrix:
    """How often each two units are read by one instruction."""
    pairs = np.zeros(n_units * n_units, np.int64)
    for distance in range(1, len(unit)):
        same = instruction[distance:] == instruction[:-distance]
        if not same.any():
            break
        keys = unit[:-distance][same] * n_units + unit[distance:][same]
        pairs += np.bincount(keys, minlength=len(pairs))
    found = pairs.reshape(n_units, n_units)
    return found + found.T


def _best(together: Matrix, cost: Matrix, bank: Matrix, n: int, entries: Matrix) -> tuple[int, int, int, int]:
    """The exchange of two entries of n units that saves most: the conflicts saved, n, and the entries."""
    if not len(entries):
        return 0, n, 0, 0
    saved = np.zeros((len(entries), len(entries)), np.int64)
    for k in range(n):
        unit = entries + k
        there = cost[unit][:, bank[unit]]  # [e, f]: what e costs in the bank of f
        here = there.diagonal()
        saved += here[:, None] + here - there - there.T + 2 * together[np.ix_(unit, unit)]
    saved[bank[entries][:, None] == bank[entries]] = 0
    e, f = np.unravel_index(int(saved.argmax()), saved.shape)
    return int(saved[e, f]), n, int(entries[e]), int(entries[f])
