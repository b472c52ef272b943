"""Charts: what is drawn is what the value has, and what cannot be drawn has a next step."""

import sys
from fractions import Fraction
from pathlib import Path

import pytest
from kernels import ptx
from sim_results import sim_result
from sweep_records import RESULT

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.report.plots import Chart, chart
from ptxtool.results.run_results import Comparison, Run, Rung
from ptxtool.results.scheme_comparison import SchemeComparison, SchemeRun
from ptxtool.results.sweeps import StoredResult

# %r1 is live before add, %r2 before the store, and %rd1, two registers wide, from the start on
KERNEL = ptx("mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%rd1], %r2;\nret;")


def run(cycles: int) -> Run:
    return Run(sim_result(cycles=cycles), (), (), ())


def bars(found: Chart) -> list[float]:
    (axes,) = found.figure.axes
    return [bar.get_height() for bar in axes.patches]


def test_the_curve_of_a_pressure() -> None:
    pytest.importorskip("matplotlib")
    found = chart(api.pressure(KERNEL))
    (axes,) = found.figure.axes
    assert list(axes.patches[0].get_data().values) == [2, 3, 3, 0]
    assert found.title.startswith(f"{KERNEL.name}: 3 live registers before line")


def test_bars_of_runs() -> None:
    pytest.importorskip("matplotlib")
    slots = chart(run(1000)).figure.axes[0].patches
    assert [bar.get_width() for bar in slots] == [10, 20, 30, 40]  # of 100
    rungs = tuple(
        Rung(name, "lrr", Fraction(90), "", run(n), True) for name, n in (("a", 1000), ("<b>$", 800))
    )
    assert bars(chart(Comparison("k.ptx", "k", "registers", Fraction(90), rungs))) == [pytest.approx(25)]
    schemes = tuple(
        SchemeRun(name, StoredResult("done", {"cycles": n})) for name, n in (("none", 1000), ("x", 900))
    )
    assert bars(chart(SchemeComparison("k.ptx", "k", "gpu", schemes))) == [pytest.approx(-10)]
    # a bar per kernel and scheme; c/shared failed
    heights = bars(chart(RESULT))
    assert [h for h in heights if h == h] == [100, 200, 50, 125, 160]
    assert len(heights) == 6


def test_a_chart_is_saved_and_shown(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = api.plot(run(1000))
    found.save(tmp_path / "c.svg")
    assert "<svg" in (tmp_path / "c.svg").read_text()
    assert found._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(PtxError, match=r"\.svg, \.png or \.pdf"):
        found.save(tmp_path / "c.txt")


def test_what_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PtxError, match="there are charts of Pressure"):
        chart(7)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PtxError, match=r"pip install 'ptxtool\[plot\]'"):
        chart(run(1))
