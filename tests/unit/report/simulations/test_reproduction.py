"""An experiment of the papers as text."""

from ptxtool.report.simulations.reproduction import reproduction_parts
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


def test_a_wide_table_is_several() -> None:
    """The first has the title, the last the notes; all have the rows."""
    values = tuple(ExhibitValue("hotspot", f"a scheme with a long name {k}", float(k)) for k in range(8))
    exhibit = Exhibit("speed", "Speed", "gpu", "percent", values, notes=("a note",), of_rows="kernel")
    one = Reproduction("Schemes", "gpu", (), (exhibit,), (Finding("a on gpu", "gain", "", None),), (), 8)
    lines = "\n".join(str(part) for part in reproduction_parts(one)).splitlines()
    assert max(map(len, lines)) <= 120
    rows, heads = (sum(line.startswith(word) for line in lines) for word in ("hotspot", "kernel"))
    assert rows == heads > 1
    assert sum("Speed (gpu)" in line for line in lines) == 1
    assert lines[-1] == "a note"
    assert "papers" not in "\n".join(lines)
