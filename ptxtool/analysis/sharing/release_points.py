"""The last touch of what a warp shares, and the points after it at which the warp can release its lock.

For the passes that insert release marks. `touches` is true of instructions that may touch the shared part. A lane may
still touch it at a point if some path from there leads to such an instruction; a warp may if any of its lanes may,
including those that wait at the other side of a divergent branch or where the branch's lanes rejoin. That is liveness
per warp (`liveness.py`) of one value that every touch reads and nothing writes, and is computed as such.

A point is a release point if the warp touches nothing from there on and might have before: after a touch, or at the
head of a block that some predecessor enters while it still may. Executing a mark twice is harmless and a mark takes no
issue slot, so a block that other paths enter after releasing needs no block of its own on the edge. Before an
instruction that ends the warp a mark is useless: the end releases.

Reference: V. Jatala, J. Anantpur, A. Karkare, "Scratchpad sharing in GPUs", TACO 14(2), 2017 (where `relssp` goes).
"""

from collections.abc import Sequence

from ptxtool.analysis.flow.liveness import Liveness, live_registers
from ptxtool.analysis.flow.uniformity import uniformity
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function

_TOUCH = DefUse((), (), (0,), (0,))
_NO_TOUCH = DefUse((), (), (), ())


def may_touch(kernel: Function, touches: Sequence[bool]) -> tuple[bool, ...]:
    """Per instruction, whether the warp may touch the shared part there or later. Raises E202."""
    return tuple(bits != 0 for bits in _touch_liveness(kernel, touches).before_bits)


def last_touches(kernel: Function, touches: Sequence[bool]) -> tuple[int, ...]:
    """The touches after which the warp touches the shared part no more. Raises E202."""
    after = _touch_liveness(kernel, touches).after_bits
    return tuple(i for i, touch in enumerate(touches) if touch and not after[i])


def _touch_liveness(kernel: Function, touches: Sequence[bool]) -> Liveness:
    found = uniformity(kernel)
    return live_registers(found.cfg, tuple(_TOUCH if t else _NO_TOUCH for t in touches), found)


def release_points(kernel: Function, touches: Sequence[bool]) -> tuple[int, ...]:
    """The instructions before which a warp can release, in textual order. Raises E202."""
    may = may_touch(kernel, touches)
    cfg = build(kernel, interprocedural=True)
    reachable = set(cfg.reverse_postorder)
    found: list[int] = []
    for block in cfg.blocks:
        if block.index not in reachable:
            continue
        for i in block.instructions:
            before = (
                (i - 1,) if i > block.start else (cfg.blocks[p].last for p in cfg.predecessors[block.index])
            )
            if not may[i] and not _ends(cfg, i) and any(may[p] for p in before):
                found.append(i)
    return tuple(found)


def _ends(cfg: Cfg, instruction: int) -> bool:
    """Whether all lanes that reach an instruction leave the kernel there."""
    flow = cfg.flows.get(instruction)
    return flow is not None and flow.leaves and not flow.falls and not flow.targets
