"""Tables and bars of sweeps, from made-up runs."""

import csv
import io
from dataclasses import replace
from typing import Any

import pytest
from sweep_records import RESULT, record

from ptxtool.base.diag import PtxError
from ptxtool.report.simulations.sweep import (
    PivotChoice,
    bars_table,
    pivot,
    pivot_tables,
    sweep_parts,
    verdict,
)
from ptxtool.results.sweeps import SweepResult
from ptxtool.sweep.export import encode


def test_a_table_of_values() -> None:
    (table,) = pivot_tables(pivot(RESULT, PivotChoice(columns=("scheme",))))
    assert str(table) == (
        "ladder: thread_ipc\n"
        "kernel    base  shared\n"
        "------  ------  ------\n"
        "a       100.00  125.00\n"
        "b       200.00  160.00\n"
        "c        50.00  failed"
    )


def test_gains_over_a_baseline_with_their_geometric_mean() -> None:
    shown = pivot(RESULT, PivotChoice(columns=("scheme",), gain=True))
    (table,) = pivot_tables(shown)
    # 1.25 * 0.8 = 1: the mean gain of both is none
    assert str(table) == (
        "ladder: thread_ipc, gain over base in percent\n"
        "kernel            base   shared\n"
        "--------------  ------  -------\n"
        "a               +0.00%  +25.00%\n"
        "b               +0.00%  -20.00%\n"
        "c               +0.00%   failed\n"
        "geometric mean  +0.00%   -0.00%"
    ).replace("-0.00%", f"{shown.means['shared']:+.2f}%")
    assert abs(shown.means["shared"]) < 1e-9
    assert str(bars_table(shown)) == (
        "kernel\n"
        "------\n"
        "a       shared  +25.00%  ########################################\n"
        "b       shared  -20.00%  --------------------------------\n"
        "c       shared   failed"
    )


def with_replicas(ipcs: dict[tuple[str, str], tuple[float, ...]]) -> SweepResult:
    records = [
        record(kernel, scheme, ipc, replica=k, replicas=len(found))
        for (kernel, scheme), found in ipcs.items()
        for k, ipc in enumerate(found)
    ]
    return SweepResult("twice", tuple(records))


def test_replicas_are_one_cell() -> None:
    """Gains of b: +10% in the first, -20% in the second."""
    ipcs = {("a", "base"): (100.0, 200.0), ("a", "shared"): (110.0, 240.0)}
    ipcs |= {("b", "base"): (100.0, 100.0), ("b", "shared"): (110.0, 80.0)}
    result = with_replicas(ipcs)
    (table,) = pivot_tables(pivot(result, PivotChoice()))
    assert str(table) == (
        "twice: thread_ipc\n"
        "kernel           base         shared\n"
        "------  -------------  -------------\n"
        "a       150.00 ±50.00  175.00 ±65.00\n"
        "b        100.00 ±0.00   95.00 ±15.00\n"
        "means of 2 replicas, ± the one that is farthest from it; (none): some gain and others lose"
    )
    shown = pivot(result, PivotChoice(gain=True))
    assert "+15.00% ±5.00\n" in str(pivot_tables(shown)[0])
    assert "-5.00% ±15.00 (none)\n" in str(pivot_tables(shown)[0])
    assert shown.means["shared"] == pytest.approx(100 * ((1.15 * 0.95) ** 0.5 - 1))
    assert shown.number("a", "shared") == pytest.approx(15)
    assert str(bars_table(shown)).count("#") > 10


def test_replicas_apart() -> None:
    shown = pivot(with_replicas({("a", "base"): (1.0, 2.0)}), PivotChoice(columns=("replica",)))
    assert shown.columns == ("replica 1", "replica 2")
    assert shown.numbers() == [1.0, 2.0]


def test_a_cell_with_a_wrong_replica_has_its_status() -> None:
    runs = [record("a", "base", 1.0, replicas=2), record("a", "base", 2.0, "wrong", replica=1, replicas=2)]
    assert pivot(SweepResult("s", tuple(runs)), PivotChoice()).cells == {("a", "default"): "wrong"}


def test_runs_without_a_good_result_enter_no_table_and_no_mean() -> None:
    """They have counters: of a part of the grid, or of wrong results."""
    result = SweepResult(
        "cut",
        (
            record("a", "base", 100.0),
            record("a", "shared", 110.0),
            record("a", "cut", 400.0, "failed"),
            record("b", "base", 300.0, "wrong"),
            record("b", "shared", 10.0),
            record("b", "cut", 10.0),
        ),
    )
    (table,) = pivot_tables(pivot(result, PivotChoice(columns=("scheme",))))
    assert [line.split() for line in str(table).splitlines()[3:]] == [
        ["a", "100.00", "110.00", "failed"],
        ["b", "wrong", "10.00", "10.00"],
    ]
    gains = pivot(result, PivotChoice(columns=("scheme",), gain=True))
    assert [line.split() for line in str(pivot_tables(gains)[0]).splitlines()[3:]] == [
        ["a", "+0.00%", "+10.00%", "failed"],
        ["b", "wrong", "no", "baseline", "no", "baseline"],
        ["geometric", "mean", "+0.00%", "+10.00%", "-"],
    ]
    (cut,) = [
        each for each in csv.DictReader(io.StringIO(encode(result, "csv").decode())) if "cut" in each["label"]
    ][:1]
    assert (cut["status"], cut["thread_ipc"]) == ("failed", "400.0")


def test_gains_of_ipc_between_different_numbers_of_instructions_are_noted() -> None:
    runs = (
        record("a", "base", 10.0),
        record("a", "lowered", 9.9, instructions=800),
        record("b", "base", 1.0),
    )
    note = "runs of a row execute different numbers of instructions: these are gains of IPC, not of time;"
    result = SweepResult("texts", runs)

    def shown(**choice: Any) -> str:
        return str(pivot_tables(pivot(result, PivotChoice(columns=("scheme",), **choice)))[-1])

    assert shown(gain=True).endswith(f"\n{note}\n--value cycles compares time")
    assert note not in shown()
    assert note not in shown(gain=True, value="cycles")
    assert note not in shown(gain=True, where=(("kernel", "b"),))
    failed = replace(runs[1], outcome=replace(runs[1].outcome, status="failed"))
    result = SweepResult("texts", (runs[0], failed, runs[2]))
    assert note not in shown(gain=True)


def test_another_baseline_and_no_baseline() -> None:
    shown = pivot(RESULT, PivotChoice(columns=("scheme",), gain=True, baseline="shared"))
    assert shown.cells["a", "base"] == pytest.approx(-20)
    assert shown.cells["c", "base"] == "no baseline"
    with pytest.raises(PtxError, match=r"E502.*no column 'x'\n.*base, shared"):
        pivot(RESULT, PivotChoice(columns=("scheme",), gain=True, baseline="x"))


def test_columns_are_all_that_varies_unless_said() -> None:
    assert pivot(RESULT, PivotChoice()).columns == ("base", "shared registers 90%")
    shown = pivot(RESULT, PivotChoice(rows=("kernel", "scheme"), value="slots.stall"))
    assert shown.columns == ("default", "registers 90%")
    assert shown.rows[:2] == ("a base", "a shared")
    assert shown.cells["a shared", "registers 90%"] == 125
    assert ("a base", "registers 90%") not in shown.cells
    assert str(pivot_tables(shown)[0]).splitlines()[3].split() == ["a", "base", "100", "-"]
    assert pivot(RESULT, PivotChoice(value="limiter")).cells["a", "base"] == "registers"
    assert pivot(RESULT, PivotChoice(where=(("kernel", "b"),))).rows == ("b",)


def test_a_wide_table_is_turned() -> None:
    schemes = [f"a scheme with a long name {k}" for k in range(30)]
    runs = tuple(record(k, scheme, ipc) for k, ipc in (("a", 1.0), ("b", 2.0)) for scheme in schemes)
    (only,) = pivot_tables(pivot(SweepResult("wide", runs), PivotChoice()))
    assert [column.title for column in only.columns] == ["scheme", "a", "b"]
    assert [row[0] for row in only.rows] == schemes
    assert str(only).splitlines()[3].split()[-2:] == ["1.00", "2.00"]


@pytest.mark.parametrize(("n", "turned"), [(3, False), (4, True)])
def test_a_table_is_turned_for_a_terminal_of_80_columns(n: int, turned: bool) -> None:
    schemes = [f"a scheme of 21 chars{k}" for k in range(n)]  # 6 + n * (2 + 21) columns
    runs = tuple(record("a", scheme, 1.0) for scheme in schemes)
    (only,) = pivot_tables(pivot(SweepResult("wide", runs), PivotChoice()))
    assert (only.columns[0].title == "scheme") == turned


def test_gains_of_a_turned_table_keep_their_means() -> None:
    schemes = [f"a scheme with a long name {k}" for k in range(9)]
    runs = [record(k, scheme, ipc) for k, ipc in (("a", 1.0), ("b", 2.0)) for scheme in schemes]
    runs[1] = record("a", schemes[1], 1.21)  # over 1: +21%, and nothing for b: +10%
    (only,) = pivot_tables(pivot(SweepResult("wide", tuple(runs)), PivotChoice(gain=True)))
    assert [column.title for column in only.columns] == ["scheme", "a", "b", "geometric mean"]
    assert only.rows[1] == (schemes[1], "+21.00%", "+0.00%", "+10.00%")


def test_a_table_that_is_wide_both_ways_is_taken_apart() -> None:
    schemes = [f"a scheme with a long name {k}" for k in range(9)]
    kernels = [f"a kernel with a long name {k}" for k in range(20)]
    result = SweepResult("wide", tuple(record(k, scheme, 1.0) for k in kernels for scheme in schemes))
    tables = pivot_tables(pivot(result, PivotChoice()))
    assert len(tables) == 3
    assert all(len(line) <= 120 and "..." not in line for t in tables for line in str(t).splitlines())
    assert [column.title for t in tables for column in t.columns[1:]] == schemes


def test_the_remarks_of_the_runs_are_said_once() -> None:
    runs = [record(k, "base", 1.0) for k in "abcdefg"]
    runs = [
        replace(r, outcome=replace(r.outcome, counters={**r.counters, "remarks": notes}))
        for r, notes in zip(runs, (["one"], ["one", "two"], ["3"], ["4"], ["5"], ["6"], []), strict=True)
    ]
    lines = [str(part) for part in sweep_parts(SweepResult("noted", tuple(runs)), PivotChoice(), bars=False)]
    assert lines[-7:-1] == [
        "note: one",
        "note: two",
        "note: 3",
        "note: 4",
        "note: 2 more in the remarks of --json",
        "",
    ]


@pytest.mark.parametrize("rows", [("kernel",), ("passes",)])
def test_long_pipelines_leave_room_for_values_and_bars(rows: tuple[str, ...]) -> None:
    start = (
        "layout-shared{share=run},hoist-last-access{share=run,registers=run},release-scratchpad{share=run}"
    )
    pipelines = [f"{start},unroll-decls,reorder-decls{{order={order}}}" for order in ("text", "cfg")]
    runs = [record("k", "", 10.0 * n, passes=passes) for n, passes in enumerate(pipelines, 1)]
    shown = pivot(SweepResult("long", tuple(runs)), PivotChoice(rows=rows))
    values = [line.split()[-1] for t in pivot_tables(shown) for line in str(t).splitlines()]
    assert [value for value in values if value[0].isdigit()] == ["10.00", "20.00"]
    bars = str(bars_table(shown)).splitlines()[-2:]
    assert [set(line.split()[-1]) for line in bars] == [{"#"}, {"#"}]
    short, long = (len(line.split()[-1]) for line in bars)
    assert long == 2 * short >= 12
    assert [line.split()[-2] for line in bars] == ["10.00", "20.00"]
    assert "order=text}" in bars[0]
    assert "order=cfg}" in bars[1]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (PivotChoice(rows=("kernal",)), "no axis 'kernal'\n.*did you mean 'kernel'"),
        (
            PivotChoice(columns=("gpu",)),
            "two runs for row 'a', column 'tesla-c2050'.*\n.*--where scheme=base",
        ),
        (PivotChoice(value="thread_icp"), "no counter 'thread_icp'\n.*did you mean 'thread_ipc'"),
        (PivotChoice(where=(("kernel", "z"),)), "no run is left to show\n.*kernel: a, b, c"),
    ],
)
def test_what_cannot_be_shown(choice: PivotChoice, message: str) -> None:
    with pytest.raises(PtxError, match=rf"E502.*{message}"):
        pivot(RESULT, choice)


def test_runs_that_only_labels_tell_apart_cannot_be_shown() -> None:
    result = SweepResult("s", (record("a", "base", 1.0), record("a", "base", 2.0)))
    with pytest.raises(PtxError, match="nothing but their labels"):
        pivot(result, PivotChoice())


def test_the_report_ends_with_what_became_of_the_runs() -> None:
    assert sweep_parts(RESULT, PivotChoice())[-1] == "6 runs: 5 as expected, 1 failed"
    assert verdict(SweepResult("s", RESULT.records[:1])) == "1 run: 1 as expected"
