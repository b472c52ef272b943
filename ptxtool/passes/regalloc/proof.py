"""The claim of the passes that give registers other places."""

from collections.abc import Mapping
from dataclasses import dataclass

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Module
from ptxtool.validate.assignment import check_assignment


@dataclass(frozen=True)
class Proof:
    """The claim that the registers of a module were placed anew and nothing else: per function, `origins` says which
    old instruction every new one is (-1: none), for `ptxtool.validate.assignment`."""

    origins: Mapping[str, tuple[int, ...]]

    def __call__(self, before: Module, after: Module) -> tuple[Diagnostic, ...]:
        return check_assignment(before, after, self.origins)
