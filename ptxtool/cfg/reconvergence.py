"""Where the lanes of a diverged warp come together again.

For the simulator's SIMT stack and for liveness per warp. A branch that lanes could take differently reconverges
at its immediate post-dominator (IPDOM): the first place every lane passes, whichever way it went. These are branches
with a guard, and branches with several targets (`brx`, `break`); a guarded `ret` or `exit` needs no such place, as the
lanes that take it do not come back. A guarded `callp` reconverges after itself. Only the graph counts here: at which of
these branches the lanes of a warp all go the same way, `ptxtool.analysis.flow.uniformity` finds.

Reference: W. Fung et al., "Dynamic warp formation and scheduling for efficient GPU control flow", 2007,
section 2 (post-dominator reconvergence).
"""

from collections.abc import Mapping
from types import MappingProxyType

from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.dominance import post_dominators
from ptxtool.ir.nodes import Function


def _forking_blocks(cfg: Cfg) -> tuple[int, ...]:
    """The blocks, of the plain view, whose last instruction is a branch with several ways for lanes to go."""
    instructions = cfg.kernel.instructions
    found: list[int] = []
    for block in cfg.blocks:
        flow = cfg.flow_of(block.index)
        goes_elsewhere = bool(flow.targets) or flow.calls is not None
        guarded = instructions[block.last].guard is not None
        if (goes_elsewhere and guarded) or len(flow.targets) > 1:
            found.append(block.index)
    return tuple(found)


def reconvergence_points(kernel: Function) -> Mapping[int, int]:
    """Index of a branch -> index of the instruction where lanes that it parts rejoin (their number: the end)."""
    return points_of(build(kernel))


def points_of(cfg: Cfg) -> Mapping[int, int]:
    """`reconvergence_points` of a graph at hand (its plain view)."""
    tree = post_dominators(cfg)
    points: dict[int, int] = {}
    for block in _forking_blocks(cfg):
        target = tree.idom[block]
        points[cfg.blocks[block].last] = cfg.start_of(cfg.exit if target is None else target)
    return MappingProxyType(points)
