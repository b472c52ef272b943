"""The table at the end of an application."""

from dataclasses import replace

from ptxtool.report.simulations.application import application_parts
from ptxtool.results.applications import ApplicationRun, Launch, RewrittenKernel

LAUNCHES = (
    Launch(1, "a", (2, 1, 1), (32, 1, 1), warp_instructions=20, cycles=250, seconds=2.5e-7),
    Launch(2, "b", (1, 1, 1), (32, 1, 1), warp_instructions=5, cycles=750, seconds=0.0075),
    Launch(3, "b", (1, 1, 1), (32, 1, 1), error=700, findings=1, out_of_bounds=4),
)
RUN = ApplicationRun(("./app", "x"), 1, "tesla-c2050", True, 1, LAUNCHES, ("cudaGraphCreate",))


def lines(run: ApplicationRun) -> list[str]:
    return "\n".join(map(str, application_parts(run))).splitlines()


def test_with_time() -> None:
    found = lines(RUN)
    assert found[0] == "./app x: 3 launches on tesla-c2050, exit status 1"
    assert found[1].split() == ["kernel", "launches", "warp", "instructions", "cycles", "time", "share"]
    assert found[3].split() == ["b", "2", "5", "750", "7.5", "ms", "100.0%"]
    assert found[4].split() == ["a", "1", "20", "250", "250", "ns", "0.0%"]
    assert found[5:] == [
        "failed: 1 launch",
        "found by the checks: 1 fault",
        "outside of all allocations: 4 accesses",
        "not implemented: cudaGraphCreate",
    ]


def test_without_time() -> None:
    found = lines(replace(RUN, timed=False, launches=LAUNCHES[:1], missing=(), status=0))
    assert found[0] == "./app x: 1 launch without time, exit status 0"
    assert found[3].split() == ["a", "1", "20", "100.0%"]


def test_with_estimates() -> None:
    guessed = replace(LAUNCHES[0], is_estimated=True, uncertainty=0.125)
    untimed = Launch(5, "c", (1, 1, 1), (32, 1, 1), warp_instructions=7)
    found = lines(replace(RUN, launches=(*LAUNCHES[:2], guessed, untimed), missing=(), sim_launches="2"))
    assert found[1].split()[1:4] == ["launches", "simulated", "warp"]
    assert found[1].split()[-1] == "error"
    assert found[3].split() == ["b", "1", "1", "5", "750", "7.5", "ms", "100.0%"]
    assert found[4].split() == ["a", "2", "1", "40", "500", "500", "ns", "0.0%", "12.5%"]
    assert found[5].split() == ["c", "1", "0", "7", "0", "0", "ns", "0.0%"]
    assert found[6] == (
        "simulated: 2; estimated: 1, 0.0% of the time, error of all together 0.0%, of one launch at most 12.5%; "
        "1 launch without time, as none of the kernel was simulated"
    )
    unknown = replace(guessed, uncertainty=None)
    found = lines(replace(RUN, launches=(*LAUNCHES[:2], unknown), missing=(), sim_launches="2"))
    assert found[4].split()[-1] == "unknown"
    assert found[5] == "simulated: 2; estimated: 1, 0.0% of the time, error of all together unknown"


def test_without_a_call_or_a_launch() -> None:
    assert lines(replace(RUN, processes=0, launches=(), missing=())) == [
        "./app x: 0 launches on tesla-c2050, exit status 1; no CUDA call was made"
    ]
    assert lines(replace(RUN, launches=(), missing=())) == [
        "./app x: 0 launches on tesla-c2050, exit status 1"
    ]


def test_passes_have_a_table_of_registers() -> None:
    rewritten = (RewrittenKernel("a", 0, 20, 16), RewrittenKernel("b", 256, 30, 30, "E301"))
    found = lines(replace(RUN, passes="allocate:max-regs=16", rewritten=rewritten))
    k = found.index("registers per thread before and after allocate:max-regs=16")
    assert found[k + 1].split() == ["kernel", "threads", "of", "a", "CTA", "before", "after"]
    assert [line.split() for line in found[k + 3 : k + 5]] == [
        ["a", "any", "20", "16"],
        ["b", "256", "30", "as", "it", "was", "(E301)"],
    ]
