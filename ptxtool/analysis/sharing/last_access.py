"""An order of instructions in which the last accesses to the shared scratchpad come early: for `hoist-last-access`.

A stretch of instructions has two parts: those that access the shared part or that something in this set depends on, and
the rest. Nothing in the first depends on the rest. So every merge of the two, each in its own order, is right in which
no instruction of the rest comes before one of the first part that it depends on, and the last access comes earliest
where the first part is before the rest. If that keeps too many registers live, a list scheduler takes the first part as
long as it fits, and the rest until it fits again.

Live registers are counted forwards: a value lives until the last of its readers in the stretch has been placed, or to
the end if it is live there. Registers that lanes hold which wait elsewhere (`liveness.py`) are live everywhere.

Reference: S. Muchnick, "Advanced Compiler Design and Implementation", section 17.1.2 (list scheduling).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ptxtool.analysis.flow.dependence import Effect, Resource
from ptxtool.analysis.flow.liveness import Liveness
from ptxtool.analysis.flow.pressure import FILES, weight_of
from ptxtool.base.bits import indices

Limits = Mapping[str, int]
"""Registers by file (`pressure.FILES`), general ones in units of 32 bits."""


def hastened(
    stretch: range, touches: Sequence[bool], done: Sequence[Effect], live: Liveness, limits: Limits
) -> list[int]:
    """A stretch in the order with its last touch as early as can be; no more than `limits` are live anywhere in it. The
    order it has, where none is found that keeps them."""
    first = _needed(stretch, done, touches)
    tried = dict(limits)
    while min(tried.values()) >= 0:
        order, most = _merge(stretch, first, done, live, tried)
        excess = {file: max(0, most[file] - limits[file]) for file in FILES}
        if not any(excess.values()):
            return order
        # an instruction that had to come in between took more than it gave back: leave room for its like
        tried = {file: tried[file] - excess[file] for file in FILES}
    return list(stretch)


def _needed(stretch: range, done: Sequence[Effect], touches: Sequence[bool]) -> list[int]:
    """The instructions of a stretch that touch something, and those that they depend on, in order."""
    found: list[int] = []
    reads, writes = set[Resource](), set[Resource]()  # of those found so far, which come later
    for i in reversed(stretch):
        own = done[i]
        if touches[i] or not (own.writes.isdisjoint(reads | writes) and own.reads.isdisjoint(writes)):
            found.append(i)
            reads |= own.reads
            writes |= own.writes
    found.reverse()
    return found


def _merge(
    stretch: range, first: Sequence[int], done: Sequence[Effect], live: Liveness, limits: Limits
) -> tuple[list[int], Limits]:
    """`first`, and between them as much of the rest as they need to stay within the limits, if that is possible; then
    what is left of the rest. And the registers live at most."""
    members = set(first)
    rest = [i for i in stretch if i not in members]
    waits = _waits(stretch, members, done)
    count = _LiveCount(stretch, live)
    order: list[int] = []
    ahead = behind = 0
    while len(order) < len(stretch):
        takes_rest = ahead == len(first)
        if not takes_rest and behind < len(rest) and waits[rest[behind]] < first[ahead]:
            takes_rest = not count.fits(first[ahead], rest[behind], limits)
        if takes_rest:
            order.append(rest[behind])
            behind += 1
        else:
            order.append(first[ahead])
            ahead += 1
        count.place(order[-1])
    return order, count.most


def _waits(stretch: range, members: set[int], done: Sequence[Effect]) -> dict[int, int]:
    """Per instruction of the rest, the last of the members that it depends on; -1 for none."""
    written: dict[Resource, int] = {}
    named: dict[Resource, int] = {}
    found: dict[int, int] = {}
    for i in stretch:
        own = done[i]
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
    """The registers live while the instructions of a stretch are placed one by one."""

    def __init__(self, stretch: range, live: Liveness):
        self._steps = live.def_uses
        self._registers = live.registers
        block = live.cfg.block_of[stretch.start]
        self._always = live.waiting[block]
        self._at_end = live.after_bits[stretch[-1]]
        self._readers: dict[int, list[int]] = defaultdict(
            lambda: [0]
        )  # of each value of a register, in order
        for i in stretch:
            for k in self._steps[i].uses:
                self._readers[k][-1] += 1
            for k in self._steps[i].kills:
                self._readers[k].append(0)
        self._now = dict.fromkeys(FILES, 0)
        for k in indices(live.before_bits[stretch.start]):
            self._count(self._now, k, 1)
        self.most = dict(self._now)

    def place(self, i: int) -> None:
        """The next instruction is i."""
        for k, sign in self._changes(i):
            self._count(self._now, k, sign)
        self.most = {file: max(self.most[file], self._now[file]) for file in FILES}
        for k in self._steps[i].uses:
            self._readers[k][0] -= 1
        for k in self._steps[i].kills:
            self._readers[k].pop(0)

    def fits(self, i: int, following: int, limits: Limits) -> bool:
        """Whether there are few enough live behind i, and then behind another that does not depend on it."""
        behind = dict(self._now)
        for k, sign in self._changes(i):
            self._count(behind, k, sign)
        then = dict(behind)
        for k, sign in self._changes(following):
            self._count(then, k, sign)
        return all(max(behind[f], then[f]) <= max(limits[f], self._now[f]) for f in FILES)

    def _changes(self, i: int) -> list[tuple[int, int]]:
        """Registers that are live behind i and were not (1), or were and are not (-1)."""
        step = self._steps[i]
        found: list[tuple[int, int]] = []
        for k in {*step.uses, *step.kills}:
            if self._always >> k & 1:
                continue
            values = self._readers[k]
            before = self._is_live(k, values[0], len(values) == 1)
            if k in step.kills:
                after = self._is_live(k, values[1], len(values) == 2)
            else:
                after = self._is_live(k, values[0] - 1, len(values) == 1)
            if before != after:
                found.append((k, 1 if after else -1))
        return found

    def _is_live(self, k: int, readers: int, is_last: bool) -> bool:
        return readers > 0 or (is_last and bool(self._at_end >> k & 1))

    def _count(self, counts: dict[str, int], k: int, sign: int) -> None:
        file, units = weight_of(self._registers[k])
        counts[file] += sign * units
