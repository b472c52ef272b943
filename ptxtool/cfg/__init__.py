"""Control flow: basic blocks and edges, dominators, reconvergence points, DOT.

`build` makes the graph of a function; everything else is a function of that graph.
"""

from ptxtool.cfg.blocks import Block, Cfg, Edge, Flow, build
from ptxtool.cfg.dominance import DominatorTree, dominators, post_dominators
from ptxtool.cfg.dot import to_dot
from ptxtool.cfg.reconvergence import divergent_blocks, reconvergence_points

__all__ = [
    "Block",
    "Cfg",
    "DominatorTree",
    "Edge",
    "Flow",
    "build",
    "divergent_blocks",
    "dominators",
    "post_dominators",
    "reconvergence_points",
    "to_dot",
]
