"""docs/energy.md: the numbers of its tables are those of the GPU file, and so are what its sources multiply to."""

import re

import msgspec
import pytest
from checkout import CHECKOUT

from ptxtool.formats.gpu import load_gpu

PAGE = (CHECKOUT / "docs" / "energy.md").read_text(encoding="utf-8")
ROWS = re.findall(r"(?m)^\| `(\w+)` \| .* \| ([\d.]+) \| (.*) \|$", PAGE)


def test_the_tables_have_every_key_and_its_value() -> None:
    assert {key: float(value) for key, value, _ in ROWS} == msgspec.structs.asdict(
        load_gpu("tesla-c2050").energy
    )


@pytest.mark.parametrize(("key", "value", "source"), ROWS, ids=[key for key, *_ in ROWS])
def test_a_source_with_numbers_gives_the_value(key: str, value: str, source: str) -> None:
    """`8 x 15.48 - 31.25`: the value is it, rounded."""
    formula = re.search(r": ([\d.(][\d.() x+-]*)$", source)
    if formula:
        result = eval(formula.group(1).replace("x", "*"), {"__builtins__": {}})  # digits and operators alone
        assert result == pytest.approx(float(value), rel=2e-3)
