"""The correspondence of two functions: of their statements, and of their registers and labels.

For the comparison of kernels, where renamed registers should not hide other changes.

1. Align the statements by their shapes, in which registers and labels are placeholders, and separately by shapes and
names as written. Each pair of statements votes for the correspondence of its names, in order. 2. Names correspond by
most votes, one to one; registers to registers, labels to labels. 3. Align again: two statements are the *same* if
their shapes are equal and their names correspond. Between these, statements of equal opcode pair up as *changed*; all
others are *removed* or *added*. 4. Names that are in no same statement correspond by their places in changed ones, or
else by being equal.

Of the two renamings, by shapes and by names, the one with more same statements is taken. A renaming is one to one: two
registers that became one leave differences, for the kernels may then compute different things. With `exact` every name
corresponds to itself.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from ptxtool.analysis.compare.alignment import Pairs, align
from ptxtool.analysis.flow.statements import Comparable, Entity

Kind = Literal["same", "changed", "removed", "added"]
Renaming = Mapping[Entity, Entity]


@dataclass(frozen=True)
class StatementPair:
    """A statement of the first function, one of the second, or one of each that correspond."""

    kind: Kind
    before: Comparable | None
    after: Comparable | None

    @property
    def is_instruction(self) -> bool:
        return any(side is not None and side.is_instruction for side in (self.before, self.after))


@dataclass(frozen=True)
class Correspondence:
    """The pairs in order, and the names of the second function by those of the first."""

    steps: tuple[StatementPair, ...]
    renaming: Renaming


def correspondence(
    before: Sequence[Comparable], after: Sequence[Comparable], exact: bool = False
) -> Correspondence:
    """Compare two lists of statements."""
    written = _as_written(before, after)
    if exact:
        return Correspondence(_steps(before, after, written), written)
    best: Correspondence | None = None
    most = -1
    for pairs in (align([c.shape for c in before], [c.shape for c in after]), _same(before, after, written)):
        renaming = _one_to_one(_elect((before[i], after[j]) for i, j in pairs))
        # vote again by the same statements: an alignment by shapes alone may have slipped
        again = _elect((before[i], after[j]) for i, j in _same(before, after, renaming))
        renaming = _one_to_one(again, renaming.items())
        changed = _elect((s.before, s.after) for s in _steps(before, after, renaming) if s.before and s.after)
        renaming = _one_to_one(renaming.items(), changed, written.items())
        steps = _steps(before, after, renaming)
        n = sum(step.kind == "same" for step in steps)
        if n > most:
            best, most = Correspondence(steps, renaming), n
    assert best is not None
    return best


def _as_written(before: Sequence[Comparable], after: Sequence[Comparable]) -> Renaming:
    """Every name corresponds to itself; of several registers of one name the first to the first."""
    places: list[dict[tuple[str, bool, int], Entity]] = []
    for side in (before, after):
        numbered: Counter[tuple[str, bool]] = Counter()
        found: dict[tuple[str, bool, int], Entity] = {}
        for entity in sorted({e for c in side for e in c.names}, key=lambda e: (e.register, e.name)):
            key = entity.name, entity.register >= 0
            found[*key, numbered[key]] = entity
            numbered[key] += 1
        places.append(found)
    return {entity: places[1][key] for key, entity in places[0].items() if key in places[1]}


def _elect(pairs: Iterable[tuple[Comparable, Comparable]]) -> list[tuple[Entity, Entity]]:
    """Corresponding names, those with most votes of pairs of statements first."""
    votes: Counter[tuple[Entity, Entity]] = Counter()
    for old, new in pairs:
        if len(old.names) == len(new.names):
            votes.update(zip(old.names, new.names, strict=True))
    # among equal votes an unchanged name wins, then the first in the text: a Counter keeps the order
    return sorted(votes, key=lambda pair: (-votes[pair], pair[0].name != pair[1].name))


def _one_to_one(*ranked: Iterable[tuple[Entity, Entity]]) -> Renaming:
    """Registers to registers and labels to labels, the first in rank first."""
    renaming: dict[Entity, Entity] = {}
    taken: set[Entity] = set()
    for old, new in chain(*ranked):
        if old not in renaming and new not in taken and (old.register < 0) == (new.register < 0):
            renaming[old] = new
            taken.add(new)
    return renaming


def _same(before: Sequence[Comparable], after: Sequence[Comparable], renaming: Renaming) -> Pairs:
    """The alignment of statements that are the same under a renaming."""
    first: list[Hashable] = [(c.shape, tuple(map(renaming.get, c.names))) for c in before]
    return align(first, [(c.shape, c.names) for c in after])


def _steps(
    before: Sequence[Comparable], after: Sequence[Comparable], renaming: Renaming
) -> tuple[StatementPair, ...]:
    steps: list[StatementPair] = []
    i = j = 0
    for a, b in [*_same(before, after, renaming), (len(before), len(after))]:
        changed = align([c.base for c in before[i:a]], [c.base for c in after[j:b]])
        for m, n in [*((i + x, j + y) for x, y in changed), (a, b)]:
            steps += (StatementPair("removed", c, None) for c in before[i:m])
            steps += (StatementPair("added", None, c) for c in after[j:n])
            if m < a and n < b:
                steps.append(StatementPair("changed", before[m], after[n]))
            i, j = m + 1, n + 1
        if a < len(before):
            steps.append(StatementPair("same", before[a], after[b]))
    return tuple(steps)
