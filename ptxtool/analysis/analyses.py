"""The analyses of one kernel, each computed once, when first needed.

For passes, reports and the simulator's lowering that need several of them. There is no invalidation: a rewritten kernel
is another kernel, with another `Analyses`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ptxtool.analysis.flow.liveness import Liveness, live_registers
from ptxtool.analysis.flow.loops import Loops, loops_of
from ptxtool.analysis.flow.pressure import Pressure, pressure_of
from ptxtool.analysis.sharing.first_use import FirstUse, first_use
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.dominance import DominatorTree, dominators, post_dominators
from ptxtool.cfg.reconvergence import points_of
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function


@dataclass(frozen=True, eq=False)
class Analyses:
    """The analyses of one kernel. Properties raise `PtxError` (E202) where a label is undeclared."""

    kernel: Function

    @cached_property
    def cfg(self) -> Cfg:
        """The plain view: after `callp` comes the next instruction."""
        return build(self.kernel)

    @cached_property
    def interprocedural_cfg(self) -> Cfg:
        """The view in which `callp` and `retp` are followed."""
        return build(self.kernel, interprocedural=True)

    @property
    def def_use(self) -> tuple[DefUse, ...]:
        return self.kernel.def_uses

    @cached_property
    def dominators(self) -> DominatorTree:
        return dominators(self.cfg)

    @cached_property
    def post_dominators(self) -> DominatorTree:
        return post_dominators(self.cfg)

    @cached_property
    def reconvergence_points(self) -> Mapping[int, int]:
        return points_of(self.cfg)

    @cached_property
    def loops(self) -> Loops:
        return loops_of(self.cfg, self.dominators)

    @cached_property
    def liveness(self) -> Liveness:
        """Per warp."""
        return live_registers(self.cfg, self.interprocedural_cfg, self.def_use)

    @cached_property
    def thread_liveness(self) -> Liveness:
        return live_registers(self.cfg, self.interprocedural_cfg, self.def_use, per="thread")

    @cached_property
    def pressure(self) -> Pressure:
        return pressure_of(self.liveness)

    @cached_property
    def first_use(self) -> FirstUse:
        """In textual order, the paper's."""
        return first_use(self.kernel)
