"""The values of a sweep file's axes, each by itself."""

from pathlib import Path
from typing import Any

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.sweep.spec_values import gpu_name, own_name, shown, value_of


@pytest.mark.parametrize(
    ("axis", "given", "value"),
    [
        ("registers", "", None),
        ("registers", 20, 20),
        ("share_registers", "12.5", "12.5"),
        ("dynamic", True, True),
        ("register_scheme", "", ""),
        ("register_scheme", "finereg", "finereg"),
        ("passes", "", ""),
        ("set", "", ()),
        ("set", "sm.count=7", ("sm.count=7",)),
        ("set", ["sm.count=7", "sm.ctas=4"], ("sm.count=7", "sm.ctas=4")),
    ],
)
def test_a_value(axis: str, given: Any, value: Any, tmp_path: Path) -> None:
    assert value_of(axis, given, tmp_path) == value


@pytest.mark.parametrize(
    ("axis", "given", "code"),
    [
        ("registers", 0, "E502"),
        ("registers", True, "E502"),
        ("registers", "20", "E502"),
        ("share_registers", [90], "E502"),
        ("share_registers", 100, "E502"),
        ("dynamic", "", "E502"),
        ("register_scheme", 3, "E502"),
        ("register_scheme", "finreg", "E502"),
        ("dynamic", 3, "E502"),
        ("set", ["sm.cuont=7"], "E502"),
        ("gpu", "", "E502"),
        ("gpu", "x\0y", "E502"),
        ("passes", 3, "E502"),
    ],
)
def test_what_is_no_value(axis: str, given: Any, code: str, tmp_path: Path) -> None:
    with pytest.raises(PtxError) as caught:
        value_of(axis, given, tmp_path)
    (found,) = caught.value.diagnostics
    assert (found.code, bool(found.help)) == (code, True)


def test_a_gpu_is_a_file_by_its_ending_or_its_folder() -> None:
    folder = Path("folder")
    assert gpu_name("tesla-c2050", folder) == "tesla-c2050"
    assert gpu_name("mine.toml", folder) == "folder/mine.toml"
    assert gpu_name("./gpgpusim", folder) == "folder/gpgpusim"


def test_a_message_quotes_a_value_as_json() -> None:
    assert shown({"a": True, "é": None}) == '{"a": true, "é": null}'


def test_a_register_scheme_of_ones_own_is_relative_to_the_sweep_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def stay(view):\n    return 0\n")
    assert value_of("register_scheme", "mine.py:stay", tmp_path) == f"{tmp_path}/mine.py:stay"
    for given, code in (
        ("mine.py:go", "E502"),
        ("mine.py", "E502"),
        ("no.py:stay", "E501"),
        ("a\0.py:f", "E502"),
    ):
        with pytest.raises(PtxError, match=code):
            value_of("register_scheme", given, tmp_path)
    assert own_name("mine.py:stay", tmp_path) == f"{tmp_path}/mine.py:stay"
    assert own_name("finereg", tmp_path) == "finereg"
