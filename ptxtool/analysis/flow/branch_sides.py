"""The sides of branches: which blocks lanes run that a branch sent one way, until they rejoin the others.

For liveness per warp and uniformity. A *split* is a branch that has several ways for lanes to go, a *side* one of its
successors. With T(b) the sides whose lanes may run block b before they rejoin the others at R(d), the reconvergence
point of their branch d, T is a forward dataflow problem: gen at the successor, kill at R(d).

Branches with the same successors whose lanes rejoin at the same place have their sides in common, as these reach the
same blocks: n branches with the m targets of one list have m sides, not n * m.

Calls of PTXPlus are followed. A guarded `retp` is a split as well, whose lanes rejoin at the end of the kernel.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from ptxtool.analysis.flow.dataflow import solve
from ptxtool.base.bits import from_indices
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.reconvergence import points_of
from ptxtool.ir.nodes import Function


class Split(msgspec.Struct, frozen=True):
    """One branch: its instruction and block, the block where its lanes rejoin, its successors, the first one's number.

    The sides of a function are numbered split by split; splits that have them in common, with the same `first`, have
    the same tuple of `sides`.
    """

    instruction: int
    block: int
    rejoin: int
    sides: tuple[int, ...]
    first: int

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + len(self.sides))


@dataclass(frozen=True)
class BranchSides:
    """The splits of a function, and T of every block and of the virtual exit as a set of sides."""

    cfg: Cfg = field(repr=False)
    splits: tuple[Split, ...]
    reaching: tuple[int, ...] = field(repr=False)

    def different(self, instructions: Collection[int]) -> list[Split]:
        """One split for all that have their sides in common, of some of the branches."""
        found: dict[int, Split] = {}
        for split in self.splits:
            if split.instruction in instructions:
                found.setdefault(split.first, split)
        return [*found.values()]

    def numbers(self, instructions: Collection[int]) -> int:
        """The sides of some of the branches, as a set."""
        return from_indices(k for split in self.different(instructions) for k in split.numbers)


def branch_sides(function: Function) -> BranchSides:
    """The sides of all branches that lanes could take differently. Raises E202 (undeclared label)."""
    cfg, points = build(function, interprocedural=True), points_of(build(function))
    starts = {block.start: block.index for block in cfg.blocks} | {cfg.start_of(cfg.exit): cfg.exit}
    returning = cfg.returning
    splits: list[Split] = []
    known: dict[tuple[tuple[int, ...], int], Split] = {}  # by successors and rejoining block
    n_sides = 0
    gen, kill = [0] * (cfg.exit + 1), [0] * (cfg.exit + 1)
    for block in cfg.blocks:
        nodes = cfg.successors_by_node[block.index]
        if len(nodes) < 2 and nodes[0] <= cfg.exit:
            continue
        if block.last in points:
            rejoin = starts[points[block.last]]
        elif block.index in returning and cfg.flow_of(block.index).falls:
            rejoin = cfg.exit
        else:
            continue
        like = known.get((nodes, rejoin))
        if like is not None:
            splits.append(replace(like, instruction=block.last, block=block.index))
            continue
        split = Split(block.last, block.index, rejoin, cfg.successors[block.index], n_sides)
        for number, side in zip(split.numbers, split.sides, strict=True):
            gen[side] |= 1 << number
            kill[rejoin] |= 1 << number
        splits.append(split)
        known[nodes, rejoin] = split
        n_sides += len(split.sides)
    passing = [g & ~k for g, k in zip(gen, kill, strict=True)]
    reaching = solve(cfg.successors_by_node, passing, kill, direction="forward").exit
    return BranchSides(cfg, tuple(splits), reaching)
