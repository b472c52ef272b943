"""Warps that walk through a kernel on a SIMT stack, branching at random: do they touch anything after a release mark?

An oracle for release marks that knows neither sets of facts nor searches: three lanes, a stack of (next instruction,
where its lanes rejoin, lanes), every guard of control flow decided by chance; at a uniform branch all lanes go the same
way. A walk that finds nothing proves nothing, one that does does. Not walked: `callp` and `retp`.
"""

import random
from collections.abc import Collection, Mapping, Sequence

from ptxtool.analysis.flow.uniformity import uniformity
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.reconvergence import points_of
from ptxtool.ir.nodes import Function

LANES = 3


def touch_behind_mark(
    kernel: Function,
    touches: Sequence[bool],
    marks: Collection[int],
    seed: int,
    n_walks: int = 30,
    n_steps: int = 400,
) -> int | None:
    """An instruction that touches something after a mark on one of the walks; None if no walk finds one."""
    cfg = build(kernel)
    points = points_of(cfg)
    uniform = points.keys() - uniformity(kernel).divergent
    for n in range(n_walks):
        found = _walk(cfg, points, uniform, touches, marks, random.Random(f"{seed} {n}"), n_steps)
        if found is not None:
            return found
    return None


def _walk(
    cfg: Cfg,
    points: Mapping[int, int],
    uniform: Collection[int],
    touches: Sequence[bool],
    marks: Collection[int],
    chance: random.Random,
    n: int,
) -> int | None:
    end = len(touches)
    stack: list[list[object]] = [[0, end, frozenset(range(LANES))]]
    released = False
    for _ in range(n):
        while stack and (not stack[-1][2] or stack[-1][0] in (stack[-1][1], end)):
            done = stack.pop()
            if done[0] == end:  # lanes that have exited do not wait
                for entry in stack:
                    entry[2] -= done[2]
        if not stack:
            return None
        top = stack[-1]
        pc, lanes = top[0], top[2]
        released = released or pc in marks
        if released and touches[pc]:
            return pc
        flow = cfg.flows.get(pc)
        if flow is None:
            top[0] = pc + 1
            continue
        choices = [*flow.targets, *([pc + 1] if flow.falls else []), *([end] if flow.leaves else [])]
        choices = choices or [end]  # a return without a call
        together = pc in uniform or chance.random() < 0.5
        common = chance.choice(choices)
        where = {lane: common if together else chance.choice(choices) for lane in sorted(lanes)}
        sides = sorted(set(where.values()), key=lambda _: chance.random())
        if len(sides) == 1:
            top[0] = sides[0]
            continue
        if end in sides and pc not in points:  # lanes leave, the others go on
            gone = frozenset(lane for lane in lanes if where[lane] == end)
            for entry in stack:
                entry[2] -= gone
            sides.remove(end)
            top[0] = sides[0]
            assert len(sides) == 1
            continue
        top[0] = points[pc]
        for side in sides:
            stack.append([side, points[pc], frozenset(lane for lane in lanes if where[lane] == side)])
    return None
