"""The claim of the passes that assign registers, which `ptxtool.validate.assignment` proves."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Module
from ptxtool.validate.assignment import check_assignment


@dataclass(frozen=True)
class AssignmentClaim:
    """The claim that a pass changed only the assignment of registers: per function, `origins` has the index of the
    old instruction for every new one (-1: none), for `ptxtool.validate.assignment`. Kernels in `demoted` keep
    registers in shared memory, for CTAs of at most so many threads, and of PTXPlus with so many bytes of
    `dynamic_shared` memory."""

    origins: Mapping[str, tuple[int, ...]]
    demoted: Mapping[str, int] = field(default_factory=dict)
    dynamic_shared: Mapping[str, int] = field(default_factory=dict)

    def __call__(self, before: Module, after: Module) -> tuple[Diagnostic, ...]:
        return check_assignment(before, after, self.origins, self.demoted, self.dynamic_shared)
