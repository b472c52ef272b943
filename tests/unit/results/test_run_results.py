"""Results of single runs and of ladders: gains over the first rung, the first stall, and what counts as wrong."""

from sim_results import sim_result, stall_point

from ptxtool.base.diag import Diagnostic
from ptxtool.results.run_results import Comparison, Run, Rung, first_stall
from ptxtool.results.simulation import SimResult


def rung(name: str, result: SimResult, same_memory: bool = True, *problems: Diagnostic) -> Rung:
    return Rung(name, "lrr", 0, "", Run(result, (), ("x",), problems), same_memory, stall_line=4)


def ladder(*rungs: Rung) -> Comparison:
    return Comparison("k.ptx", "k", "registers", 90, rungs)


def test_a_gain_is_of_thread_ipc_over_the_first_rung() -> None:
    first, faster = rung("a", sim_result()), rung("b", sim_result(cycles=800))
    found = ladder(first, faster)
    assert (found.gain(first), found.gain(faster)) == (0.0, 25.0)


def test_a_run_that_did_not_end_has_no_gain() -> None:
    first, stopped = rung("a", sim_result()), rung("b", sim_result(status="interrupted"))
    assert ladder(first, stopped).gain(stopped) is None
    assert ladder(stopped, first).gain(first) is None


def test_other_memory_is_wrong() -> None:
    wrong = Diagnostic("E409", "argument 'x' is not as expected")
    found = ladder(rung("a", sim_result()), rung("b", sim_result(), False, wrong))
    assert [d.message for d in found.problems] == [
        "b: argument 'x' is not as expected",
        "b: memory differs from that of a",
    ]
    assert all(d.code == "E409" for d in found.problems)


def test_the_first_stall_is_that_in_the_text() -> None:
    points = (stall_point(9, first_cycle=1), stall_point(3, first_cycle=100))
    assert first_stall(points) is points[1]
    assert first_stall(()) is None
    data = rung("a", sim_result(stall_points=points)).stall_to_dict()
    assert data is not None
    assert (data["instruction"], data["line"], data["sequence"]) == (3, 4, 7)
    assert "offset" not in data


def test_a_stall_at_scratchpad_has_a_byte_and_no_register() -> None:
    data = rung("a", sim_result(stall_points=(stall_point(3, offset=16, variable="t"),))).stall_to_dict()
    assert data is not None
    assert (data["offset"], data["variable"]) == (16, "t")
    assert "register" not in data


def test_results_of_a_run_that_did_not_end_are_not_compared() -> None:
    stopped = Run(sim_result(status="max-cycles"), (), ("x",), ())
    assert stopped.verdict == "results: not compared, the run did not end"
    assert stopped.to_dict()["expected"]["ok"] is False
    assert Run(sim_result(), (), ("x",), ()).verdict == "results: x as expected"
