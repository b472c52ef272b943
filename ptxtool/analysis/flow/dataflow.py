"""The one dataflow solver: gen/kill problems over bit sets, to their fixed point.

Sets are Python integers. With `f[b](x) = gen[b] | (x & ~kill[b])` and `meet` union or intersection over the neighbours,
it solves

    forward:   entry[b] = meet(exit[p] for p in predecessors[b]),    exit[b] = f[b](entry[b])
    backward:  exit[b] = meet(entry[s] for s in successors[b]),      entry[b] = f[b](exit[b])

The sets start at the optimistic end (empty for union, everything for intersection), so the result is the least or
greatest fixed point, whatever the order of work. A node without neighbours on the incoming side takes `boundary`; other
nodes can have a boundary of their own, which joins the meet.

Reference: G. Kildall, "A unified approach to global program optimization", 1973; A. Aho et al., "Compilers", 2nd
edition, section 9.2.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from heapq import heapify, heappop, heappush
from itertools import chain
from operator import and_, or_
from typing import Literal

import msgspec

from ptxtool.cfg.postorder import reverse_postorder


class Solution(msgspec.Struct, frozen=True):
    """The sets at the entry and the exit of every node, in program order whatever the direction."""

    entry: tuple[int, ...]
    exit: tuple[int, ...]


def solve(
    successors: Sequence[Sequence[int]],
    gen: Sequence[int],
    kill: Sequence[int],
    *,
    direction: Literal["forward", "backward"],
    meet: Literal["union", "intersection"] = "union",
    universe: int = 0,
    boundary: int = 0,
    boundaries: Mapping[int, int] | None = None,
) -> Solution:
    """The fixed point. `universe` is the set of everything, needed for "intersection" only.

    Nodes beyond those of `gen`, a graph's junctions, pass on what they get and are left out of the solution.
    """
    n, n_nodes = len(successors), len(gen)
    gen, kill = [*gen, *[0] * (n - n_nodes)], [*kill, *[0] * (n - n_nodes)]
    predecessors: list[list[int]] = [[] for _ in range(n)]
    for node, following in enumerate(successors):
        for successor in following:
            predecessors[successor].append(node)
    forward = direction == "forward"
    sources: Sequence[Sequence[int]] = predecessors if forward else successors
    readers: Sequence[Sequence[int]] = successors if forward else predecessors
    union = meet == "union"
    own = boundaries or {}
    keep = [~k for k in kill]
    start = 0 if union else universe
    outgoing = [gen[b] | (start & keep[b]) for b in range(n)]
    incoming = [boundary] * n
    for b in range(n):
        sets = [outgoing[s] for s in sources[b]]
        if b in own:
            sets.append(own[b])
        if sets:
            incoming[b] = reduce(or_ if union else and_, sets)

    # nodes in an order in which most changes arrive before their readers are visited
    rank = _ranks(readers)
    work = [(rank[b], b) for b in range(n)]
    heapify(work)
    waiting = [True] * n
    while work:
        _, node = heappop(work)
        waiting[node] = False
        result = gen[node] | (incoming[node] & keep[node])
        if result == outgoing[node]:
            continue
        outgoing[node] = result
        for reader in readers[node]:
            # sets only grow (or only shrink): what a neighbour contributed before is part of its new set
            value = incoming[reader] | result if union else incoming[reader] & result
            if value != incoming[reader]:
                incoming[reader] = value
                if not waiting[reader]:
                    waiting[reader] = True
                    heappush(work, (rank[reader], reader))
    del incoming[n_nodes:], outgoing[n_nodes:]
    if forward:
        return Solution(tuple(incoming), tuple(outgoing))
    return Solution(tuple(outgoing), tuple(incoming))


def _ranks(edges: Sequence[Sequence[int]]) -> list[int]:
    """Every node's place in a reverse post-order along the edges, from every root there is."""
    n = len(edges)
    targets = set(chain.from_iterable(edges))
    order = reverse_postorder(edges, [*(b for b in range(n) if b not in targets), *range(n)])
    ranks = [0] * n
    for place, node in enumerate(order):
        ranks[node] = place
    return ranks


def reachable(successors: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Per node, the set of nodes that a path of one or more edges leads to."""
    nodes = [1 << node for node in range(len(successors))]
    return solve(successors, nodes, [0] * len(nodes), direction="backward").exit
