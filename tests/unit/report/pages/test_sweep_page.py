"""The page of a sweep: every run and counter is in it, and what the browser pivots is what `sweep show` prints."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, browser, needs_chromium
from sweep_records import RESULT

from ptxtool.report.pages.sweep_page import sweep_data, sweep_page


def test_all_runs_and_counters_are_there() -> None:
    data = sweep_data(RESULT)
    assert list(data["axes"]) == ["kernel", "scheme", "share_registers"]
    assert data["axes"]["kernel"] == ["a", "b", "c"]
    assert data["axes"]["share_registers"] == [0, 90]
    assert data["fixed"] == {"gpu": "tesla-c2050"}
    assert [run["status"] for run in data["runs"]] == ["done"] * 5 + ["failed"]
    assert data["runs"][5]["reason"] == "out of bounds"
    assert data["counters"]["thread_ipc"] == [100.0, 125.0, 200.0, 160.0, 50.0, None]
    assert data["counters"]["slots.stall"] == [100, 125, 200, 160, 50, None]
    assert data["counters"]["l1d_hits"] == [3, 3, 3, 3, 3, None]
    assert "limiter" not in data["counters"]  # no number
    assert json.loads(json.dumps(data)) == data


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path: Path = tmp_path_factory.mktemp("page") / "sweep.html"
    path.write_text(sweep_page(RESULT))
    with browser() as found:
        found.open(path)
        yield found


CELLS = "[...document.querySelectorAll('.pivot tbody tr')].map((r) => [...r.children].map((c) => c.textContent.trim()))"


def choose(page: Browser, label: str, value: str) -> None:
    page.run(
        f"((s) => {{ s.value = '{value}'; s.dispatchEvent(new Event('change', {{ bubbles: true }})); }})"
        f"([...document.querySelectorAll('.controls label')].find((l) => l.textContent.startsWith('{label}'))"
        ".firstElementChild)"
    )
    page.settle()


@needs_chromium
@pytest.mark.slow
def test_the_table_in_a_browser(opened: Browser) -> None:
    assert opened.errors == []
    choose(opened, "Columns", "scheme")
    assert opened.run(CELLS) == [["a", "100", "125"], ["b", "200", "160"], ["c", "50", "-"]]
    assert opened.run("document.querySelectorAll('svg rect').length") == 5
    # gains over the first column: 125 / 100 and 160 / 200
    choose(opened, "Show", "gain")
    assert opened.run(CELLS) == [["a", "±0.00%", "+25.00%"], ["b", "±0.00%", "−20.00%"], ["c", "±0.00%", "-"]]
    choose(opened, "Show", "value")
    # a filter hides a kernel
    opened.run("document.querySelector('.filters input').click()")
    opened.settle()
    assert [row[0] for row in opened.run(CELLS)] == ["b", "c"]
    # without kernels as rows a cell is the mean of its runs
    choose(opened, "Rows", "")
    assert opened.run(CELLS) == [["all", "125", "160"]]
    assert opened.run("document.documentElement.scrollWidth <= innerWidth")
    assert opened.errors == []
