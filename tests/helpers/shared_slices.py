"""Runs whose first slices several workers share, whatever the cores have to do meanwhile: few, as that can be slow."""

from typing import Any

import pytest

from ptxsim.timing import drive
from ptxsim.timing.workers import slices

FIRST, MOST = 300, 500
"""Cycles of the first slice, which is not shared, and of those after it, roughly."""


def share_slices(monkeypatch: pytest.MonkeyPatch, n: int) -> list[int]:
    """Let workers share n slices after the first; returns a list of the cycles in which these end."""
    ends: list[int] = []

    class Fixed(slices.Pace):
        def note(self, cycles: int, seconds: float, was_shared: bool) -> None:
            self.is_shared = len(ends) < n

        @property
        def slice_seconds(self) -> float:
            return 1e-9

    run_slice = slices.Crew.run_slice

    def noted(crew: Any) -> int:
        reason = run_slice(crew)
        ends.append(crew.cycle)
        return reason

    monkeypatch.setattr(slices.Crew, "run_slice", noted)
    monkeypatch.setattr(slices, "Pace", Fixed)
    monkeypatch.setattr(slices, "_PATIENCE", 1 << 40)
    monkeypatch.setattr(slices, "_COMPILED_AFTER", 0.0)
    monkeypatch.setattr(drive, "_FIRST_OF_THREADS", FIRST)
    return ends


def loop_of_any_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers use the loop for any run, so that a test compiles one only."""
    monkeypatch.setattr(slices, "constant_fields", lambda run, has_team: (("has_team", 1),))
