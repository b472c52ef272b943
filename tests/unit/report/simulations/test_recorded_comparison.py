"""The tables of compared recorded launches, on made-up counters."""

from sim_results import sim_result

from ptxtool.base.diag import Diagnostic
from ptxtool.report.simulations.recorded_comparison import recorded_comparison_parts
from ptxtool.results.recorded_comparisons import ComparedLaunch, RecordedComparison
from ptxtool.results.run_results import Comparison, Run, Rung
from ptxtool.results.scheme_comparison import SchemeComparison, SchemeRun
from ptxtool.results.sweeps import StoredResult


def ladder(number: int, *cycles: int) -> ComparedLaunch:
    rungs = [
        Rung(name, "lrr", 0, "", Run(sim_result(cycles=n), (), ("x",), ()), True)
        for name, n in zip(("first", "second"), cycles, strict=True)
    ]
    return ComparedLaunch(number, "k", Comparison("k.ptx", "k", "registers", 90, tuple(rungs)))


def shown(*launches: ComparedLaunch, of: int = 0, names: tuple[str, ...] = ("first", "second")) -> list[str]:
    found = RecordedComparison("l", "tesla-c2050", names, of or len(launches), launches, ("launch 3",))
    return "\n".join(map(str, recorded_comparison_parts(found))).splitlines()


def test_all_together_and_each() -> None:
    lines = shown(ladder(1, 1000, 500), ladder(4, 3000, 2000))
    assert lines[0] == "2 launches on tesla-c2050, each with empty caches"
    assert lines[3].split() == ["first", "2", "4000", "6.00"]
    assert lines[4].split() == ["second", "2", "2500", "9.60", "+60.00%", "############"]
    assert "gain, launch by launch" in lines
    assert [line.split() for line in lines if line.split()[1:2] == ["k"]] == [
        ["1", "k", "1000", "+100.00%"],
        ["4", "k", "3000", "+50.00%"],
    ]
    assert "not in the list: launch 3" in lines
    assert lines[-1] == "results: as expected, and memory identical under all schemes"


def test_reasons_once_with_their_launches() -> None:
    refusal = (Diagnostic("E301", "no room", help="h"),)
    lines = shown(ladder(1, 1000, 500), *(ComparedLaunch(n, "k", None, refusal) for n in (2, 3)))
    assert "launches 2, 3: not run: no room" in lines
    assert ["2", "k", "-", "-"] in [line.split() for line in lines]
    assert lines[-1].endswith("; 2 of 3 launches not run")
    assert shown(ComparedLaunch(2, "k", None, refusal), names=())[-1] == "no launch has run"
    assert shown(ladder(1, 1000, 500), of=2)[-1] == "interrupted: 1 of 2 launches"


def test_schemes_are_compared_by_cycles() -> None:
    counters = {"cycles": 100, "thread_instructions": 100}
    runs = (
        SchemeRun("none", StoredResult("done", counters, ("x",))),
        SchemeRun("finereg", StoredResult("done", counters | {"cycles": 125}, ("x",))),
        SchemeRun("regmutex", StoredResult("failed", problems=({"code": "E301", "message": "no"},))),
    )
    launch = ComparedLaunch(9, "k", SchemeComparison("k.ptx", "k", "tesla-c2050", runs))
    lines = shown(launch, names=("none", "finereg", "regmutex"))
    assert lines[4].split()[:5] == ["finereg", "1", "125", "0.80", "+25.00%"]
    assert lines[5].split() == ["regmutex", "0"]
    assert "launch 9: regmutex: no" in lines
    assert "change of cycles, launch by launch" in lines
