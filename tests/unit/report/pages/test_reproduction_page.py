"""The page of an experiment: every value is in it, and the browser filters, sorts and compares them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, browser, needs_chromium

from ptxtool.report.pages.reproduction_page import reproduction_data, reproduction_page
from ptxtool.results.exhibits import Exhibit, ExhibitValue, Failure, Finding, Reproduction

EXHIBIT = Exhibit(
    "gain",
    "The <full> scheme",
    "figure 9",
    "gain, percent",
    (
        ExhibitValue("hotspot", "full", 28.5, 21.76),
        ExhibitValue("MUM", "full", None, 24.14),
        ExhibitValue("x", "full", -3.0),
        ExhibitValue("x", "half", 0.001, 1.0, 2.0),
    ),
    signed=True,
    notes=("</script><script>alert(1)</script>",),
)
FOUND = Reproduction(
    "Register sharing",
    "tesla-c2050",
    ("B: a paper",),
    (EXHIBIT,),
    (
        Finding("sign of the gain: hotspot", "gain", "gain", True),
        Finding("sign of the gain: x", "loss", "gain", False),
        Finding("a count", "7", "", None),
    ),
    (Failure("MUM", "full", "does not fit"),),
    3,
)


def test_the_data_is_whole_and_inert() -> None:
    data = reproduction_data(FOUND)
    (exhibit,) = data["exhibits"]
    assert exhibit["columns"] == ["full", "half"]
    assert exhibit["rows"] == [
        ["hotspot", [[28.5, 21.76, None], None]],
        ["MUM", [[None, 24.14, None], None]],
        ["x", [[-3.0, None, None], [0.001, 1.0, 2.0]]],
    ]
    page = reproduction_page(FOUND)
    assert page.count("<script") == page.count("</script>") == 2
    assert "http" not in page.split('id="data">')[1].split("</script>")[0]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path: Path = tmp_path_factory.mktemp("page") / "reproduction.html"
    path.write_text(reproduction_page(FOUND))
    with browser() as found:
        found.open(path, 390, 844)
        assert found.run("document.documentElement.scrollWidth") <= 390
        found.open(path)
        yield found


CELLS = "[...document.querySelectorAll('#gain tbody tr')].map((r) => [...r.children].map((c) => c.textContent.trim()))"
FINDINGS = (
    "[...document.querySelectorAll('[aria-label=Findings] tbody tr')].map((r) => r.children[0].textContent)"
)


def choose(page: Browser, label: str, value: str) -> None:
    """Set a control by its label, as its reader does."""
    page.run(
        f"((s) => {{ s.value = '{value}'; s.dispatchEvent(new Event(s.tagName === 'INPUT' ? 'input' : 'change',"
        " { bubbles: true })); })([...document.querySelectorAll('.controls label')].find((l) =>"
        f" l.textContent.startsWith('{label}')).firstElementChild)"
    )
    page.settle()


@needs_chromium
@pytest.mark.slow
def test_in_a_browser(opened: Browser) -> None:
    assert opened.run("document.querySelector('#gain h2').textContent") == "The <full> scheme"
    assert opened.run(CELLS) == [
        ["hotspot", "+28.50 (+21.76)", ""],
        ["MUM", "- (+24.14)", ""],
        ["x", "−3.00", "+0.00 (+1.00) [+2.00]"],
    ]
    # -3 .. 28.5: zero lies at 3 / 31.5 of the width, and the bar of 28.5 ends at its end
    bar = opened.run("document.querySelector('#gain .bars i.ours').getAttribute('style')")
    assert [float(part.split(":")[1].rstrip("%")) for part in bar.rstrip(";").split(";")] == [
        pytest.approx(9.5238, abs=1e-3),
        pytest.approx(90.476, abs=1e-3),
    ]
    # sorted by ours: nothing comes last; then the other way round
    opened.run("document.querySelectorAll('#gain thead button')[1].click()")
    opened.settle()
    assert [row[0] for row in opened.run(CELLS)] == ["hotspot", "x", "MUM"]
    opened.run("document.querySelectorAll('#gain thead button')[1].click()")
    opened.settle()
    assert [row[0] for row in opened.run(CELLS)] == ["MUM", "x", "hotspot"]
    choose(opened, "Show", "difference")
    assert opened.run(CELLS) == [["MUM", "-", ""], ["x", "-", "−1.00"], ["hotspot", "+6.74", ""]]
    choose(opened, "Findings", "differs")
    assert opened.run(FINDINGS) == ["sign of the gain: x"]
    choose(opened, "Findings", "")
    opened.press("/", *"hotspot")
    assert [row[0] for row in opened.run(CELLS)] == ["hotspot"]
    assert opened.run(FINDINGS) == ["sign of the gain: hotspot"]
    assert opened.errors == []
