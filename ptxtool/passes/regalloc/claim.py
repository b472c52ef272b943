"""The claim of the passes that assign registers, which `ptxtool.validate.assignment` proves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Module
from ptxtool.validate.assignment import check_assignment


@dataclass(frozen=True)
class AssignmentClaim:
    """The claim that a pass changed only the assignment of registers: per function, `origins` has the index of the
    old instruction for every new one (-1: none), for `ptxtool.validate.assignment`. Kernels in `demoted` keep
    registers in shared memory, for CTAs of at most so many threads, and of PTXPlus with so many bytes of
    `dynamic_shared` memory. `encoded`: the new text has other labels and `.half`, as in `align.py` there."""

    origins: Mapping[str, Sequence[int]]
    demoted: Mapping[str, int] = field(default_factory=dict)
    dynamic_shared: Mapping[str, int] = field(default_factory=dict)
    encoded: bool = False

    def __call__(self, before: Module, after: Module) -> tuple[Diagnostic, ...]:
        bounds = self.demoted, self.dynamic_shared
        return check_assignment(before, after, self.origins, *bounds, encoded=self.encoded)
