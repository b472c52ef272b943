"""Registers that an asynchronous instruction still uses: no other instruction may touch them until a wait for it.

For the check of register assignment. `wgmma.mma_async` reads and writes its accumulators and reads the fragments of
matrix A after it was issued, until `wgmma.wait_group N` has waited for its group; `tcgen05.ld` writes its results until
`tcgen05.wait::ld`, `tcgen05.st` reads its values until `tcgen05.wait::st`. A pass could break this by registers alone:
by a spill after the instruction, or by another value in the place of a fragment whose last read was the instruction. A
*flight* is a place in such use, with the number of groups committed since. The flights that may be pending at a point
are a forward problem over the items' graph (union over predecessors).

The original is not judged: its own accesses to registers in flight are allowed.
Reference: PTX ISA, sections 9.7.15 and 9.7.16 (asynchronous warpgroup-level matrix instructions, tcgen05).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ptxtool.base.diag import Diagnostic
from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.nodes import Immediate, Instruction, Name, Vector
from ptxtool.validate.assignment.align import NONE
from ptxtool.validate.assignment.flow import fixed_point
from ptxtool.validate.assignment.meaning import StepReader
from ptxtool.validate.assignment.steps import Equal, Halves, Kept, Known, Recompute, Step
from ptxtool.validate.functions import wrong

_USERS = {
    "wgmma": ("wgmma.mma_async", "wgmma.wait_group"),
    "ld": ("tcgen05.ld", "tcgen05.wait::ld"),
    "st": ("tcgen05.st", "tcgen05.wait::st"),
}
"""The instructions of each kind, and those that wait for them."""
_OLDEST = 16
"""No wait names so many groups: older groups count as that old."""


class Flight(NamedTuple):
    """A value in a place that an instruction ("wgmma", "ld", "st") uses, and how many groups were committed since."""

    value: int
    place: int
    is_written: bool
    kind: str
    age: int = 0


def _launches(node: Instruction) -> str:
    """What an instruction leaves in flight: "wgmma", "ld", "st", or ""."""
    words = (node.opcode.base, *node.opcode.modifiers[:1])
    if words == ("wgmma", "mma_async"):
        return "wgmma"
    return words[1] if words in (("tcgen05", "ld"), ("tcgen05", "st")) else ""


@dataclass(frozen=True)
class FlightCheck:
    """The check of one function."""

    reader: StepReader
    cfg: Cfg
    items: Sequence[tuple[int, int]]
    steps: Sequence[Step]
    overlaps: Mapping[int, tuple[int, ...]]

    def run(self) -> Iterator[Diagnostic]:
        """E303 for every place that is touched while an instruction may still use it."""
        cfg, new = self.cfg, self.reader.after
        if not any(_launches(new.instructions[j]) for j in new.at_bases("wgmma", "tcgen05")):
            return

        def meet(block: int, out: Mapping[int, frozenset[Flight]]) -> frozenset[Flight]:
            return frozenset[Flight]().union(*(out[p] for p in cfg.predecessors_by_node[block] if p in out))

        def transfer(block: int, flights: frozenset[Flight]) -> frozenset[Flight]:
            for item in cfg.blocks[block].instructions:
                flights = self.after(item, flights)
            return flights

        for block, flights in sorted(fixed_point(cfg, meet, transfer).items()):
            for item in cfg.blocks[block].instructions:
                yield from self.problems(item, flights)
                flights = self.after(item, flights)

    def after(self, item: int, flights: frozenset[Flight]) -> frozenset[Flight]:
        """The flights after an item."""
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
        yield from (Flight(value, place, True, kind) for value, place in step.writes)
        fragment = node.operands[1] if len(node.operands) > 1 else None
        if isinstance(fragment, Vector):
            registers = self.reader.before.registers
            inside = {registers.resolve_index(o.text, i) for o in fragment.items if isinstance(o, Name)}
            yield from (Flight(value, place, False, kind) for value, place in step.reads if value in inside)

    def problems(self, item: int, flights: frozenset[Flight]) -> Iterator[Diagnostic]:
        """The flights that an item touches; an instruction of the original may touch its own values."""
        step = self.steps[item]
        if not flights or isinstance(step, Equal | Known):
            return
        read: tuple[int, ...] = ()
        written: list[tuple[int, int]]
        if isinstance(step, Kept):
            written = [(place, value) for value, place in step.writes]
        elif isinstance(step, Halves):
            halves, whole = (step.low, step.high), (step.whole,)
            read, to = (halves, whole) if step.is_whole else (whole, halves)
            written = [(place, NONE) for place in to]
        else:
            read, written = () if isinstance(step, Recompute) else (step.source,), [(step.to, NONE)]
        for flight in sorted(flights):
            for place, value in written:
                if value != flight.value and flight.place in self.overlaps[place]:
                    yield self._diagnostic(item, place, "is overwritten", flight)
                    return
            for place in read:
                if flight.is_written and flight.place in self.overlaps[place]:
                    yield self._diagnostic(item, place, "is read", flight)
                    return

    def _diagnostic(self, item: int, place: int, what: str, flight: Flight) -> Diagnostic:
        user, wait = _USERS[flight.kind]
        node = self.reader.after.instructions[self.items[item][1]]
        message = f"'{self.reader.places.name(place)}' {what} while '{user}' may still use it"
        name = self.reader.before.registers[flight.value].name
        help = f"it holds '{name}' for that instruction until '{wait}'"
        return wrong(message, self.reader.after.source, node, help)
