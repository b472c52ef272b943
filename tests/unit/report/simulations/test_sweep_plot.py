"""A sweep as a chart."""

import sys

import pytest
from sweep_records import RESULT

from ptxtool.base.diag import PtxError
from ptxtool.report.simulations.sweep import PivotChoice, pivot
from ptxtool.report.simulations.sweep_plot import plot


def test_a_chart_is_the_same_every_time_and_has_the_names() -> None:
    shown = pivot(RESULT, PivotChoice(columns=("scheme",), gain=True))
    svg = plot(shown, "svg")
    assert svg == plot(shown, "svg")
    text = svg.decode()
    for word in ("ladder: thread_ipc, gain over base in percent", "geometric mean", ">a<", ">b<", ">shared<"):
        assert word in text
    assert plot(shown, "png").startswith(b"\x89PNG")
    with pytest.raises(PtxError, match=r"E502.*no chart in format 'pdf'"):
        plot(shown, "pdf")
    with pytest.raises(PtxError, match=r"E502.*no number to draw"):
        plot(pivot(RESULT, PivotChoice(value="limiter")), "svg")


def test_a_chart_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PtxError, match=r"E502.*needs matplotlib.*\n.*ptxtool\[plot\]"):
        plot(pivot(RESULT, PivotChoice()), "svg")
