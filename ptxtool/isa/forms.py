"""What a row of the instruction table becomes: a `Form`, its groups of modifiers, what has it and what excludes what.

For all that asks what an instruction looks like; `rows` reads forms, `table` chooses between them.
"""

from collections.abc import Mapping
from functools import cached_property

import msgspec

from ptxtool.isa.operands import OperandSpec


class ModifierGroup(msgspec.Struct, frozen=True):
    """One place in the printing order. `slot` is "T", "S", "U" or "V" for a type, `name` that of a `$name`; else "".

    One that is `leading` stands directly after the opcode.
    """

    alternatives: tuple[str, ...]
    optional: bool
    slot: str = ""
    name: str = ""
    leading: bool = False


class Since(msgspec.Struct, frozen=True):
    """What has a form, or a modifier of it: a PTX version as (major, minor), and targets, one of which is needed."""

    version: tuple[int, int] = (1, 0)
    targets: tuple[str, ...] = ()


class Term(msgspec.Struct, frozen=True):
    """Part of an exclusion: one of the words is there, or with `absent` none of them."""

    words: frozenset[str]
    absent: bool = False

    def holds(self, words: frozenset[str]) -> bool:
        return self.words.isdisjoint(words) == self.absent


class Form(msgspec.Struct, frozen=True, dict=True):
    """One row. `since` is keyed by modifier or type, "" for the form itself.

    An opcode of which all terms of one of `exclusions` hold does not fit.
    """

    base: str
    index: int
    operands: tuple[OperandSpec, ...]
    groups: tuple[ModifierGroup, ...]
    unit: str
    sem: str
    effects: frozenset[str]
    implicit: tuple[tuple[str, str], ...]
    dialect: str
    since: Mapping[str, Since]
    family: str
    exclusions: tuple[tuple[Term, ...], ...] = ()
    until: Since | None = None
    refused: str = ""
    """Why the simulator refuses it, where it has no meaning."""

    def is_gone(self, version: tuple[int, int], target: int) -> bool:
        """Whether a PTX version and a target (`sm_90a`: 90) no longer have the form."""
        if self.until is None:
            return False
        return version > self.until.version and all(target > int(t) for t in self.until.targets)

    def clash(self, words: frozenset[str]) -> tuple[Term, ...]:
        """The first exclusion that an opcode's modifiers and types violate, empty if none."""
        return next((terms for terms in self.exclusions if all(t.holds(words) for t in terms)), ())

    @property
    def wide(self) -> bool:
        """True where the result is twice as wide as the type."""
        return bool(self.operands) and self.operands[0].doubled

    @cached_property
    def words(self) -> frozenset[str]:
        """Everything that may follow a dot of the opcode, the key's own words left out."""
        return frozenset(word for g in self.groups for a in g.alternatives for word in a.split("."))

    @cached_property
    def min_operands(self) -> int:
        return sum(not o.optional for o in self.operands)

    @property
    def max_operands(self) -> int:
        return len(self.operands)
