"""The machines show the figures of the documents that describe them: `tests/microkernels` has one case for each.

docs/accuracy.md has them as a table, with what was measured when `benchmarks/accuracy.py` wrote it.
"""

import numpy as np
import pytest
from microkernel import cost, cycles, kernel, loop
from microkernels import C2050, GPGPUSIM42, VOLTA, VOLTA_MEMORY, Case

import ptxsim


@pytest.mark.parametrize("case", C2050, ids=str)
def test_tesla_c2050(case: Case) -> None:  # rows of timing-model section 7.3
    measured = case.measure()
    assert case.holds(measured), f"{measured} is not {case.expected}"


@pytest.mark.parametrize("case", GPGPUSIM42, ids=str)
def test_gpgpusim42_c2050(case: Case) -> None:  # sections of timing-model-42
    measured = case.measure()
    assert case.holds(measured), f"{measured} is not {case.expected}"


@pytest.mark.parametrize("case", VOLTA, ids=str)
def test_volta(case: Case) -> None:  # headings of docs/model/volta.md
    measured = case.measure()
    assert case.holds(measured), f"{measured} is not {case.expected}"


@pytest.mark.parametrize("case", VOLTA_MEMORY, ids=str)
def test_memory_of_volta(case: Case) -> None:  # headings of docs/model/volta-memory.md
    measured = case.measure()
    assert case.holds(measured), f"{measured} is not {case.expected}"


def test_every_row_has_a_case() -> None:
    rows = {int(case.row) for case in C2050}
    assert rows == set(range(1, 25))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("add.f32 $r1, $r1, $r2;", 11),
        ("mad.f32 $r1, $r1, $r2, $r3;", 13),
        ("add.ff64 {$r0,$r1}, {$r0,$r1}, {$r2,$r3};", 17),  # four source registers: 8 + 5 + 4
    ],
)
def test_ptxplus_is_timed_alike(line: str, expected: int) -> None:
    assert cost(line) == expected


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "owf"])
def test_event_skip_changes_nothing(scheduler):
    text = loop("\tmov.u32 $r2, s[0x0010];", "\tld.global.u32 $r1, [$r2];\n\tadd.u32 $r3, $r1, $r3;")
    results = [
        ptxsim.launch(
            kernel(text), 40, 96, [np.zeros(64, np.uint32), 4], scheduler=scheduler, event_skip=skip
        ).to_dict()
        for skip in (True, False)
    ]
    assert results[0] == results[1]


def test_cycles_do_not_depend_on_earlier_runs():
    text = loop("", "\tadd.f32 $r1, $r1, $r2;")
    assert cycles(text, 9, grid=20, block=256) == cycles(text, 9, grid=20, block=256)
