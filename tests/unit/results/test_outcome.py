"""The verdict on a run without time."""

import numpy as np
import pytest

from ptxtool.base.diag import Diagnostic
from ptxtool.results.outcome import Buffer, Outcome, expected_to_dict, verdict

WRONG = Diagnostic("E409", "argument 'x' is not as expected")
RACE = Diagnostic("E410", "a race")


@pytest.mark.parametrize(
    ("checked", "problems", "looked_for", "n_findings", "text"),
    [
        ((), (), (), 0, "results: nothing expected, nothing compared"),
        (("x", "y"), (), (), 0, "results: x, y as expected"),
        (("x", "y"), (WRONG,), (), 0, "results: wrong (1 problem)"),
        (("x",), (), ("init", "race"), 0, "results: x as expected\nchecks: nothing found (init, race)"),
        (("x",), (WRONG, WRONG), ("race",), 3, "results: wrong (2 problems)\nchecks: 3 faults found (race)"),
    ],
)
def test_the_verdict(
    checked: tuple[str, ...],
    problems: tuple[Diagnostic, ...],
    looked_for: tuple[str, ...],
    n_findings: int,
    text: str,
) -> None:
    assert verdict(checked, problems, looked_for, n_findings) == text


def test_what_did_not_end_is_not_ok() -> None:
    assert expected_to_dict(("x",), ())["ok"] is True
    assert expected_to_dict(("x",), (), ended=False)["ok"] is False
    assert expected_to_dict(("x",), (WRONG,))["ok"] is False


def test_findings_come_before_results_and_lost_ones_count() -> None:
    buffer = Buffer("x", "s32", np.array([[1, 2]], np.int32), 1)
    found = Outcome(
        kernel="k",
        grid=(1, 1, 1),
        block=(32, 1, 1),
        warp_instructions=3,
        findings=(RACE,),
        lost_findings=4,
        printed="",
        buffers=(buffer,),
        checked=("x",),
        wrong=(WRONG,),
        looked_for=("race",),
    )
    assert found.problems == (RACE, WRONG)
    assert "5 faults found" in found.verdict
    data = found.to_dict()
    assert data["buffers"] == [
        {"name": "x", "type": "s32", "shape": [1, 2], "changed": 1, "values": [[1, 2]]}
    ]
    assert data["checks"]["lost_findings"] == 4
