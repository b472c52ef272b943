"""A module under `demote`: of the rules, the kinds of goals and what may follow, those that its seed chooses."""

from collections.abc import Iterator
from itertools import permutations

from allocated import least, unbounded
from random_ptx.variants import Variant, apply

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module

RULES = ("accesses", "frequency", "conflicts")
PASSES = ("substitute-demotion-registers", "drop-redundant-demotions", "hoist-demotion-loads")
"""The passes that change the accesses to slots."""
CHANGED = "," + ",".join(PASSES)
ORDERS = tuple("".join(f",{name}" for name in order) for n in range(4) for order in permutations(PASSES, n))
"""Every subset of them in every order."""


def demotions(module: Module, seed: int) -> Iterator[Variant]:
    """PTX with registers in shared memory: as many as a goal needs under a bound on registers, and all there can be."""
    small, large = least(module), unbounded(module)
    bound = min(255, small + (large - small) * (seed % 5) // 4)
    goals = (
        "count=255",
        f"registers={max(1, bound - 2 - seed % 7)}",
        f"count={1 + seed % 9}",
        "occupancy=1.0",
    )
    goal = f"{goals[seed // 3 % 4]}:rule={RULES[seed % 3]}:threads=64"
    after = (CHANGED, ",compact", f",allocate:max-regs={bound}", f"{CHANGED},compact:banks=true")[
        seed // 12 % 4
    ]
    yield from _applied(module, f"allocate:max-regs={bound},demote:{goal}{after}")
    rule = RULES[(seed + 1) % 3]
    yield from _applied(module, f"allocate,demote:count=255:rule={rule}:threads=64{ORDERS[seed % 16]}")


def demotions_of_ptxplus(module: Module, seed: int) -> Iterator[Variant]:
    """PTXPlus with some registers, and with as many as can be, in shared memory."""
    rule, other = RULES[seed % 3], RULES[(seed + 1) % 3]
    some = f"demote:count={1 + seed % 9}:rule={rule}:threads=64{ORDERS[seed // 3 % 16]},compact"
    yield from _applied(module, f"lower-ptxplus,{some}")
    yield from _applied(module, f"lower-ptxplus,demote:count=255:rule={other}:threads=64{ORDERS[seed % 16]}")


def _applied(module: Module, pipeline: str) -> Iterator[Variant]:
    """The variant, if no pass of it declines."""
    try:
        yield apply(module, pipeline)
    except PtxError as problem:
        if any(d.code != "E301" for d in problem.diagnostics):
            raise
