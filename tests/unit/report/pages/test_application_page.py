"""The page of an application: kernels, launches, and the lines of the kernels that were measured."""

from pathlib import Path

import numpy as np
import pytest
from chromium import AXE, browser, needs_chromium
from scalekernel import SCALE

import ptxsim
from ptxtool.formats.gpu import machine_of
from ptxtool.parse import parse
from ptxtool.report.pages.application_page import application_data, application_page
from ptxtool.results.applications import ApplicationRun, Launch, MeasuredLaunch

C2050 = machine_of("tesla-c2050")


@pytest.fixture(scope="module")
def run() -> ApplicationRun:
    """Three launches of two kernels, one of which was measured in its second launch."""
    kernel = parse(SCALE, name="scale.ptx").kernels["scale"]
    result = ptxsim.launch(kernel, 4, 64, [np.ones(256, np.float32), 2.0], hotspots=True)
    launches = (
        Launch(1, "scale", (1,), (64,), 0, 24, 700, 1e-6),
        Launch(2, "scale", (4,), (64,), 0, 96, result.cycles, 2e-6),
        Launch(3, "_Z5otherPf", (1, 1, 1), (32, 1, 1), error=700),
    )
    measured = (MeasuredLaunch(2, 0, kernel, result),)
    return ApplicationRun(("./app", "<b>x</b>"), 0, "tesla-c2050", True, 1, launches, (), longest=measured)


def test_kernels_launches_and_lines(run: ApplicationRun) -> None:
    data = application_data(run, C2050)
    assert [(k["shown"], k["launches"]) for k in data["kernels"]] == [("scale", 2), ("other(float*)", 1)]
    assert [launch["number"] for launch in data["launch_list"]] == [1, 2, 3]
    assert (data["launch_list"][1]["grid"], data["launch_list"][2]["block"]) == ("4", "32x1x1")
    assert list(data["measured"]) == ["scale"]
    (shown,) = data["measured"]["scale"]["runs"]
    assert shown["name"] == "launch 2"
    assert shown["counters"]["cycles"] == run.longest[0].result.cycles
    assert data["measured"]["scale"]["occupancy"]["threads"] == 64


@needs_chromium
@pytest.mark.slow
def test_a_kernel_opens_on_its_lines(run: ApplicationRun, tmp_path: Path) -> None:
    path = tmp_path / "app.html"
    path.write_text(application_page(run, C2050))
    with browser() as page:
        page.open(path)
        assert page.run("document.querySelector('h1').textContent") == "./app <b>x</b>"
        rows = "[...document.querySelector('tbody').rows].map((r) => r.cells[0].textContent)"
        assert page.run(rows) == ["scale", "other(float*)"]
        assert not AXE.is_file() or page.serious() == []
        page.run("document.querySelector('tbody button').click()")
        page.settle()
        page.settle()
        assert page.run("document.querySelectorAll('.row.is-code').length") == 12
        assert not AXE.is_file() or page.serious() == []
        page.run(
            "[...document.querySelectorAll('header button')].find((b) => b.textContent === 'All kernels').click()"
        )
        page.settle()
        assert page.run(rows) == ["scale", "other(float*)"]
        assert page.errors == []
