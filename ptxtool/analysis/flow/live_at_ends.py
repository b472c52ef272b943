"""The registers that are live out of every block, per thread, each as a list: for live ranges.

`liveness.py` has the same as bit sets, which are as wide in every block as the function has registers: what they take
grows with the square of a kernel's length. Here every register is followed by itself, backwards from the blocks that
read it to those that overwrite it, so that lists cost what is in them. No fixed point is needed: a register is live out
of a block if a path without a kill leads from there to such a read, which one walk over the graph finds.

Reference: A. Appel, J. Palsberg, "Modern compiler implementation in Java", 2nd edition, section 19.6 (liveness by
variable); B. Boissinot et al., "A non-iterative data-flow algorithm for computing liveness sets", 2011.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from ptxtool.cfg.blocks import Cfg


def live_at_ends(
    cfg: Cfg, exposed: Mapping[int, AbstractSet[int]], killed: Mapping[int, AbstractSet[int]]
) -> list[list[int]]:
    """Per node of a graph, in ascending order, the registers that are live at its end.

    By register, `exposed` are the nodes that read it before overwriting it, `killed` the blocks that overwrite it.
    """
    predecessors = cfg.predecessors_by_node
    live: list[list[int]] = [[] for _ in range(cfg.n_nodes)]
    for register in sorted(exposed):
        kills, work = killed.get(register, frozenset()), [*exposed[register]]
        while work:
            for node in predecessors[work.pop()]:
                here = live[node]
                if not here or here[-1] != register:  # not yet visited for it
                    here.append(register)
                    if node not in kills:
                        work.append(node)
    return live
