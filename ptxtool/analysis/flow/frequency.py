"""How often the blocks of a kernel run: expected visits of a Markov chain on the control flow graph.

A thread leaves block b for its successor s with a fixed probability p(b, s); the visits x of the blocks solve

    x(entry) = 1 + sum of x(b) p(b, entry)        x(s) = sum of x(b) p(b, s)

by eliminating one block after the other, last in reverse post-order first: no iteration, and no fill beyond what loops
need. A loop that never ends counts as a million turns.

Static probabilities: a test that may leave its innermost loop does so one time in ten (so that each level of loops
multiplies by about ten), every other branch takes each edge alike. From counts, how often instructions were issued in a
run, the edges get flows that add up to the counts of their blocks as well as these allow (iterative proportional
fitting), and the probabilities are proportional to the flows. A warp that diverges runs both sides: then the two sides
together are more than the branch, and only their ratio counts.

Reference: T. Ball, J. Larus, "Branch prediction for free", PLDI 1993 (loop branches); Y. Wu, J. Larus, "Static branch
frequency and program profile analysis", MICRO 1994 (visits from probabilities); W. Deming, F. Stephan, "On a least
squares adjustment of a sampled frequency table", 1940.
"""

from collections.abc import Mapping, Sequence

from ptxtool.analysis.flow.dataflow import reachable
from ptxtool.analysis.flow.loops import loops_of
from ptxtool.cfg.blocks import Cfg

Probabilities = Sequence[Mapping[int, float]]
"""Per block, its successors (the virtual exit among them) and the probability of each."""

LEAVES = 0.1
"""The probability that a test leaves its loop."""
_ENDLESS = 1e-6
_ROUNDS = 50


def static_probabilities(cfg: Cfg) -> list[dict[int, float]]:
    """Probabilities by the graph alone."""
    nest = loops_of(cfg)
    found: list[dict[int, float]] = []
    for block in cfg.blocks:
        successors = cfg.successors[block.index]
        loop = nest.loop_of(block.index)
        leaving = [s for s in successors if loop is not None and s not in loop.blocks]
        staying = [s for s in successors if s not in leaving]
        if leaving and staying:
            shares = {s: LEAVES / len(leaving) for s in leaving}
            shares |= {s: (1 - LEAVES) / len(staying) for s in staying}
        else:
            shares = {s: 1 / len(successors) for s in successors}
        found.append(shares)
    return found


def counted_probabilities(cfg: Cfg, counts: Sequence[float]) -> list[dict[int, float]]:
    """Probabilities by the counts of the blocks. A block that never ran has its static ones."""
    totals = [*counts, max(counts[0] if counts else 1, 1)]
    flows = [
        {s: max(totals[s], 1e-3) * max(totals[b.index], 1e-3) for s in cfg.successors[b.index]}
        for b in cfg.blocks
    ]
    for _ in range(_ROUNDS):
        for b, shares in enumerate(flows):
            scale = totals[b] / (sum(shares.values()) or 1)
            flows[b] = {s: flow * scale for s, flow in shares.items()}
        arriving = [0.0] * len(totals)
        for shares in flows:
            for s, flow in shares.items():
                arriving[s] += flow
        if cfg.blocks:
            arriving[0] += totals[-1]  # the threads that start
        for shares in flows:
            for s in shares:
                shares[s] *= totals[s] / arriving[s] if arriving[s] else 0
    static = static_probabilities(cfg)
    for b, shares in enumerate(flows):
        whole = sum(shares.values())
        flows[b] = {s: flow / whole for s, flow in shares.items()} if whole > 0 else static[b]
    return flows


def visits(cfg: Cfg, probabilities: Probabilities) -> tuple[float, ...]:
    """The expected runs of each block per thread; 0 for unreachable blocks."""
    order = _reached(cfg, probabilities)
    place = {b: k for k, b in enumerate(order)}
    outgoing = [{place[s]: p for s, p in probabilities[b].items() if s in place and p > 0} for b in order]
    incoming: list[dict[int, float]] = [{} for _ in order]
    for k, shares in enumerate(outgoing):
        for s, p in shares.items():
            incoming[s][k] = p
    for v in range(len(order) - 1, 0, -1):
        into = {u: p for u, p in incoming[v].items() if u < v}
        turns = 1 / max(1 - incoming[v].get(v, 0.0), _ENDLESS)
        for w, q in outgoing[v].items():
            if w < v:
                incoming[w].pop(v, None)
                for u, p in into.items():
                    incoming[w][u] = outgoing[u][w] = incoming[w].get(u, 0.0) + p * turns * q
        for u in into:
            outgoing[u].pop(v, None)
    found = [0.0] * len(order)
    for v in range(len(order)):
        begins = 1.0 if v == 0 else 0.0
        arriving = begins + sum(found[u] * p for u, p in incoming[v].items() if u < v)
        found[v] = arriving / max(1 - incoming[v].get(v, 0.0), _ENDLESS)
    return tuple(found[place[b]] if b in place else 0.0 for b in range(len(cfg.blocks)))


def _reached(cfg: Cfg, probabilities: Probabilities) -> list[int]:
    """The blocks that are entered with some probability, in reverse post-order."""
    if not cfg.blocks:
        return []
    entered = reachable([*([s for s, p in shares.items() if p > 0] for shares in probabilities), ()])[
        cfg.entry
    ]
    return [b for b in cfg.reverse_postorder if b == cfg.entry or (b != cfg.exit and entered >> b & 1)]
