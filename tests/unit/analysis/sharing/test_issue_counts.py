"""How often instructions were issued: counts of the right run, and files that are none."""

import pytest
from kernels import ptx

from ptxtool.analysis.sharing.issue_counts import IssueCounts
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

KERNEL = ptx("mov.u32 %r1, 1; ret;")


def test_a_count_per_instruction() -> None:
    assert IssueCounts("run.json", "k", [5, 0]).of(KERNEL) == (5, 0)


def test_the_run_of_another_kernel_has_none() -> None:
    assert IssueCounts("run.json", "j", ["x"]).of(KERNEL) is None
    assert IssueCounts("run.json", None, []).of(KERNEL) is None


@pytest.mark.parametrize(
    ("issues", "message"),
    [
        ([5, -1], "its 'issues' are no counts"),
        ([5, 1.5], "its 'issues' are no counts"),
        ([5], "it counts 1 instructions, and 'k' has 2"),
        ([5, 5, 5], "it counts 3 instructions, and 'k' has 2"),
    ],
)
def test_what_are_no_counts(issues: list[object], message: str) -> None:
    with pytest.raises(PtxError) as caught:
        IssueCounts("run.json", "k", issues).of(KERNEL)
    (found,) = caught.value.diagnostics
    assert found.code == "E502"
    assert found.message == f"'run.json' is no result of a run: {message}"


def test_the_counts_of_called_functions_follow() -> None:
    text = ".version 7.0\n.target sm_70\n.func f() { ret; }\n.entry k() { call f; ret; }\n"
    assert IssueCounts("run.json", "k", [5, 5, 9]).of(parse(text).kernels["k"]) == (5, 5)
