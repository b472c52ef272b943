"""Results of lists of launches."""

from sim_results import sim_result

from ptxtool.base.diag import Diagnostic
from ptxtool.results.outcome import LaunchOutcome
from ptxtool.results.sequences import SequenceOutcome, SequenceRun
from ptxtool.results.simulation import Totals

RACE, RANGE = Diagnostic("E410", "a race"), Diagnostic("E402", "out of bounds")


def step(*findings: Diagnostic, lost: int = 0) -> LaunchOutcome:
    return LaunchOutcome(
        kernel="k",
        grid=(1, 1, 1),
        block=(32, 1, 1),
        warp_instructions=10,
        findings=findings,
        lost_findings=lost,
        printed="",
    )


def test_what_several_launches_found_is_reported_once() -> None:
    wrong = Diagnostic("E409", "wrong")
    found = SequenceOutcome((step(RACE), step(RANGE, RACE, lost=2)), (), ("x",), (wrong,), ("race",))
    assert found.findings == (RACE, RANGE)
    assert found.problems == (RACE, RANGE, wrong)
    assert found.verdict == "results: wrong (1 problem)\nchecks: 4 faults found (race)"
    assert found.to_dict()["warp_instructions"] == 20


def test_launches_keep_their_numbers_of_the_list() -> None:
    results = (sim_result(), sim_result(cycles=5))
    run = SequenceRun("gpu", 3, (1, 3), results, Totals.of(results), "done", ("x",), ())
    data = run.to_dict()
    assert [(each["launch"], each["cycles"]) for each in data["launches"]] == [(1, 1000), (3, 5)]
    assert (data["of"], data["totals"]["gpu_tot_sim_cycle"]) == (3, 1005)
    assert run.verdict == "results: x as expected"


def test_a_list_that_did_not_end_is_not_compared() -> None:
    run = SequenceRun("gpu", 3, (), (), Totals.of(()), "interrupted", ("x",), ())
    assert run.verdict == "results: not compared, the last launch did not end"
    assert run.to_dict()["expected"]["ok"] is False
