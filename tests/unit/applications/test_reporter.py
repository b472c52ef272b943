"""What is told while an application runs, and kept for the report."""

from dataclasses import replace

from kernels import ptx
from sim_results import sim_result

from ptxtool.applications.reporter import Reporter
from ptxtool.base.diag import Diagnostic, error
from ptxtool.base.source import Source
from ptxtool.results.applications import Launch
from ptxtool.results.hotspots import Hotspots


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


def test_the_longest_measured_launch_of_a_kernel_is_kept() -> None:
    reporter, kernel, measured = Reporter(print), ptx("ret;"), Hotspots({}, (), (), {})
    for number, cycles, hotspots in (
        (1, 500, measured),
        (2, 900, measured),
        (3, 700, measured),
        (4, 9000, None),
    ):
        result = replace(sim_result(), cycles=cycles, hotspots=hotspots)
        reporter.simulated(Launch(number, "k", (1,), (32,), 16), kernel, result)
    (kept,) = reporter.longest.values()
    assert (kept.number, kept.dynamic_shared, kept.result.cycles) == (2, 16, 900)
