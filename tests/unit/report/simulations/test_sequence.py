"""Lists of launches as tables."""

from sim_results import sim_result

from ptxtool.report.simulations.sequence import sequence_outcome_parts, sequence_parts
from ptxtool.results.outcome import LaunchOutcome
from ptxtool.results.sequences import SequenceOutcome, SequenceRun
from ptxtool.results.simulation import SimResult, Totals


def simulated(*results: SimResult, status: str = "done") -> list[str]:
    numbers = tuple(range(1, len(results) + 1))
    run = SequenceRun("gpu", len(results), numbers, results, Totals.of(results), status, (), ())
    return "\n".join(map(str, sequence_parts(run))).splitlines()


def test_a_line_for_each_launch_and_the_totals() -> None:
    lines = simulated(sim_result(), sim_result(kernel="j", grid=(4, 4, 1), scheduler="gto"))
    assert lines[0] == "2 launches on gpu, lrr, gto"
    assert lines[3].split()[:4] == ["1", "k", "10", "64"]
    assert lines[4].split()[:6] == ["2", "j", "4", "x", "4", "64"]
    (cycles,) = [line.split() for line in lines if line.startswith("gpu_tot_sim_cycle")]
    assert cycles == ["gpu_tot_sim_cycle", "2000", "cycles"]


def test_one_launch_that_was_interrupted() -> None:
    assert simulated(sim_result(), status="interrupted")[0] == "1 launch on gpu, lrr (interrupted)"


def step(kernel: str, block: int) -> LaunchOutcome:
    return LaunchOutcome(
        kernel=kernel,
        grid=(1, 1, 2),
        block=(block, 1, 1),
        warp_instructions=10,
        findings=(),
        lost_findings=0,
        printed="",
    )


def test_equal_launches_one_after_the_other_share_a_line() -> None:
    steps = (step("k", 32), step("k", 32), step("k", 64), step("k", 32))
    parts = sequence_outcome_parts(SequenceOutcome(steps, (), (), ()))
    lines = str(parts[0]).splitlines()
    assert lines[0] == "4 launches"
    assert [line.split() for line in lines[3:]] == [
        ["1-2", "k", "1", "x", "1", "x", "2", "32", "20"],
        ["3", "k", "1", "x", "1", "x", "2", "64", "10"],
        ["4", "k", "1", "x", "1", "x", "2", "32", "10"],
    ]


def test_recorded_launches_have_numbers_of_the_application() -> None:
    steps = (step("k", 32), step("k", 32), step("k", 32))
    outcome = SequenceOutcome(steps, (), (), (), numbers=(3, 4, 9), left_out=("launches 1-2", "launches 5-8"))
    parts = list(map(str, sequence_outcome_parts(outcome)))
    assert [line.split()[0] for line in parts[0].splitlines()[3:]] == ["3-4", "9"]
    assert parts[-4:-2] == ["not in the list: launches 1-2", "not in the list: launches 5-8"]
