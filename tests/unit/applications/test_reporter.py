"""What is told while an application runs, and kept for the report."""

from ptxtool.applications.reporter import Reporter
from ptxtool.base.diag import Diagnostic, error
from ptxtool.base.source import Source


def test_a_call_is_named_before_its_problem() -> None:
    told: list[Diagnostic | str] = []
    reporter = Reporter(told.append)
    reporter.problem(error("E404", "no such block", help="look"), "cudaFree(0x1)")
    assert [str(each).splitlines()[0] for each in told] == ["error[E404]: cudaFree(0x1): no such block"]
    assert reporter.problems == told


def test_what_is_at_one_place_is_told_once() -> None:
    told: list[Diagnostic | str] = []
    reporter = Reporter(told.append)
    source = Source("k.ptx", "ld.global.u32 %r1, [%rd1];\nret;\n")
    for start in (0, 0, 27):
        reporter.diagnostic(Diagnostic("E404", "a read", source=source, start=start, end=start + 3))
    reporter.diagnostic(Diagnostic("E401", "a null pointer"))
    reporter.diagnostic(Diagnostic("E401", "a null pointer"))
    assert len(reporter.problems) == 5
    assert len(told) == 4
