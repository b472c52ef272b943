"""The table of findings: one entry for a place, with a count, and what happens when it is full."""

import numpy as np

from ptxsim.base.jit import for_python
from ptxsim.base.program import GLOBAL
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.findings import report

REPORT = for_python(report)


def tables():
    return np.zeros(1, state.CHECKS), np.zeros(state.MAX_REPORTS, state.REPORT)


def add(checks, reports, kind, at, other=-1):
    return REPORT(checks[0], reports, kind, at, 0, np.uint64(0), GLOBAL, other, 0, 2)


def test_a_finding_at_the_same_place_counts() -> None:
    checks, reports = tables()
    assert add(checks, reports, state.BAD_ACCESS, 5) == 0
    assert add(checks, reports, state.BAD_ACCESS, 5) == -1
    assert add(checks, reports, state.BAD_ACCESS, 6) == 1
    assert reports["count"][:2].tolist() == [4, 2]


def test_a_race_in_either_order_is_one() -> None:
    checks, reports = tables()
    assert add(checks, reports, state.READ_AFTER_WRITE, 5, 9) == 0
    assert add(checks, reports, state.WRITE_AFTER_READ, 9, 5) == -1
    assert checks[0]["n_reports"] == 1


def test_findings_without_room_are_counted() -> None:
    checks, reports = tables()
    for at in range(state.MAX_REPORTS + 3):
        add(checks, reports, state.BAD_ACCESS, at)
    assert (checks[0]["n_reports"], checks[0]["lost_reports"]) == (state.MAX_REPORTS, 3)
