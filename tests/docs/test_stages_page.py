"""docs/stages.md is right and whole: files cite their sections, settings and tests exist, no stage is missing."""

import ast
import re
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from checkout import CHECKOUT, TESTS

from ptxtool.formats.gpu import Gpu, load_gpu

SIMULATOR = CHECKOUT / "sim" / "ptxsim"
PAGE = (CHECKOUT / "docs" / "stages.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.match(r"\| \d", line)
]
AROUND = {
    "counts.py",
    "ahead.py",
    "memory_state.py",
    "signature.py",
    "sections_setup.py",
    "renaming_setup.py",
    "warps.py",
    "reason_codes.py",
    "register_windows.py",
    "timeline_events.py",
    "timeline_codes.py",
    "switch_records.py",
    "switching_setup.py",
    "long_waits.py",
    "plain_run.py",
    "faults.py",
}
"""What is no stage: the records, codes, what counts and records, when an SM may run ahead, which runs are plain,
which fault counts."""


def files(cell: str) -> list[str]:
    return re.findall(r"`((?:\w+/)+\w+\.py)`", cell)


def _cited(docstring: str) -> set[str]:
    """The sections that a docstring names: "section 3.5", "sections 1.1 and 3.4 to 3.6"."""
    found = re.findall(r"[tT]iming-model(?:-42)?\s+sections?\s+((?:\d[\d.]*|and|to|,|\s)+)", docstring)
    return {number.rstrip(".") for text in found for number in re.findall(r"\d+(?:\.\d+)*", text)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_a_stage_is_a_file_that_cites_its_section(row: list[str]) -> None:
    assert files(row[2])
    for name in files(row[2]):
        docstring = ast.get_docstring(ast.parse((SIMULATOR / name).read_text(encoding="utf-8"))) or ""
        assert row[0] in _cited(docstring), name


def test_no_stage_is_missing() -> None:
    folders = [f"timing/{name}" for name in ("core", "warps", "memory", "schedulers", "sharing", "residency")]
    there = {
        f"{folder}/{path.name}"
        for folder in folders
        for path in (SIMULATOR / folder).glob("*.py")
        if path.name != "__init__.py" and path.name not in AROUND
    }
    assert there <= set(files(PAGE))


def test_tests_are_there() -> None:
    folders = (TESTS / "sim", TESTS / "unit" / "ptxsim")
    there = {path.name for folder in folders for path in folder.rglob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", PAGE)) <= there


def _options(part: type) -> dict[str, Any]:
    return get_type_hints(part, include_extras=False)


def _is_word(kind: Any) -> bool:
    """Whether a setting says how something is done, not how much of it there is."""
    if kind is bool:
        return True
    return get_origin(kind) is Literal and all(isinstance(v, str) for v in get_args(kind))


def _parts() -> dict[str, type]:
    return {
        name: kind
        for name, kind in _options(Gpu).items()
        if isinstance(kind, type)
        and issubclass(kind, msgspec.Struct)
        and get_origin(kind) not in (Union, UnionType)
    }


def test_settings_exist() -> None:
    gpu = load_gpu("tesla-c2050")
    for table, key in re.findall(
        r"`(fetch|pipeline|dispatch|sharing|switching|ldst|l1[cdt]|icnt|l2|dram)\.(\w+|\*)`", PAGE
    ):
        assert key == "*" or hasattr(getattr(gpu, table), key), f"{table}.{key}"


def test_every_setting_that_is_a_word_is_reported() -> None:
    missing = [
        f"{table}.{key}"
        for table, part in _parts().items()
        for key, kind in _options(part).items()
        if _is_word(kind) and f"`{table}.{key}`" not in PAGE
    ]
    assert not missing
    assert len(_parts()) > 8
