"""The effects of an alignment's items on values and places: the steps that the check of register assignment walks.

A *value* is the content of an old register: its index in the function before. The numbers from `n_values` on are the
same registers as words (1 for a true predicate, 0 for a false one), those from 2 and 3 * `n_values` on their low and
high halves. Where the kernel before has slots of threads, these are values as well, numbered after its registers and
included in `n_values`. A *place* is a number of `places.py`.
"""

from typing import NamedTuple

import msgspec


class StepGuard(NamedTuple):
    """The guard of an instruction: the place of the predicate, its negation, its condition in PTXPlus."""

    place: int
    negated: bool
    condition: str


class Kept(msgspec.Struct, frozen=True, gc=False):
    """An instruction of the original: (value, place) pairs that it reads, and those that it writes.

    In `partial` are writes after which some lanes or bits have the old value. Of a constant definition, `alike` are the
    values that are the same constant. With `merges` some result is a part of a register.
    """

    reads: tuple[tuple[int, int], ...]
    writes: tuple[tuple[int, int], ...]
    partial: tuple[tuple[int, int], ...] = ()
    alike: frozenset[int] = frozenset()
    guard: StepGuard | None = None
    merges: bool = False


class Equal(NamedTuple):
    """A dropped copy: from here on the value equals another one. Those in `lost` are overwritten with it."""

    value: int
    other: int
    lost: tuple[int, ...] = ()


class Known(NamedTuple):
    """A dropped constant definition."""

    value: int


class Move(msgspec.Struct, frozen=True, gc=False):
    """An inserted copy, spill or reload: a place holds the values of another one, where the guard is true."""

    to: int
    source: int
    guard: StepGuard | None = None


class Convert(NamedTuple):
    """An inserted copy of a predicate to a word, or of a word to a predicate."""

    to: int
    source: int
    is_to_word: bool


class Halves(NamedTuple):
    """An inserted `mov.b64` from a register to two of half its width, or back (`is_whole`)."""

    low: int
    high: int
    whole: int
    is_whole: bool


class Recompute(NamedTuple):
    """A constant definition written again: a place holds each of these values whose sources are where they are read.

    `values` has per value the (value, place) pairs of its sources.
    """

    to: int
    values: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]


Step = Kept | Equal | Known | Move | Convert | Halves | Recompute
