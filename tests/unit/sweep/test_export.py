"""What the export of a sweep holds: a row per run, a column per counter."""

import csv
import io
import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from sweep_records import RESULT, record

from ptxtool.base.diag import PtxError
from ptxtool.results.sweeps import AXES, Record, StoredResult, SweepResult
from ptxtool.sweep.export import encode, form_of, row


def test_export_has_every_run_and_every_value() -> None:
    rows = list(csv.DictReader(io.StringIO(encode(RESULT, "csv").decode())))
    assert len(rows) == 6
    assert list(rows[0])[: 1 + len(AXES)] == ["label", *AXES]
    assert (rows[1]["label"], rows[1]["share_registers"], rows[1]["thread_ipc"]) == (
        "a/shared",
        "90",
        "125.0",
    )
    assert (rows[1]["l1d_hits"], rows[1]["grid"]) == ("3", "2x1x1")
    assert (rows[5]["status"], rows[5]["thread_ipc"], rows[5]["problem"]) == ("failed", "", "out of bounds")
    data = json.loads(encode(RESULT, "json"))
    assert data == {"name": "ladder", "complete": True, "runs": [r.to_dict() for r in RESULT]}
    assert data["runs"][0]["counters"]["slots"] == {"idle": 1, "stall": 100}


def test_the_order_of_columns_does_not_depend_on_the_runs() -> None:
    failed, full = RESULT.records[5], RESULT.records[0]
    stats = {"l1d_hits": 7, "issued_w32": 5, "issued_w2": 1}
    point = dict.fromkeys(("instruction", "line", "register", "sequence", "warps", "warp_cycles"), 1)
    changes = ({}, {"stats": stats}, {"dynamic": {"periods": 3, "stops": 2}}, {"stall_points": [point]})
    runs = [
        failed,
        *(replace(full, outcome=replace(full.outcome, counters={**full.counters, **c})) for c in changes),
    ]

    def header(records: Sequence[Record]) -> list[str]:
        return encode(SweepResult("s", tuple(records)), "csv").decode().splitlines()[0].split(",")

    columns = header(runs)
    assert columns[-4:] == ["checked", "memory", "problem", "key"]
    place = [columns.index(name) for name in ("status", "thread_ipc", "issued_w1", "issued_w32")]
    place += [columns.index(name) for name in ("dynamic_periods", "first_stall_line")]
    assert place == sorted(place)
    assert columns.index("issued_w32") - columns.index("issued_w1") == 31
    for order in itertools.permutations(runs, 3):
        found = header(order)
        assert found == [name for name in columns if name in found]


def test_parquet_has_the_same_rows() -> None:
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(encode(RESULT, "parquet")))
    assert table.column("label").to_pylist() == [r.label for r in RESULT]
    assert table.column("thread_ipc").to_pylist() == [100.0, 125.0, 200.0, 160.0, 50.0, None]
    assert set(table.column_names) == {name for r in RESULT for name in row(r)}


def test_dynamic_warp_execution_and_the_first_stall_are_columns() -> None:
    found = record("a", "base", 1.0)
    point = {
        "line": 9,
        "register": "%r1",
        "sequence": 4,
        "warps": 2,
        "warp_cycles": 30,
        "text": "",
        "first_cycle": 1,
    }
    counters = {
        **found.counters,
        "dynamic": {"periods": 3, "stops": 2, "chances": [0.0]},
        "stall_points": [{"instruction": 7, **point}, {"instruction": 5, **point}],
    }
    line = row(Record("a", found.axes, "k", StoredResult("done", counters)))
    assert (line["dynamic_periods"], line["dynamic_stops"], line["first_stall_instruction"]) == (3, 2, 5)
    assert (line["first_stall_register"], "first_stall_cuda" in line) == ("%r1", False)
    counters["stall_points"] = [{"instruction": 5, **point, "cuda": "k.cu:3"}]
    line = row(Record("a", found.axes, "k", StoredResult("done", counters)))
    assert line["first_stall_cuda"] == "k.cu:3"


def test_formats_by_name() -> None:
    assert [form_of(f"x.{form}") for form in ("csv", "JSON", "parquet")] == ["csv", "json", "parquet"]
    with pytest.raises(PtxError, match=r"E502.*'x.xls' has no format"):
        form_of("x.xls")


def test_parquet_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PtxError, match=r"E502.*needs pyarrow.*\n.*ptxtool\[parquet\]"):
        encode(RESULT, "parquet")
