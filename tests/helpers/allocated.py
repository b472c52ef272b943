"""Modules with physical registers, for tests that run them: within their bounds, and with overlap made real."""

from typing import Literal

from clobber import clobbered, n_units, places

from ptxtool.analysis.regalloc.assignment import assign
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.pipeline import rewrite
from ptxtool.passes.registry import PASSES

How = Literal["allocated", "spilled", "compacted"]
HOW: tuple[How, ...] = ("allocated", "spilled")
"""The two that differ most."""
PREDICATES = 7


def bodies(module: Module) -> list[Function]:
    """The functions that have one."""
    return [item for item in module.items if isinstance(item, Function) and item.body is not None]


def least(module: Module) -> int:
    """The least bound under which `allocate` with spilling succeeds, as it says itself."""
    try:
        PASSES["allocate"](max_regs=1).run(module)
    except PtxError as problem:
        return max(int(d.message.split()[-1]) for d in problem.diagnostics)
    return 1


def unbounded(module: Module) -> int:
    """The registers that its largest function needs where nothing is spilled."""
    return max(assign(f).registers for f in bodies(module))


def within(function: Function, registers: int, predicates: int = PREDICATES, where: str = "") -> None:
    """Assert that a function names no unit and no predicate past its bounds."""
    units, n = n_units(function), len(places(function)[1])
    assert units <= registers, f"{where}: '{function.name}' names {units} units, more than {registers}"
    assert n <= predicates, f"{where}: '{function.name}' names {n} predicates"


def physical(module: Module, how: How) -> Module:
    """The module with its registers allocated, compacted, or in little more than the least number of them."""
    if how == "compacted":
        return clobbered(rewrite(module, "compact").module)
    bound = 255
    if how == "spilled":
        small, large = least(module), unbounded(module)
        bound = min(bound, small + (large - small) // 4)
    after = rewrite(module, f"allocate{{max-regs={bound}}}").module
    for function in bodies(after):
        within(function, bound)
    return clobbered(after)
