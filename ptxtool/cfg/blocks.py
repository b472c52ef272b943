"""Basic blocks and the edges between them.

For every analysis that follows control flow, and for the simulator's reconvergence points. A block starts at
the first instruction, at a label, and after every instruction that may go elsewhere; it ends before the next
start. What an instruction does to control flow is read from the instruction table. Leaving the function, by
`ret`, `exit`, `trap` or by running off the end, is an edge to one virtual exit block, which has the number
after the last real block.

A guarded branch, `ret` or `exit` also falls through. Targets that the text does not tell are all that could
be: PTXPlus `brx` may go to every label, `break` to the target of every `breakaddr`.

PTXPlus's `callp` jumps to code of the same function, on the same registers, and `retp` comes back. There are
two views: the plain one, in which `callp` continues after itself and `retp` leaves (for dominators, loops,
reconvergence), and the interprocedural one, in which `callp` goes to its target and `retp` to every point
after a `callp` whose target leads to it (for liveness). Both have the same blocks.

Branches that share a list of targets (`brx.idx`) would have an edge each to every target. They lead to a *junction*
instead, a virtual node that leads to the targets: n branches with m targets are n + m edges of `successors_by_node`,
the graph that analyses follow. `edges` and `successors` have the n * m edges between blocks, for reports.

Reference: A. Aho et al., "Compilers", 2nd edition, section 8.4 (basic blocks and flow graphs).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from ptxtool.base.diag import PtxError, error
from ptxtool.base.kept import kept
from ptxtool.base.phrases import counted, one_line
from ptxtool.cfg.postorder import reverse_postorder
from ptxtool.ir.nodes import Function, Instruction, Name
from ptxtool.ir.symbols import LabelTable
from ptxtool.isa.table import Match, table

if TYPE_CHECKING:
    import networkx


class Block(msgspec.Struct, frozen=True, gc=False):
    """Instructions `start` to `end` (exclusive) that run one after the other. `labels` stand before the first.

    `index` is its number in `Cfg.blocks`; `instructions` are indices into `Function.instructions`.
    """

    index: int
    start: int
    end: int
    labels: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Block {self}: instructions {self.start} to {self.last}, {counted(len(self.labels), 'label')}>"
        )

    @property
    def last(self) -> int:
        """The index of its last instruction."""
        return self.end - 1

    @property
    def instructions(self) -> range:
        return range(self.start, self.end)

    def __str__(self) -> str:
        return f"B{self.index}"


class Edge(msgspec.Struct, frozen=True, gc=False):
    """From block to block, or to a junction. `kind` is "fall", "taken", "exit", "call" or "return"."""

    source: int
    target: int
    kind: str


class Flow(msgspec.Struct, frozen=True, gc=False):
    """Where control may go after one instruction.

    `targets` are instruction indices (their number is the end of the function); `leaves`: to the end; `calls`: the
    target of `callp`; `returns`: by `retp`; `falls`: to the next instruction.
    """

    targets: tuple[int, ...] = ()
    leaves: bool = False
    calls: int | None = None
    returns: bool = False
    falls: bool = True


@dataclass(frozen=True, repr=False)
class Cfg:
    """The control flow graph of one function.

    `blocks` are in textual order and cover every instruction once; `exit` is the number of the virtual exit block,
    which is len(blocks). Tables per block (`successors`, `predecessors`) have len(blocks) + 1 entries. `junctions` are
    the target lists that several branches share, as blocks; junction k is node exit + 1 + k. `links` are the edges out
    of blocks, to junctions instead of their targets. `flows` says, for each instruction that may go elsewhere, where.
    """

    kernel: Function = field(repr=False, compare=False)
    blocks: tuple[Block, ...]
    links: tuple[Edge, ...]
    junctions: tuple[tuple[int, ...], ...]
    flows: Mapping[int, Flow] = field(repr=False, compare=False)
    interprocedural: bool = False

    def __repr__(self) -> str:
        n_blocks, n_edges = counted(len(self.blocks), "block"), counted(len(self.edges), "edge")
        return f"<Cfg of {one_line(self.kernel.name, 80)}: {n_blocks}, {n_edges}>"

    @property
    def entry(self) -> int:
        """The first block; the virtual exit where there is no instruction."""
        return 0

    @property
    def exit(self) -> int:
        return len(self.blocks)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The edges between blocks, by source."""
        return tuple(dict.fromkeys(chain.from_iterable(map(self._expanded, self.links))))

    def _expanded(self, link: Edge) -> Iterator[Edge]:
        if link.target <= self.exit:
            return iter((link,))
        kinds = {self.exit: "exit"}
        targets = self.junctions[link.target - self.exit - 1]
        return (Edge(link.source, target, kinds.get(target, "taken")) for target in targets)

    @cached_property
    def successors_by_node(self) -> tuple[tuple[int, ...], ...]:
        """Per block, virtual exit and junction, the nodes that may follow, without repetition."""
        found = _neighbours(self.exit + 1, ((link.source, link.target) for link in self.links))
        return found + self.junctions

    @property
    def n_nodes(self) -> int:
        """The number of blocks and junctions, and one for the virtual exit."""
        return self.exit + 1 + len(self.junctions)

    @cached_property
    def predecessors_by_node(self) -> tuple[tuple[int, ...], ...]:
        """Per block, virtual exit and junction, the nodes it may follow, without repetition."""
        following = enumerate(self.successors_by_node)
        pairs = ((target, node) for node, targets in following for target in targets)
        return _neighbours(self.n_nodes, pairs)

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """Per block, the virtual exit included, the blocks that may follow, without repetition."""
        if not self.junctions:
            return self.successors_by_node
        return tuple([self._blocks_at(nodes) for nodes in self.successors_by_node[: self.exit + 1]])

    def _blocks_at(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        """Nodes with a junction's targets in its place; branches that go nowhere else share its tuple."""
        if len(nodes) == 1 and nodes[0] > self.exit:
            return self.successors_by_node[nodes[0]]
        parts = [self.successors_by_node[node] if node > self.exit else (node,) for node in nodes]
        return tuple(dict.fromkeys(chain.from_iterable(parts)))

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """Per block, the virtual exit included, the blocks it may follow, without repetition."""
        following = enumerate(self.successors)
        return _neighbours(
            self.exit + 1, ((target, block) for block, targets in following for target in targets)
        )

    @cached_property
    def reverse_postorder(self) -> tuple[int, ...]:
        """The blocks reachable from the entry, each before its successors except along retreating edges."""
        return self.reverse_postorder_from(self.entry)

    def reverse_postorder_from(self, block: int) -> tuple[int, ...]:
        """The same for another block than the entry."""
        return reverse_postorder(self.successors_by_node, [block], self.exit + 1)

    @cached_property
    def rank(self) -> Mapping[int, int]:
        """Of nodes that the entry reaches, the place in reverse post-order; of a junction its last predecessor's."""
        found = {block: place for place, block in enumerate(self.reverse_postorder)}
        for node in range(self.exit + 1, self.n_nodes):
            places = [found[block] for block in self.predecessors_by_node[node] if block in found]
            found |= {node: max(places)} if places else {}
        return MappingProxyType(found)

    @cached_property
    def before_exit(self) -> frozenset[int]:
        """The blocks that may leave the function."""
        found = self.predecessors_by_node[self.exit]
        return frozenset(
            chain(found, *(self.predecessors_by_node[node] for node in found if node > self.exit))
        )

    @cached_property
    def returning(self) -> frozenset[int]:
        """The blocks that return to after a call of PTXPlus, in the interprocedural view."""
        return frozenset(link.source for link in self.links if link.kind == "return")

    @cached_property
    def unreachable(self) -> tuple[int, ...]:
        """The blocks that no path from the entry reaches."""
        reached = set(self.reverse_postorder)
        return tuple(b.index for b in self.blocks if b.index not in reached)

    @cached_property
    def block_of(self) -> tuple[int, ...]:
        """Per instruction, the number of its block."""
        return tuple(block.index for block in self.blocks for _ in block.instructions)

    @cached_property
    def graph(self) -> "networkx.DiGraph":
        """The same as a networkx graph: nodes are block numbers (the exit's too), edges have a `kind`."""
        import networkx  # lazily: the commands that need no graph start faster

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(len(self.blocks) + 1))
        for edge in self.edges:
            graph.add_edge(edge.source, edge.target, kind=edge.kind)
        return graph

    def flow_of(self, block: int) -> Flow:
        """Where control goes after a block's last instruction."""
        return self.flows.get(self.blocks[block].last, Flow())

    def start_of(self, block: int) -> int:
        """The index of a block's first instruction; the number of instructions for the virtual exit."""
        return self.blocks[block].start if block < len(self.blocks) else len(self.kernel.instructions)

    def name(self, block: int) -> str:
        """`B3`, or `exit` for the virtual exit."""
        return "exit" if block == self.exit else f"B{block}"

    def __str__(self) -> str:
        lines: list[str] = []
        edges: dict[int, list[Edge]] = {}
        for edge in self.edges:
            edges.setdefault(edge.source, []).append(edge)
        unreachable = set(self.unreachable)
        for block in self.blocks:
            first, last = self.kernel.line(block.start), self.kernel.line(block.last)
            place = f"line {first}" if first == last else f"lines {first}-{last}"
            labels = f" {' '.join(f'{label}:' for label in block.labels)}" if block.labels else ""
            targets = ", ".join(f"{self.name(e.target)} ({e.kind})" for e in edges.get(block.index, ()))
            dead = "  [unreachable]" if block.index in unreachable else ""
            lines.append(
                f"B{block.index}{labels} instructions {block.start}-{block.last}, {place} -> {targets}{dead}"
            )
        return "\n".join(lines)


def _neighbours(n: int, edges: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    found: list[dict[int, None]] = [{} for _ in range(n)]
    for block, neighbour in edges:
        found[block][neighbour] = None
    return tuple(map(tuple, found))


# opcodes and numbers of operands that have been seen to go on, which are nearly all: of PTX, and of PTXPlus
_goes_on: tuple[set[tuple[str, int]], set[tuple[str, int]]] = (set(), set())


@kept
def control_flow(kernel: Function) -> Mapping[int, Flow]:
    """The instructions that end a block, with where they go. Raises `PtxError` (E202) on an undeclared label."""
    labels = kernel.label_table
    opcodes = table()
    ptxplus = kernel.registers.is_ptxplus
    flows: dict[int, Flow] = {}
    break_targets: list[int] = []
    breaks: list[int] = []
    plain = _goes_on[ptxplus]
    for i, instruction in enumerate(kernel.instructions):
        key = instruction.opcode.text, len(instruction.operands)
        if key in plain:
            continue
        match = opcodes.match(*key, ptxplus)
        if match is None:
            plain.add(key)
            continue
        effects = match.form.effects
        guarded = instruction.guard is not None
        if "exit" in effects or "exit" in match.modifiers:
            flows[i] = Flow(leaves=True, falls=guarded)
        elif "return" in effects:
            flows[i] = Flow(leaves=match.form.sem != "retp", returns=match.form.sem == "retp", falls=guarded)
        elif match.form.sem == "break":
            breaks.append(i)
            flows[i] = Flow(falls=guarded)
        elif "branch" in effects:
            flows[i] = Flow(targets=_targets(kernel, labels, i, instruction, match), falls=guarded)
        else:
            places = [k for k, spec in enumerate(match.form.operands) if spec.role == "l"]
            if places:
                target = _label(kernel, labels, i, instruction, places[0])
                if "call" in effects:
                    flows[i] = Flow(calls=target, falls=guarded)
                else:  # breakaddr
                    break_targets.append(target)
            else:
                plain.add(key)
    targets = tuple(sorted(set(break_targets)))
    for i in breaks:
        flows[i] = Flow(targets=targets, leaves=not targets, falls=flows[i].falls)
    return MappingProxyType(flows)


def _targets(
    kernel: Function, labels: LabelTable, index: int, instruction: Instruction, match: Match
) -> tuple[int, ...]:
    for place, spec in enumerate(match.form.operands):
        if spec.role == "l":
            return (_label(kernel, labels, index, instruction, place),)
        if spec.role == "s":
            operand = instruction.operands[place]
            found = labels.distinct_targets(operand.text, index) if isinstance(operand, Name) else None
            if found is None:
                what = f"branch target list '{kernel.text(instruction)}'"
                help = "declare 'name: .branchtargets label, ...;' before the branch"
                raise _undeclared(kernel, instruction, what, help)
            return found
    return labels.targets()


def _label(kernel: Function, labels: LabelTable, index: int, instruction: Instruction, place: int) -> int:
    operand = instruction.operands[place]
    target = labels.resolve(operand.text, index) if isinstance(operand, Name) else None
    if target is None:
        name = operand.text if isinstance(operand, Name) else kernel.text(instruction)
        help = f"declare '{name}:' in '{kernel.name}', in the same or an enclosing block"
        raise _undeclared(kernel, instruction, f"label '{name}'", help)
    return target


def _undeclared(kernel: Function, node: Instruction, what: str, help: str) -> PtxError:
    return error("E202", f"undeclared {what}", kernel.source, node.start, node.end, help)


def build(kernel: Function, interprocedural: bool = False) -> Cfg:
    """The control flow graph of a function. Raises `PtxError` (E202) on an undeclared label."""
    return _with_calls(kernel) if interprocedural else _plain(kernel)


@kept
def _plain(kernel: Function) -> Cfg:
    names: dict[int, list[str]] = {}
    for label, position in kernel.labels.items():
        names.setdefault(position, []).append(label)
    flows = control_flow(kernel)
    targets = kernel.label_table.targets()
    return connect(kernel, len(kernel.instructions), flows, targets, names)


@kept
def _with_calls(kernel: Function) -> Cfg:
    return _interprocedural(_plain(kernel))


def connect(
    kernel: Function,
    n: int,
    flows: Mapping[int, Flow],
    targets: Iterable[int],
    names: Mapping[int, Sequence[str]],
    interprocedural: bool = False,
) -> Cfg:
    """The graph of n steps, of which some go elsewhere. Labels, which `names` may name, stand before the `targets`.

    The steps are a function's instructions, or whatever else runs in their order: `kernel.instructions` is not read.
    """
    starts = {0, *targets, *(i + 1 for i in flows)}
    bounds = [*sorted(s for s in starts if s < n), n]
    blocks = tuple(
        Block(i, start, end, tuple(names.get(start, ()))) for i, (start, end) in enumerate(pairwise(bounds))
    )
    at = {block.start: block.index for block in blocks} | {n: len(blocks)}
    lists = [flow.targets for flow in flows.values() if len(flow.targets) > 1]
    n_branches = Counter(
        map(id, lists)
    )  # equal lists are one object, and comparing them would cost their length
    shared = {id(targets): targets for targets in lists if n_branches[id(targets)] > 1}
    junctions = {key: node for node, key in enumerate(shared, len(blocks) + 1)}
    links = tuple(
        edge
        for block in blocks
        for edge in _links(block, flows.get(block.last, Flow()), at, len(blocks), junctions)
    )
    places = tuple([tuple(map(at.__getitem__, targets)) for targets in shared.values()])
    plain = Cfg(kernel, blocks, links, places, flows)
    return _interprocedural(plain) if interprocedural else plain


def _links(
    block: Block, flow: Flow, at: Mapping[int, int], exit: int, junctions: Mapping[int, int]
) -> list[Edge]:
    """The plain view's edges out of a block; `junctions` are those of target lists, by identity."""
    junction = junctions.get(id(flow.targets))
    if junction is not None:
        edges = [Edge(block.index, junction, "taken")]
    else:
        targets = {at[t]: "exit" if at[t] == exit else "taken" for t in flow.targets}
        edges = [Edge(block.index, target, kind) for target, kind in targets.items()]
    if flow.leaves or flow.returns:
        edges.append(Edge(block.index, exit, "exit"))
    if flow.falls or flow.calls is not None:
        follower = at[block.end]
        edges.append(Edge(block.index, follower, "exit" if follower == exit else "fall"))
    return list(dict.fromkeys(edges))


def _interprocedural(plain: Cfg) -> Cfg:
    """The plain view with calls and returns followed."""
    if not any(flow.calls is not None or flow.returns for flow in plain.flows.values()):
        return replace(plain, interprocedural=True)
    at = {block.start: block.index for block in plain.blocks}
    at[plain.blocks[-1].end] = plain.exit
    sites: dict[int, list[int]] = {}  # callee's block -> the blocks after its calls
    for i, flow in plain.flows.items():
        if flow.calls is not None:
            sites.setdefault(at[flow.calls], []).append(at[i + 1])
    reached_by: dict[int, list[int]] = {}  # block -> the callees that lead to it
    for callee in sites:
        for block in plain.reverse_postorder_from(callee):
            reached_by.setdefault(block, []).append(callee)
    main = set(plain.reverse_postorder)
    edges: list[Edge] = []
    for edge in plain.links:
        flow = plain.flow_of(edge.source)
        if flow.calls is not None:
            if edge.kind in ("fall", "exit"):
                edges.append(Edge(edge.source, at[flow.calls], "call"))
                if flow.falls:
                    edges.append(edge)
        elif flow.returns and edge.kind == "exit" and edge.source in reached_by:
            points = {point for callee in reached_by[edge.source] for point in sites[callee]}
            edges += [Edge(edge.source, point, "return") for point in sorted(points)]
            if edge.source in main:  # reached without a call as well: with an empty stack the thread ends
                edges.append(edge)
        else:
            edges.append(edge)
    links = tuple(dict.fromkeys(edges))
    return Cfg(plain.kernel, plain.blocks, links, plain.junctions, plain.flows, interprocedural=True)
