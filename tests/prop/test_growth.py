"""The work of analyses and passes grows in proportion to a text, where it once grew with the square of its size."""

from collections.abc import Callable

import pytest
from hostile_texts import branches_to_all, chain_of_calls, functions_beside, nested_ifs
from work import work_of

from ptxtool import api
from ptxtool.analysis.flow.pressure import pressure
from ptxtool.analysis.regalloc.register_need import register_need
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

N = 100
TEXTS: dict[str, Callable[[int], str]] = {
    "calls": chain_of_calls,
    "branches": lambda n: branches_to_all(n, "add.u32 c, b, a;"),
    "functions": functions_beside,
    "ifs": nested_ifs,
}
WORK: dict[str, Callable[[Module], object]] = {
    "check": api.check,
    "pressure": lambda module: pressure(module.kernels["k"]),
    "need": lambda module: register_need(module.kernels["k"]),
    "layout": lambda module: shared_layout(module.kernels["k"]),
    "allocate": lambda module: rewrite(module, "allocate"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("calls", "need"),
        ("calls", "layout"),
        ("calls", "allocate"),
        ("branches", "check"),
        ("branches", "pressure"),
        ("branches", "need"),
        ("branches", "allocate"),
        ("functions", "allocate"),
        ("ifs", "pressure"),
    ],
)
def test_four_times_the_text_is_four_times_the_work(text: str, work: str) -> None:
    """16 times the work is what the square would take."""
    make, run = TEXTS[text], WORK[work]
    run(parse(make(8), "warm.ptx"))  # imports, tables
    small, large = (work_of(lambda n=n: run(parse(make(n), "k.ptx"))) for n in (N, 4 * N))
    assert large < 4.1 * small
