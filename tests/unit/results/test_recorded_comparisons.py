"""Recorded launches under several schemes, on made-up counters: sums, gains and problems."""

from typing import Any

import pytest
from sim_results import sim_result

from ptxtool.base.diag import Diagnostic
from ptxtool.results.recorded_comparisons import ComparedLaunch, RecordedComparison
from ptxtool.results.run_results import Comparison, Run, Rung
from ptxtool.results.scheme_comparison import SchemeComparison, SchemeRun
from ptxtool.results.sweeps import StoredResult

REFUSAL = Diagnostic("E301", "'demote' cannot do it", help="leave it out")


def ladder(number: int, cycles: tuple[int, int], complete: bool = True, **changes: Any) -> ComparedLaunch:
    """A launch of 12000 thread instructions under the schemes `a` and `b`."""
    rungs = [
        Rung(name, "lrr", 0, "", Run(sim_result(cycles=n, **changes), (), ("x",), ()), True)
        for name, n in zip("ab", cycles, strict=True)
    ]
    return ComparedLaunch(number, "k", Comparison("k.ptx", "k", "registers", 90, tuple(rungs), complete))


def schemes(number: int, cycles: int, other: StoredResult) -> ComparedLaunch:
    counters = {"cycles": cycles, "thread_instructions": 100}
    runs = SchemeRun("none", StoredResult("done", counters, ("x",))), SchemeRun("finereg", other)
    return ComparedLaunch(number, "k", SchemeComparison("k.ptx", "k", "tesla-c2050", runs))


def recorded(*launches: ComparedLaunch, names: tuple[str, ...] = ("a", "b")) -> RecordedComparison:
    return RecordedComparison("launch.toml", "tesla-c2050", names, len(launches), launches)


def test_all_together_are_sums() -> None:
    """1000 + 3000 cycles against 500 + 2000: 24000 thread instructions in 2500 cycles instead of 4000."""
    found = recorded(ladder(1, (1000, 500)), ladder(4, (3000, 2000)))
    first, second = found.totals
    assert (first.work.cycles, first.gain, first.change) == (4000, 0.0, 0.0)
    assert (second.launches, second.work.cycles, second.work.thread_ipc) == ((1, 4), 2500, 9.6)
    assert second.gain == pytest.approx(60.0)
    assert second.change == -37.5
    assert found.complete
    assert found.total("b", found.launches[:1]).gain == 100.0


def test_a_scheme_is_compared_over_the_launches_that_ended_under_it() -> None:
    refused = StoredResult("failed", problems=({"code": "E301", "message": "no"},))
    done = StoredResult("done", {"cycles": 50, "thread_instructions": 100}, ("x",))
    found = recorded(schemes(1, 100, done), schemes(2, 900, refused), names=("none", "finereg"))
    first, second = found.totals
    assert (first.launches, first.work.cycles) == ((1, 2), 1000)
    assert (second.launches, second.work.cycles, second.first.cycles, second.change) == ((1,), 50, 100, -50.0)
    assert found.problems == ()
    nothing = recorded(schemes(2, 900, refused), names=("none", "finereg")).totals[1]
    assert (nothing.launches, nothing.gain, nothing.change) == ((), None, None)


def test_a_refused_launch_is_a_problem_with_its_number() -> None:
    found = recorded(ladder(1, (1000, 500)), ComparedLaunch(7, "k", None, (REFUSAL,)))
    (problem,) = found.problems
    assert (problem.code, problem.message) == ("E301", "launch 7: 'demote' cannot do it")
    assert found.totals[1].launches == (1,)
    assert found.complete
    data = found.to_dict()
    assert (data["launches"][1]["launch"], data["launches"][1]["problems"][0]["code"]) == (7, "E301")
    assert data["launches"][0]["rungs"][1]["name"] == "b"
    assert [each["gain_percent"] for each in data["together"]] == [0.0, 100.0]
    assert "left_out" not in data


def test_an_interrupted_launch_is_the_last() -> None:
    stopped = ladder(2, (1000, 500), complete=False, status="interrupted")
    assert not recorded(ladder(1, (1000, 500)), stopped).complete
    assert recorded(ladder(1, (1000, 500)), stopped).totals[1].launches == (1,)
    assert not RecordedComparison("launch.toml", "c", ("a", "b"), 2, (ladder(1, (1, 1)),)).complete
