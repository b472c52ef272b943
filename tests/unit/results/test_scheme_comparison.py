"""Register schemes side by side, on made-up counters."""

from typing import Any

from ptxtool.results.scheme_comparison import SchemeComparison, SchemeRun
from ptxtool.results.sweeps import WAITING, StoredResult

COUNTERS: dict[str, Any] = {
    "cycles": 1000,
    "registers": 20,
    "resident_average": 6.0,
    "switches": 0,
    "storage_bits": 0,
    "energy": {"total_uj": 50.0, "parts_uj": {"leakage": 50.0}, "time_us": 1.0},
    "scheduler": "gto",
    "grid": [4, 1, 1],
    "block": [64, 1, 1],
    "remarks": ["of all"],
}
REFUSED = StoredResult("failed", problems=({"code": "E301", "message": "it is PTXPlus", "help": "no"},))


def ended(checked: tuple[str, ...] = (), memory: str = "m", **changes: Any) -> StoredResult:
    """A run of 1000 cycles with 50 uJ, or other counters."""
    return StoredResult("done", COUNTERS | changes, checked, (), memory)


def comparison(*runs: SchemeRun) -> SchemeComparison:
    return SchemeComparison("k.ptx", "k", "tesla-c2050", (SchemeRun("none", ended()), *runs))


def test_changes_are_over_the_first_run() -> None:
    energy = {"total_uj": 75.0, "parts_uj": {"leakage": 75.0}, "time_us": 1.0}
    fine = SchemeRun("finereg", ended(cycles=1250, energy=energy))
    found = comparison(fine, SchemeRun("regmutex", REFUSED))
    assert found.change(fine, "cycles") == 25
    assert found.energy_change(fine) == 50
    assert found.change(found.runs[2], "cycles") is None
    assert found.energy_change(found.runs[2]) is None
    assert found.change(found.runs[1], "switches") is None  # 0 without a scheme
    assert str(found).splitlines() == [
        "k on tesla-c2050",
        "  none: 1000 cycles (+0.0%)",
        "  finereg: 1250 cycles (+25.0%)",
        "  regmutex: it is PTXPlus",
    ]


def test_registers_and_active_ctas() -> None:
    assert SchemeRun("none", ended()).registers == "20"
    pool = SchemeRun("regmutex", ended(pool={"base": 24, "extended": 10}))
    assert pool.registers == "24+10"
    assert SchemeRun("none", ended()).active_average == 6
    assert SchemeRun("finereg", ended(switching={"active_average": 2.5})).active_average == 2.5
    assert SchemeRun("regmutex", REFUSED).registers == ""


def test_a_scheme_that_declines_is_no_problem() -> None:
    assert comparison(SchemeRun("regmutex", REFUSED), SchemeRun("finereg", WAITING)).problems == ()
    alone = SchemeComparison("k.ptx", "k", "tesla-c2050", (SchemeRun("none", REFUSED),))
    assert [problem.message for problem in alone.problems] == ["none: it is PTXPlus"]


def test_what_went_wrong() -> None:
    deadlock = StoredResult("failed", problems=({"code": "E407", "message": "no warp can go on"},))
    found = comparison(SchemeRun("finereg", deadlock), SchemeRun("unified", StoredResult("lost")))
    assert [(p.code, p.message) for p in found.problems] == [
        ("E407", "finereg: no warp can go on"),
        ("E504", "unified: lost"),
    ]


def test_other_memory_is_a_problem_unless_results_are_checked() -> None:
    other = comparison(SchemeRun("finereg", ended(), same_memory=False))
    assert [(p.code, p.message) for p in other.problems] == [
        ("E409", "finereg: memory differs from that of none")
    ]
    assert comparison(SchemeRun("finereg", ended(checked=("x",)), same_memory=False)).problems == ()


def test_json() -> None:
    data = comparison(SchemeRun("regmutex", REFUSED)).to_dict()
    first, second = data["schemes"]
    assert (first["name"], first["cycles"], first["cycles_percent"], first["refused"]) == (
        "none",
        1000,
        0,
        "",
    )
    assert (second["status"], second["refused"], second["cycles_percent"]) == (
        "failed",
        "it is PTXPlus",
        None,
    )
    assert data["complete"] is True
