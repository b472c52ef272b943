"""Verdicts: what is kept and what is not."""

from smallkernel import KERNEL

from ptxtool.formats.gate_limits import DEFAULT, Limit, Limits
from ptxtool.parse import parse
from ptxtool.results.gates import Gate, Measured, judged

K = parse(KERNEL).kernels["k"]


def gate(after: dict[str, int], before: dict[str, int] | None, limits: Limits = DEFAULT) -> Gate:
    return judged([Measured(K, after)], {} if before is None else {"k": before}, limits)


def test_nothing_may_get_worse_by_default() -> None:
    assert gate({"registers": 4, "occupancy": 6}, {"registers": 4, "occupancy": 6}).is_kept
    assert not gate({"registers": 5}, {"registers": 4}).is_kept
    assert not gate({"occupancy": 5}, {"occupancy": 6}).is_kept
    assert gate({"occupancy": 7}, {"occupancy": 6}).is_kept
    assert gate({"instructions": 99}, {"instructions": 9}).is_kept  # no limit on it
    assert gate({"registers": 99}, None).is_kept  # a new kernel


def test_what_is_no_longer_measured_is_not_kept() -> None:
    found = gate({}, {"cycles": 100})
    assert [d.message for d in found.problems] == ["'k': cycles has a limit and was not measured"]


def test_the_problem_says_what_is_accepted() -> None:
    found = gate({"cycles": 103}, {"cycles": 100}, Limits({"cycles": Limit(2, True, True)}))
    assert [(d.code, d.message) for d in found.problems] == [
        ("E304", "'k': cycles went from 100 to 103, at most 102 is accepted")
    ]


def test_a_baseline_and_missing_kernels() -> None:
    found = judged([Measured(K, {"registers": 4})], {"gone": {"registers": 3}}, DEFAULT)
    assert found.missing == ("gone",)
    assert found.values() == {"k": {"registers": 4}}
    assert found.to_dict()["measures"] == [
        {"kernel": "k", "measure": "registers", "before": None, "after": 4, "limit": None, "kept": True}
    ]
