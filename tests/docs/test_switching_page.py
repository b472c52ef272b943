"""docs/switching.md has every option of the scheme with the machines' values, and every sample."""

import re

import msgspec
import pytest
from scripts import BENCHMARKS

from ptxtool.base.resources import resource_dir
from ptxtool.formats.gpu import load_gpu

PAGE = (BENCHMARKS.parent / "docs" / "switching.md").read_text(encoding="utf-8")


def rows(beginning: str) -> list[list[str]]:
    lines = re.findall(rf"^\| {beginning}.*\|$", PAGE, re.M)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_option_with_its_values() -> None:
    fine, plain = (
        msgspec.structs.asdict(load_gpu(name).switching) for name in ("gtx980-finereg", "tesla-c2050")
    )
    shown: set[str] = set()
    for names, *values, _ in rows("`switching"):
        keys = re.findall(r"`switching\.(\w+)`", names)
        shown |= set(keys)
        for values_of, options in zip(values, (fine, plain), strict=True):
            assert [v.strip(" `") for v in values_of.split(",")] == [_shown(options[key]) for key in keys]
    assert shown == set(fine)


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("name", ["samples", "unified"])
def test_every_sample_is_measured(name: str) -> None:
    table = PAGE.split(f"<!-- {name} -->\n")[1].split(f"<!-- end of {name} -->")[0].splitlines()[2:]
    measured = [line.split("|")[1].strip() for line in table]
    assert measured == sorted(path.parent.name for path in resource_dir("samples").glob("*/launch.toml"))
