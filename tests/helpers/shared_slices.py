"""Runs whose first slices several workers share, whatever the cores have to do meanwhile: few, as that can be slow."""

from typing import Any

import numpy as np
import pytest
from kernels import sample

import ptxsim
from ptxsim.timing.workers import crew, pace, slices
from ptxtool.base.identity_cache import IdentityCache

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

        def learn(self) -> None:
            pass

    run_slice = crew.Crew.run_slice

    def noted(self: crew.Crew) -> int:
        reason = run_slice(self)
        ends.append(self.cycle)
        return reason

    monkeypatch.setattr(crew.Crew, "run_slice", noted)
    monkeypatch.setattr(slices, "Pace", Fixed)
    monkeypatch.setattr(slices, "_experience", IdentityCache(1))
    monkeypatch.setattr(slices, "has_free_cpus", lambda n: True)
    monkeypatch.setattr(crew, "_PATIENCE", 1000.0)
    monkeypatch.setattr(pace, "_FIRST_CYCLES", FIRST)
    return ends


def loop_of_any_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers use the loop for any run, so that a test compiles one only."""
    monkeypatch.setattr(slices, "constant_fields", lambda run, has_team: (("has_team", 1),))


def reduction(gpu: str, **options: Any) -> dict[str, Any]:
    """A launch of the sample: its counters, and what is in memory then."""
    described, kernel = sample("reduction")
    arguments = described.arguments()
    result = ptxsim.launch(
        kernel,
        described.grid,
        described.block,
        arguments,
        gpu=gpu,
        registers=described.registers,
        dynamic_shared=described.dynamic_shared,
        **options,
    )
    return result.to_dict() | {"memory": [a.tolist() for a in arguments if isinstance(a, np.ndarray)]}
