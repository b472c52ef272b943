"""Dominators and post-dominators.

For loops, reconvergence points and reports. Block a dominates b when every path from the entry to b runs
through a; a post-dominates b when every path from b to the exit does. Numbering the tree in depth-first order makes
"does a dominate b" two comparisons.

Blocks that the entry does not reach have no dominator. A loop without a way out has no path to the exit; so
that the code in it still gets post-dominators, the last block of each such loop counts as having an edge to
the exit.

Reference: K. Cooper, T. Harvey, K. Kennedy, "A simple, fast dominance algorithm", 2001. networkx has it too, but
importing networkx takes longer than most commands that need a tree.
"""

from collections.abc import Sequence
from functools import cached_property

import msgspec

from ptxtool.cfg.blocks import Cfg
from ptxtool.cfg.postorder import reverse_postorder


class DominatorTree(msgspec.Struct, frozen=True, dict=True):
    """`idom[b]` is the immediate (post-)dominator of block b; None for the root and for blocks without one.

    Blocks are numbered as in the graph, the virtual exit included.
    """

    root: int
    idom: tuple[int | None, ...]
    names: tuple[str, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.idom]
        for block, parent in enumerate(self.idom):
            if parent is not None:
                found[parent].append(block)
        return tuple(tuple(c) for c in found)

    @cached_property
    def _intervals(self) -> tuple[tuple[int, int], ...]:
        """Per block, when a depth-first walk enters and leaves it; (-1, -1) outside the tree."""
        entered = [-1] * len(self.idom)
        left = [-1] * len(self.idom)
        clock = 0
        stack = [(self.root, False)]
        while stack:
            block, done = stack.pop()
            if done:
                left[block] = clock
            else:
                entered[block] = clock
                stack.append((block, True))
                stack += [(child, False) for child in reversed(self.children[block])]
            clock += 1
        return tuple(zip(entered, left, strict=True))

    def __contains__(self, block: int) -> bool:
        return block == self.root or self.idom[block] is not None

    def dominates(self, a: int, b: int) -> bool:
        """Whether a (post-)dominates b; every block of the tree does so itself, none outside it does at all."""
        (a_in, a_out), (b_in, b_out) = self._intervals[a], self._intervals[b]
        return 0 <= a_in <= b_in and b_out <= a_out

    def dominators_of(self, block: int) -> tuple[int, ...]:
        """The block's (post-)dominators from itself to the root; empty outside the tree."""
        if block not in self:
            return ()
        chain = [block]
        while (parent := self.idom[chain[-1]]) is not None:
            chain.append(parent)
        return tuple(chain)

    def __str__(self) -> str:
        return "\n".join(
            f"{self.names[b]}: {'-' if d is None else self.names[d]}" for b, d in enumerate(self.idom)
        )


def immediate_dominators(successors: Sequence[Sequence[int]], root: int) -> list[int | None]:
    """The immediate dominator of every node; None for the root and for nodes that it does not reach.

    Two nodes' nearest common dominator is found by climbing from the later one, in reverse post-order, until they meet;
    a node's is that of its predecessors. Reducible graphs take one round, and one to see that nothing changes.
    """
    order = reverse_postorder(successors, [root])
    place = {node: i for i, node in enumerate(order)}
    before: list[list[int]] = [[] for _ in order]
    for i, node in enumerate(order):
        for successor in successors[node]:
            before[place[successor]].append(i)
    idom = [-1] * len(order)  # of places in the order
    idom[0] = 0
    changed = True
    while changed:
        changed = False
        for i in range(1, len(order)):
            new = -1
            for j in before[i]:
                if idom[j] < 0:
                    continue
                while new != j and new >= 0:
                    if new > j:
                        new = idom[new]
                    else:
                        j = idom[j]
                new = j
            if new != idom[i]:
                idom[i] = new
                changed = True
    found: list[int | None] = [None] * len(successors)
    for i in range(1, len(order)):
        found[order[i]] = order[idom[i]]
    return found


def _tree(cfg: Cfg, successors: Sequence[Sequence[int]], root: int) -> DominatorTree:
    """The tree of the blocks: dominators are those on all paths, which junctions neither add to nor take from."""
    found = immediate_dominators(successors, root)
    idom: list[int | None] = []
    for block in range(cfg.exit + 1):
        parent = found[block]
        while parent is not None and parent > cfg.exit:
            parent = found[parent]
        idom.append(parent)
    return DominatorTree(root, tuple(idom), tuple(cfg.name(block) for block in range(cfg.exit + 1)))


def dominators(cfg: Cfg) -> DominatorTree:
    """The dominator tree, rooted at the entry."""
    return _tree(cfg, cfg.successors_by_node, cfg.entry)


def post_dominators(cfg: Cfg) -> DominatorTree:
    """The post-dominator tree, rooted at the virtual exit."""
    against = list(cfg.predecessors_by_node)
    against[cfg.exit] = (*against[cfg.exit], *_ends_of_endless_loops(cfg))
    return _tree(cfg, against, cfg.exit)


def _ends_of_endless_loops(cfg: Cfg) -> tuple[int, ...]:
    """The last block of every loop that nothing leaves."""
    with_exit = {cfg.exit}
    work = [cfg.exit]
    while work:
        before = [p for p in cfg.predecessors_by_node[work.pop()] if p not in with_exit]
        with_exit.update(before)
        work += before
    successors = cfg.successors_by_node
    if len(with_exit) == cfg.n_nodes:
        return ()
    import networkx  # lazily: few functions have such loops

    endless = networkx.DiGraph()
    nodes = [node for node in range(cfg.n_nodes) if node not in with_exit]
    endless.add_nodes_from(nodes)
    endless.add_edges_from((node, s) for node in nodes for s in successors[node])
    loops = networkx.strongly_connected_components(endless)
    closed = [loop for loop in loops if all(s in loop for node in loop for s in successors[node])]
    return tuple(sorted(max(node for node in loop if node < cfg.exit) for loop in closed))
