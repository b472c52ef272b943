"""The table of kernels in docs/lower-ptxplus.md is true; `pytest --bless` writes it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import CHECKOUT

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.ptxplus.lower import selected

PAGE = CHECKOUT / "docs" / "lower-ptxplus.md"
SAXPY = CHECKOUT / "samples" / "saxpy" / "kernel.ptx"
_TABLE = re.compile(r"(?<=\| kernel \| \|\n\|---\|---\|\n).*\Z", re.DOTALL)


def rows() -> Iterator[str]:
    """A line for each kernel: lowered, or the first reason why not."""
    for path in (SAXPY, *sorted((CHECKOUT / "tests" / "programs").glob("*.sm75.ptx"))):
        module = parse(path.read_bytes(), path.name)
        if path.name.startswith("planted"):  # programs with bugs in them
            continue
        for name in module.kernels:
            place = "saxpy" if path is SAXPY else f"{path.name.partition('.')[0]}: {name}"
            yield f"| {place} | {verdict(path, name)} |\n"


def verdict(path: Path, name: str) -> str:
    try:
        selected(parse(path.read_bytes(), path.name), name)
    except PtxError as problem:
        first = problem.diagnostics[0].message.partition(": ")[2]
        more = len(problem.diagnostics) - 1
        return first.replace("|", "\\|") + (f" (and {more} more)" if more else "")
    return "lowered"


def test_the_table(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = "".join(rows())
    if request.config.getoption("bless"):
        PAGE.write_text(_TABLE.sub(lambda _: table, page), encoding="utf-8", newline="")
        return
    (shown,) = _TABLE.findall(page)
    assert shown == table
