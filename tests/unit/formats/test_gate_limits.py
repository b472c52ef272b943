"""What a limit may be, and what a limits file says where it is wrong."""

from pathlib import Path

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.formats.gate_limits import Limit, limit, limits_of_options, load_limits


@pytest.mark.parametrize(
    ("text", "measure", "before", "bound"),
    [
        ("64", "registers", 10, 64),
        ("+4", "registers", 10, 14),
        ("+50%", "cycles", 10, 15),
        ("+2.5%", "cycles", 1000, 1025),
        ("3", "occupancy", 6, 3),
        ("-1", "occupancy", 6, 5),
        ("-50%", "occupancy", 6, 3),
        ("+4", "registers", None, None),
        ("64", "registers", None, 64),
    ],
)
def test_bounds(text: str, measure: str, before: int | None, bound: float | None) -> None:
    assert limit(text, measure).bound(measure, before) == bound


@pytest.mark.parametrize(
    ("text", "measure"),
    [("-4", "registers"), ("+1", "occupancy"), ("5%", "cycles"), ("x", "cycles"), ("", "cycles")],
)
def test_wrong_limits(text: str, measure: str) -> None:
    with pytest.raises(ValueError):
        limit(text, measure)


def test_options() -> None:
    assert limits_of_options(["registers=64", "cycles=+2%"]) == {
        "registers": Limit(64),
        "cycles": Limit(2, is_change=True, is_percent=True),
    }
    with pytest.raises(ValueError, match="none of"):
        limits_of_options(["speed=9"])


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "limits.toml"
    path.write_text('[limits]\nregisters = 64\ncycles = "+2%"\n[kernels.k]\nregisters = "+0"\n')
    found = load_limits(path)
    assert found.of("other")["registers"] == Limit(64)
    assert found.of("k")["registers"] == Limit(0, is_change=True)
    assert found.of("k")["cycles"] == Limit(2, is_change=True, is_percent=True)
    assert found.measures == {"registers", "cycles"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[limits]\nregistres = 6\n", 2, "nothing called 'registres'"),
        ("[limit]\nregisters = 6\n", 1, "unknown table"),
        ("[limits]\nregisters = true\n", 2, "is no limit"),
        ('[kernels.k]\nregisters = "-3"\n', 2, "begins with '\\+'"),
    ],
)
def test_a_wrong_file(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(text)
    with pytest.raises(PtxError, match=words) as found:
        load_limits(path)
    assert found.value.diagnostics[0].line == line
