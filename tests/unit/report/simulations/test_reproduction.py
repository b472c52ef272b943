"""An experiment of the papers as text and as a page."""

from ptxtool.report.simulations.reproduction import reproduction_page, reproduction_parts
from ptxtool.results.exhibits import Exhibit, ExhibitValue, Finding, Reproduction


def small() -> Reproduction:
    exhibit = Exhibit(
        "gain",
        "The <full> scheme",
        "figure 9",
        "gain, percent",
        (
            ExhibitValue("hotspot", "full", 28.5, 21.76),
            ExhibitValue("MUM", "full", None, 24.14),
            ExhibitValue("x", "full", -3.0),
        ),
        signed=True,
    )
    finding = Finding("sign of the gain: hotspot", "gain", "gain", True)
    return Reproduction("Register sharing", "tesla-c2050", ("B: a paper",), (exhibit,), (finding,), (), 3)


def test_text() -> None:
    text = "\n".join(str(part) for part in reproduction_parts(small()))
    assert "hotspot      +28.50 (+21.76)" in text
    assert "MUM               - (+24.14)" in text
    assert text.splitlines()[-1].split() == ["x", "-3.00"]
    assert "sign of the gain: hotspot  agrees  gain  gain" in text


def test_page_escapes_and_draws_bars() -> None:
    page = reproduction_page(small())
    assert "The &lt;full&gt; scheme" in page
    # -3 .. 28.5: zero lies at 3 / 31.5 of the width; ours is 28.5 / 31.5 long
    assert 'class="ours" style="left:9.52%;width:90.48%"' in page
    assert "http" not in page
