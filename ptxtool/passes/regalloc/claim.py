"""The claim of the passes that assign registers, which `ptxtool.validate.assignment` proves."""

from collections.abc import Mapping
from dataclasses import dataclass

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Module
from ptxtool.validate.assignment import check_assignment


@dataclass(frozen=True)
class AssignmentClaim:
    """The claim that a pass changed only the assignment of registers: per function, `origins` has the index of the
    old instruction for every new one (-1: none), for `ptxtool.validate.assignment`."""

    origins: Mapping[str, tuple[int, ...]]

    def __call__(self, before: Module, after: Module) -> tuple[Diagnostic, ...]:
        return check_assignment(before, after, self.origins)
