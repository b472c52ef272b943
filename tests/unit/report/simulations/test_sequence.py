"""Lists of launches as tables."""

from dataclasses import replace

from sim_results import sim_result

from ptxtool.report.simulations.sequence import sequence_outcome_parts, sequence_parts
from ptxtool.results.concurrency import ConcurrentResult, LaunchCounts
from ptxtool.results.outcome import LaunchOutcome
from ptxtool.results.sequences import ConcurrentLaunches, SequenceOutcome, SequenceRun
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


def test_launches_on_streams_have_a_table_of_their_shares() -> None:
    first = LaunchCounts("k", 1, (), (2, 1, 1), (32, 1, 1), 4, 0, 2, 2, 0, 10, 90, 80, 30, 960, 100)
    second = replace(first, kernel="j", after=(1,), first_cycle=91, end_cycle=191, cycles=100)
    whole = sim_result()
    ran = ConcurrentLaunches((4, 6), ConcurrentResult("leftover", (first, second), whole))
    run = SequenceRun("gpu", 2, (4,), (whole,), Totals.of([whole]), "done", (), (), concurrent=(ran,))
    lines = "\n".join(map(str, sequence_parts(run))).splitlines()
    assert lines[3].split()[0] == "4-6"
    at = lines.index("on streams, leftover: 1000 cycles, 0 of them shared")
    assert [line.split() for line in lines[at + 3 : at + 5]] == [
        ["4", "k", "1", "2", "10", "90", "80", "30", "12.00"],
        ["6", "j", "1", "4", "2", "91", "191", "100", "30", "9.60"],
    ]
    # from cycle 10 to 191; 1920 lanes
    assert lines[at + 5] == "stream 1: 2 launches in 181 cycles, 60 warp instructions, thread IPC 10.61"
