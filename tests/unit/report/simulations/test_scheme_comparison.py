"""The table of register schemes, on made-up counters."""

from typing import Any

from ptxtool.report.simulations.scheme_comparison import scheme_comparison_parts
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
FIRST = SchemeRun("none", StoredResult("done", COUNTERS, ("x",), (), "m"))


def shown(*runs: SchemeRun, complete: bool = True) -> list[str]:
    comparison = SchemeComparison("k.ptx", "k", "tesla-c2050", (FIRST, *runs), complete)
    return "\n".join(map(str, scheme_comparison_parts(comparison))).splitlines()


def run(scheme: str, same: bool = True, checked: tuple[str, ...] = ("x",), **changes: Any) -> SchemeRun:
    return SchemeRun(scheme, StoredResult("done", COUNTERS | changes, checked, (), "m"), same)


def test_a_row_for_each_scheme() -> None:
    fine = run("finereg", cycles=900, switches=7, storage_bits=50509, switching={"active_average": 2.5})
    unified = run("unified", storage_bits=None)
    lines = shown(fine, unified)
    assert lines[0] == "k on tesla-c2050, gto: grid 4 x 1 x 1, block 64 x 1 x 1"
    assert lines[3].split() == ["none", "1000", "6.0", "6.0", "0", "20", "0", "50", "uJ"]
    assert lines[4].split() == [
        *("finereg", "900", "-10.0%", "6.0", "2.5", "7", "20", "50509"),
        *("50", "uJ", "+0.0%"),
    ]
    assert lines[5].split()[7] == "-"
    assert lines[-1] == "results: x as expected, and all memory identical in all 3 runs"


def test_remarks_of_all_runs_are_printed_once() -> None:
    lines = shown(run("finereg", remarks=["of all", "of one"]), run("unified"))
    assert lines.count("note: of all") == 1
    assert lines.count("finereg: of one") == 1


def test_a_scheme_that_did_not_run_has_its_reason() -> None:
    refused = StoredResult("failed", problems=({"code": "E301", "message": "it is PTXPlus"},))
    lines = shown(SchemeRun("regmutex", refused))
    assert lines[4].split() == ["regmutex", "not", "run"]
    assert "regmutex: it is PTXPlus" in lines
    assert lines[-1].endswith("in all 1 runs")


def test_more_registers_than_the_launch_gives() -> None:
    pool = {"base": 24, "extended": 10}
    lines = shown(run("regmutex", pool=pool))
    assert (
        "regmutex: its text takes 34 registers, the others 20, as launched: --registers 34 is fair" in lines
    )
    assert not any("fair" in line for line in shown(run("regmutex", pool={"base": 14, "extended": 6})))


def test_other_memory() -> None:
    lines = shown(run("finereg", same=False))
    assert lines[-1] == "results: x as expected; other bits than without a scheme: finereg"
    wrong = SchemeRun(
        "finereg", StoredResult("wrong", COUNTERS, ("x",), ({"code": "E409", "message": "no"},))
    )
    assert shown(wrong)[-1] == "results: WRONG, see the messages"


def test_an_interrupt() -> None:
    lines = shown(SchemeRun("finereg", WAITING), complete=False)
    assert lines[-1] == "interrupted: 1 of 2 schemes have run"
