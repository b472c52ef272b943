"""Natural loops and their nesting.

An edge to a block that dominates its source closes a loop; the loop is every block that reaches the edge without
passing the header. Loops with one header are one loop. A loop's parent is the smallest other loop around its header. A
cycle that can be entered at two blocks has no header and is no natural loop: the edges that close such cycles are
listed in `irreducible`. Calls are not followed (the plain view of the graph).

Reference: A. Aho et al., "Compilers", 2nd edition, section 9.6.
"""

from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.dominance import dominators
from ptxtool.ir.nodes import Function


class Loop(msgspec.Struct, frozen=True):
    """One loop. `depth` is 1 for an outermost one; `parent` indexes `Loops.loops`; `latches` jump back."""

    index: int
    header: int
    latches: tuple[int, ...]
    blocks: frozenset[int]
    depth: int
    parent: int | None
    exits: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Loops:
    """The loops of one function, outer before inner, otherwise by header."""

    cfg: Cfg = field(repr=False)
    loops: tuple[Loop, ...]
    irreducible: tuple[tuple[int, int], ...]

    @cached_property
    def _innermost(self) -> tuple[int | None, ...]:
        found: list[int | None] = [None] * (len(self.cfg.blocks) + 1)
        for loop in self.loops:  # inner loops come later and overwrite
            for block in loop.blocks:
                found[block] = loop.index
        return tuple(found)

    def loop_of(self, block: int) -> Loop | None:
        """The innermost loop around a block."""
        index = self._innermost[block]
        return None if index is None else self.loops[index]

    def depth(self, block: int) -> int:
        """How many loops are around a block."""
        loop = self.loop_of(block)
        return loop.depth if loop else 0

    def __str__(self) -> str:
        if not self.loops and not self.irreducible:
            return "no loops"
        lines: list[str] = []
        for loop in self.loops:
            line = self.cfg.kernel.line(self.cfg.blocks[loop.header].start)
            blocks = " ".join(f"B{b}" for b in sorted(loop.blocks))
            lines.append(
                f"{'  ' * (loop.depth - 1)}loop at B{loop.header} (line {line}), depth {loop.depth}: {blocks}"
            )
        lines += [f"irreducible cycle closed by B{a} -> B{b}" for a, b in self.irreducible]
        return "\n".join(lines)


def loops(kernel: Function) -> Loops:
    """The natural loops of a function and their nesting. Raises `PtxError` (E202) on an undeclared label."""
    return loops_of(build(kernel))


def loops_of(cfg: Cfg) -> Loops:
    """`loops` of a graph."""
    tree = dominators(cfg)
    place = {block: i for i, block in enumerate(cfg.reverse_postorder)}
    latches: dict[int, list[int]] = {}
    irreducible: list[tuple[int, int]] = []
    for source in cfg.reverse_postorder:
        for target in cfg.successors[source]:
            if tree.dominates(target, source):
                latches.setdefault(target, []).append(source)
            elif place[target] <= place[source]:
                irreducible.append((source, target))
    bodies = {header: _body(cfg, header, ends, place) for header, ends in latches.items()}
    # two natural loops with different headers are disjoint or nested, so the size orders outer before inner
    order = sorted(bodies, key=lambda header: (-len(bodies[header]), place[header]))
    found: list[Loop] = []
    for index, header in enumerate(order):
        around = [loop for loop in found if header in loop.blocks]
        parent = min(around, key=lambda loop: len(loop.blocks)) if around else None
        body = bodies[header]
        found.append(
            Loop(
                index=index,
                header=header,
                latches=tuple(sorted(latches[header])),
                blocks=body,
                depth=parent.depth + 1 if parent else 1,
                parent=parent.index if parent else None,
                exits=tuple((b, s) for b in sorted(body) for s in cfg.successors[b] if s not in body),
            )
        )
    return Loops(cfg, tuple(found), tuple(irreducible))


def _body(cfg: Cfg, header: int, latches: list[int], reachable: dict[int, int]) -> frozenset[int]:
    body = {header}
    work = [latch for latch in latches if latch != header]
    body.update(work)
    while work:
        for predecessor in cfg.predecessors[work.pop()]:
            if predecessor not in body and predecessor in reachable:
                body.add(predecessor)
                work.append(predecessor)
    return frozenset(body)
