"""Results in notebooks: data frames with a row per run and a column per single counter, short tables."""

import sys

import pytest
from sim_results import sim_result
from sweep_records import RESULT

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.formats.gate_limits import Limit, Limits
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.results.frames import frame, plain
from ptxtool.results.run_results import Comparison, Run, Rung
from ptxtool.results.scheme_comparison import SchemeComparison, SchemeRun
from ptxtool.results.sweeps import StoredResult


def test_single_values_by_name() -> None:
    counters = {"cycles": 7, "grid": [1, 2], "slots": {"stall": 3}, "stats": {"cycles": 7, "l1d_misses": 2}}
    assert plain(counters) == {"cycles": 7, "slots.stall": 3, "l1d_misses": 2}


def test_without_pandas_there_is_a_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PtxError, match=r"pip install 'ptxtool\[pandas\]'"):
        frame([])


def test_results_show_themselves_as_short_tables() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    runs = (
        SchemeRun("none", StoredResult("done", {"cycles": 1000, "registers": 20})),
        SchemeRun(hostile, StoredResult("done", {"cycles": 900, "registers": 20})),
        SchemeRun("regmutex", StoredResult("failed", problems=({"code": "E301", "message": "too many"},))),
    )
    shown = SchemeComparison("k.ptx", hostile, "gpu", runs)._repr_html_()
    assert "-10.0%" in shown
    assert "too many" in shown
    assert "<img" not in shown
    sweep = RESULT._repr_html_()
    assert "sweep ladder: 5 done, 1 failed" in sweep
    assert "out of bounds" in sweep
    one = Run(sim_result(kernel=hostile), (), ("y",), ())._repr_html_()
    assert "results: y as expected" in one
    assert "30.0%" in one  # 30 of 100 slots
    assert "<img" not in one


def texts(kernel: str, second: str = "") -> Module:
    head = ".version 7.5\n.target sm_75\n.address_size 64\n"
    body = f".reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\n{second}ret;\n"
    return parse(f"{head}.visible .entry {kernel}()\n{{\n{body}}}\n")


def test_static_results_show_themselves() -> None:
    old, new = texts("k"), texts("k", "add.u32 %r2, %r1, 1;\n")
    changed = api.diff(old.kernels["k"], new.kernels["k"])
    assert "k: 2 same, 0 changed, 0 removed, 1 added" in changed._repr_html_()
    assert "<td" in changed._repr_html_()
    judged = api.gate(new, old, limits=Limits({"instructions": Limit(0, is_change=True)}), ptxas=False)
    shown = judged._repr_html_()
    assert "limits exceeded: 1" in shown
    assert shown.index("exceeded</td>") < shown.index("pressure")  # what is exceeded comes first
    plan = api.occupancy(256, 20)._repr_html_()
    # 32,768 registers of a Tesla C2050, 256 * 20 of a CTA: 6 CTAs
    assert "6 resident CTAs, limited by registers" in plan
    tuning = api.tune(new.kernels["k"], mode="predict", threads=256, ptxas=False)
    assert "the original stays" in tuning._repr_html_()
    pytest.importorskip("pandas")
    assert judged.to_pandas().query("measure == 'instructions'")[
        ["before", "after", "kept"]
    ].values.tolist() == [[2, 3, False]]
    assert tuning.to_pandas()["name"].tolist()[0] == "original"


def test_frames_of_results() -> None:
    pytest.importorskip("pandas")
    one = sim_result().to_pandas()
    # 12000 lanes in 1000 cycles
    assert one[["kernel", "cycles", "thread_ipc", "slots.stall", "l1d_hits"]].values.tolist() == [
        ["k", 1000, 12.0, 30, 7]
    ]
    rungs = [
        Rung(name, "lrr", 90, "", Run(sim_result(cycles=n), (), (), ()), True)  # type: ignore[arg-type]
        for name, n in (("a", 1000), ("b", 800))
    ]
    ladder = Comparison("k.ptx", "k", "registers", 90, tuple(rungs)).to_pandas()  # type: ignore[arg-type]
    assert ladder[["name", "gain_percent", "cycles"]].values.tolist() == [["a", 0.0, 1000], ["b", 25.0, 800]]
    sweep = RESULT.to_pandas()
    assert sweep[["label", "share_registers", "status", "reason"]].values.tolist()[3:] == [
        ["b/shared", 90, "done", ""],
        ["c/base", 0, "done", ""],
        ["c/shared", 90, "failed", "out of bounds"],
    ]
    assert sweep["thread_ipc"].isna().tolist() == [False] * 5 + [True]
    assert not sweep.columns.duplicated().any()
