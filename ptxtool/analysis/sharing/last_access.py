"""An order of instructions in which the last accesses to the shared scratchpad come early: for `hoist-last-access`.

A scheduling region has two parts: the instructions that access the shared part, with those they depend on, and the
rest. The first part does not depend on the rest. So a merge of the two, each in its own order, is legal if no
instruction of the rest comes before one of the first part that it depends on, and the last access comes earliest where
the first part precedes the rest. If that keeps too many registers live, a list scheduler takes the first part as long
as it fits, and the rest until it fits again.

Live registers are counted forwards: a value lives until the last of its readers in the region has been placed, or to
the end if it is live there. Registers of waiting lanes (`liveness.py`) are live everywhere.

Reference: S. Muchnick, "Advanced Compiler Design and Implementation", section 17.1.2 (list scheduling).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ptxtool.analysis.flow.dependence import Effect, Resource
from ptxtool.analysis.flow.liveness import Liveness
from ptxtool.analysis.flow.pressure import FILES, weight_of
from ptxtool.base.bits import indices

Limits = Mapping[str, int]
"""Registers by file (`pressure.FILES`), general ones in units of 32 bits."""


def hoisted(
    region: range, touches: Sequence[bool], effects: Sequence[Effect], live: Liveness, limits: Limits
) -> list[int]:
    """A region in the order with its last touch as early as possible and no more than `limits` live anywhere; in its
    own order if none is found."""
    first = _needed(region, effects, touches)
    tried = dict(limits)
    while min(tried.values()) >= 0:
        order, most = _merge(region, first, effects, live, tried)
        excess = {file: max(0, most[file] - limits[file]) for file in FILES}
        if not any(excess.values()):
            return order
        # an instruction that had to come in between added more live registers than it ended: keep that many free
        tried = {file: tried[file] - excess[file] for file in FILES}
    return list(region)


def _needed(region: range, effects: Sequence[Effect], touches: Sequence[bool]) -> list[int]:
    """The instructions of a region that touch the shared part, and those that they depend on, in order."""
    found: list[int] = []
    reads, writes = set[Resource](), set[Resource]()  # of those found so far, which come later
    for i in reversed(region):
        own = effects[i]
        if touches[i] or not (own.writes.isdisjoint(reads | writes) and own.reads.isdisjoint(writes)):
            found.append(i)
            reads |= own.reads
            writes |= own.writes
    found.reverse()
    return found


def _merge(
    region: range, first: Sequence[int], effects: Sequence[Effect], live: Liveness, limits: Limits
) -> tuple[list[int], Limits]:
    """`first`, with as much of the rest in between as keeps it within the limits, if that is possible, and then the
    remaining rest; and the registers live at most."""
    members = set(first)
    rest = [i for i in region if i not in members]
    waits = _waits(region, members, effects)
    count = _LiveCount(region, live)
    order: list[int] = []
    n_first = n_rest = 0
    while len(order) < len(region):
        takes_rest = n_first == len(first)
        if not takes_rest and n_rest < len(rest) and waits[rest[n_rest]] < first[n_first]:
            takes_rest = not count.fits(first[n_first], rest[n_rest], limits)
        if takes_rest:
            order.append(rest[n_rest])
            n_rest += 1
        else:
            order.append(first[n_first])
            n_first += 1
        count.place(order[-1])
    return order, count.most


def _waits(region: range, members: set[int], effects: Sequence[Effect]) -> dict[int, int]:
    """Per instruction of the rest, the last of the members that it depends on; -1 for none."""
    written: dict[Resource, int] = {}
    named: dict[Resource, int] = {}
    found: dict[int, int] = {}
    for i in region:
        own = effects[i]
        if i in members:
            for resource in own.writes:
                written[resource] = named[resource] = i
            for resource in own.reads:
                named[resource] = i
        else:
            found[i] = max(
                max((written.get(r, -1) for r in own.reads), default=-1),
                max((named.get(r, -1) for r in own.writes), default=-1),
            )
    return found


class _LiveCount:
    """The registers live while the instructions of a region are placed one by one."""

    def __init__(self, region: range, live: Liveness):
        self._steps = live.def_uses
        self._registers = live.registers
        block = live.cfg.block_of[region.start]
        self._always = live.waiting[block]
        self._at_end = live.after_bits[region[-1]]
        # of each value of a register, in order
        self._readers: dict[int, list[int]] = defaultdict(lambda: [0])
        for i in region:
            for k in self._steps[i].uses:
                self._readers[k][-1] += 1
            for k in self._steps[i].kills:
                self._readers[k].append(0)
        self._now = dict.fromkeys(FILES, 0)
        self._count(self._now, ((k, 1) for k in indices(live.before_bits[region.start])))
        self.most = dict(self._now)

    def place(self, i: int) -> None:
        """The next instruction is i."""
        self._count(self._now, self._changes(i))
        self.most = {file: max(self.most[file], self._now[file]) for file in FILES}
        for k in self._steps[i].uses:
            self._readers[k][0] -= 1
        for k in self._steps[i].kills:
            self._readers[k].pop(0)

    def fits(self, i: int, following: int, limits: Limits) -> bool:
        """Whether few enough are live after i, and then after another that does not depend on it."""
        after = dict(self._now)
        self._count(after, self._changes(i))
        then = dict(after)
        self._count(then, self._changes(following))
        return all(max(after[f], then[f]) <= max(limits[f], self._now[f]) for f in FILES)

    def _changes(self, i: int) -> list[tuple[int, int]]:
        """Registers that become live after i (1), or cease to be (-1)."""
        step = self._steps[i]
        found: list[tuple[int, int]] = []
        for k in {*step.uses, *step.kills}:
            if self._always >> k & 1:
                continue
            values = self._readers[k]
            before = self._is_live(k, values[0], len(values) == 1)
            killed = k in step.kills
            after = self._is_live(k, values[1] if killed else values[0] - 1, len(values) == 1 + killed)
            if before != after:
                found.append((k, 1 if after else -1))
        return found

    def _is_live(self, k: int, readers: int, is_last: bool) -> bool:
        return readers > 0 or (is_last and bool(self._at_end >> k & 1))

    def _count(self, counts: dict[str, int], changes: Iterable[tuple[int, int]]) -> None:
        for k, sign in changes:
            file, units = weight_of(self._registers[k])
            counts[file] += sign * units
