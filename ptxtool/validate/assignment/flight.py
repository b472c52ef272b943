"""Registers that an asynchronous instruction still uses: nobody else may touch them until it was waited for.

For the check of register assignment. `wgmma.mma_async` reads and writes its accumulators and reads the fragments of
matrix A after it was issued, until `wgmma.wait_group N` has waited for its group; `tcgen05.ld` writes its results until
`tcgen05.wait::ld`, `tcgen05.st` reads its values until `tcgen05.wait::st`. A text that keeps to this as written could
break it by registers alone: by a spill behind the instruction, or by another value in the place of a fragment that is
read no more. A *flight* is a place so used, with the number of groups committed since; those that may be in the air are
a forward problem over the items' graph (union over predecessors).

What the original did is not judged: its own accesses to registers in flight are let pass.
Reference: PTX ISA, sections 9.7.15 and 9.7.16 (asynchronous warpgroup-level matrix instructions, tcgen05).
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from ptxtool.base.diag import Diagnostic
from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.nodes import Immediate, Instruction, Name, Vector
from ptxtool.validate.assignment.align import NONE
from ptxtool.validate.assignment.meaning import Reader
from ptxtool.validate.assignment.steps import Constant, Equal, Kept, Known, Step

_OLDEST = 16
"""No wait names so many groups: what is older is waited for as if it were that old."""


class Flight(NamedTuple):
    """A value in a place that an instruction ("wgmma", "ld", "st") uses, and how many groups were committed since."""

    value: int
    place: int
    is_written: bool
    kind: str
    age: int = 0


def touched_in_flight(
    reader: Reader,
    cfg: Cfg,
    items: Sequence[tuple[int, int]],
    steps: Sequence[Step],
    sharing: Mapping[int, tuple[int, ...]],
) -> Iterator[Diagnostic]:
    """E303 for every place that is touched while an instruction may still use it."""
    after = reader.after
    if not any(_launches(after.instructions[j]) for j in after.at_bases("wgmma", "tcgen05")):
        return
    walk = _Walk(reader, items, steps, sharing)
    rank = {block: n for n, block in enumerate(cfg.reverse_postorder)}
    into: dict[int, frozenset[Flight]] = {block: frozenset() for block in rank}
    work = sorted((rank[block], block) for block in rank if block != cfg.exit)
    waiting = set(rank)
    while work:
        _, block = heappop(work)
        waiting.discard(block)
        out = into[block]
        for item in cfg.blocks[block].instructions:
            out = walk.after(item, out)
        for successor in cfg.successors[block]:
            if not out <= into[successor]:
                into[successor] |= out
                if successor != cfg.exit and successor not in waiting:
                    waiting.add(successor)
                    heappush(work, (rank[successor], successor))
    for block in sorted(rank.keys() - {cfg.exit}):
        flights = into[block]
        for item in cfg.blocks[block].instructions:
            yield from walk.problems(item, flights)
            flights = walk.after(item, flights)


def _launches(node: Instruction) -> str:
    """What an instruction leaves in flight: "wgmma", "ld", "st", or ""."""
    words = (node.opcode.base, *node.opcode.modifiers[:1])
    if words == ("wgmma", "mma_async"):
        return "wgmma"
    return words[1] if words in (("tcgen05", "ld"), ("tcgen05", "st")) else ""


class _Walk:
    def __init__(
        self,
        reader: Reader,
        items: Sequence[tuple[int, int]],
        steps: Sequence[Step],
        sharing: Mapping[int, tuple[int, ...]],
    ) -> None:
        self.reader, self.items, self.steps, self.sharing = reader, items, steps, sharing

    def after(self, item: int, flights: frozenset[Flight]) -> frozenset[Flight]:
        """What is in the air behind an item."""
        i, j = self.items[item]
        step = self.steps[item]
        if i == NONE or j == NONE or not isinstance(step, Kept):
            return flights
        node = self.reader.before.instructions[i]
        base, first = node.opcode.base, next(iter(node.opcode.modifiers), "")
        if base == "tcgen05" and first.startswith("wait::"):
            return frozenset(f for f in flights if f.kind != first.removeprefix("wait::"))
        if base == "wgmma" and first == "commit_group":
            return frozenset(
                f._replace(age=min(f.age + 1, _OLDEST)) if f.kind == "wgmma" else f for f in flights
            )
        if base == "wgmma" and first == "wait_group":
            left = node.operands[0]
            n = int(left.text, 0) if isinstance(left, Immediate) else _OLDEST
            return frozenset(f for f in flights if f.kind != "wgmma" or f.age <= n)
        kind = _launches(node)
        return flights.union(self._launched(step, node, i, kind)) if kind else flights

    def _launched(self, step: Kept, node: Instruction, i: int, kind: str) -> Iterator[Flight]:
        yield from (Flight(value, place, True, kind) for value, place, _ in step.writes)
        fragment = node.operands[1] if len(node.operands) > 1 else None
        if isinstance(fragment, Vector):
            registers = self.reader.before.registers
            inside = {registers.resolve_index(o.text, i) for o in fragment.items if isinstance(o, Name)}
            yield from (Flight(value, place, False, kind) for value, place in step.reads if value in inside)

    def problems(self, item: int, flights: frozenset[Flight]) -> Iterator[Diagnostic]:
        """What an item touches that is in the air; an instruction of the original may touch its own values."""
        step = self.steps[item]
        if not flights or isinstance(step, Equal | Known):
            return
        written: list[tuple[int, int]]
        if isinstance(step, Kept):
            read, written = NONE, [(place, value) for value, place, _ in step.writes]
        else:
            read, written = NONE if isinstance(step, Constant) else step.source, [(step.to, NONE)]
        for flight in sorted(flights):
            for place, value in written:
                if value != flight.value and flight.place in self.sharing[place]:
                    yield self._told(item, place, "is overwritten", flight)
                    return
            if flight.is_written and read != NONE and flight.place in self.sharing[read]:
                yield self._told(item, read, "is read", flight)
                return

    def _told(self, item: int, place: int, what: str, flight: Flight) -> Diagnostic:
        user = {"wgmma": "wgmma.mma_async", "ld": "tcgen05.ld", "st": "tcgen05.st"}[flight.kind]
        wait = {"wgmma": "wgmma.wait_group", "ld": "tcgen05.wait::ld", "st": "tcgen05.wait::st"}[flight.kind]
        node = self.reader.after.instructions[self.items[item][1]]
        message = f"'{self.reader.places.name(place)}' {what} while '{user}' may still use it"
        name = self.reader.before.registers[flight.value].name
        help = f"it holds '{name}' for that instruction until '{wait}'"
        return Diagnostic("E303", message, self.reader.after.source, node.start, node.end, help)
