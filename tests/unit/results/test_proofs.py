"""What runs before and after a rewriting show, in words and as data."""

from typing import Any

import pytest

from ptxtool.base.diag import Diagnostic
from ptxtool.results.proofs import Proof, Trial

SAME, NOTHING = Trial(None, 5, True), Trial(None, 0, True)
SKIPPED = Trial(3, 0, True, "E404: access out of bounds")
OTHER = Trial(4, 1, False)


def proof(*trials: Trial, **changes: Any) -> Proof:
    fields: dict[str, Any] = {
        "before": "a.ptx",
        "after": "b.ptx",
        "kernels": ("k",),
        "launch": "launch.toml",
        "buffers": ("x",),
        "unseen": (),
        "timed": True,
        "trials": trials,
        "problems": (),
    }
    return Proof(**fields | changes)


E305 = (Diagnostic("E305", "the rewritten kernel computes something else"),)


@pytest.mark.parametrize(
    ("given", "holds", "summary"),
    [
        (
            proof(SAME),
            True,
            "k: run on 1 set of inputs before and after, without and with time (launch.toml): same memory",
        ),
        (
            proof(SAME, SKIPPED, timed=False),
            True,
            "k: run on 1 set of inputs before and after, without time (launch.toml): same memory",
        ),
        (proof(NOTHING), False, "the original changed no buffer, so this shows nothing"),
        (proof(SAME, OTHER, problems=E305), False, "run on 2 sets of inputs before and after"),
        (proof(SAME, OTHER, problems=E305), False, ": it computes something else"),
        (proof(SAME, unseen=("g",)), True, "same memory; variables of the module were not compared: g"),
    ],
)
def test_the_verdict(given: Proof, holds: bool, summary: str) -> None:
    assert given.holds == holds
    assert summary in given.summary
    assert given.to_dict()["holds"] == holds


def test_every_trial_is_listed() -> None:
    assert str(proof(SAME, SKIPPED, OTHER)).splitlines()[1:] == [
        "  the launch's inputs: same memory, 5 elements changed",
        "  random inputs, seed 3: skipped, the original stops: E404: access out of bounds",
        "  random inputs, seed 4: different memory, 1 element changed",
    ]
    data = proof(SAME, SKIPPED, problems=E305).to_dict()
    assert data["trials"][1] == {
        "seed": 3,
        "changed": 0,
        "same": True,
        "skipped": "E404: access out of bounds",
    }
    assert [each["code"] for each in data["problems"]] == ["E305"]
