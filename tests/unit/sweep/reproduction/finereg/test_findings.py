"""The verdicts on invented runs."""

from finereg_runs import MACHINE, compared, run

from ptxtool.results.exhibits import Finding
from ptxtool.sweep.reproduction.finereg.assumptions import assumptions
from ptxtool.sweep.reproduction.finereg.comparisons import compared as comparisons
from ptxtool.sweep.reproduction.finereg.findings import findings
from ptxtool.sweep.reproduction.finereg.limits import limits
from ptxtool.sweep.reproduction.finereg.measured import Measured
from ptxtool.sweep.reproduction.finereg.paper import paper
from ptxtool.sweep.reproduction.finereg.sensitivity import sensitivity
from ptxtool.sweep.reproduction.finereg.variants import ASSUMPTIONS, MEMORIES, STALLS, assumed


def answers(benchmarks: list[Measured]) -> dict[str, Finding]:
    exhibits = (
        *limits(paper(), benchmarks, MACHINE),
        *comparisons(paper(), benchmarks),
        *sensitivity(paper(), benchmarks, MACHINE),
        *assumptions(benchmarks, MACHINE),
    )
    return {found.question: found for found in findings(paper(), benchmarks, exhibits, MACHINE)}


def test_verdicts() -> None:
    found = answers([compared("KM", 753), compared("FD", 753), compared("HS", 1250, registers=64)])
    assert found["entries of Table I"].agrees is True
    assert found["types S and R of Table II"].ours == "3 of 3 alike"
    assert found["speed: finereg over none, R"].ours == "-20.0%, -40.0 points apart"
    assert found["applications, finereg over none"].ours == "2 faster, 1 slower, 0 within 2%"
    assert found["resident CTAs: finereg over none, all"].ours == "+100.0%, -41.7 points apart"
    assert "speed: finereg over reg-dram, all" not in found


def test_types_that_differ_are_named() -> None:
    found = answers([compared("KM", 800, registers=64), compared("HS", 800)])
    assert found["types S and R of Table II"].ours == "0 of 2 alike, not KM, HS"


def test_the_first_stalls() -> None:
    """Ours are a fifth more than the paper's for two, and twice as many for one: the order is the same."""
    benchmarks = []
    for name, factor in (("KM", 1.2), ("FD", 2.0), ("HS", 1.2)):
        m = compared(name, 800)
        stalled = run(resident=8.0, switching_cycles_to_first_stall=m.application.cycles_to_stall * factor)
        benchmarks.append(Measured(m.application, m.kernels, {**m.counters, (name, STALLS.name): stalled}))
    found = answers(benchmarks)
    assert found["cycles to the first stall, within 25% of Table III"].ours == "2 of 3"
    assert found["rank correlation of the cycles to the first stall"].agrees is True


def test_what_a_loss_needs() -> None:
    m = compared("HS", 1250)
    runs = {assumed(title).name: run(1250) for title in ASSUMPTIONS}
    runs |= {each.name: run(1000) for each in MEMORIES}
    runs[assumed("overlap").name] = run(800)
    named = {("HS", name): counters for name, counters in runs.items()}
    found = answers([Measured(m.application, m.kernels, {**m.counters, **named})])
    assert found["why finereg loses: HS"].ours == "-20.0%; overlap: +25.0%"
    assert found["finereg over none, overlap"].ours == "+25.0%"
    del named["HS", assumed("overlap").name]
    assert "why finereg loses: HS" not in answers(
        [Measured(m.application, m.kernels, {**m.counters, **named})]
    )


def test_the_registers_accessed() -> None:
    """Of two applications the mean is 52.5, and one has a window below 15."""
    benchmarks = []
    for name, mean, least in (("MC", 40.0, 14.0), ("KM", 65.0, 16.0)):
        use = {"window": 1000, "windows": 5, "mean": mean, "least": least, "most": 80.0}
        m = compared(name, 800)
        counted = {(name, STALLS.name): run(resident=8.0, register_use=use)}
        benchmarks.append(Measured(m.application, m.kernels, {**m.counters, **counted}))
    found = answers(benchmarks)
    assert found["registers accessed in 1000 instructions"] == Finding(
        "registers accessed in 1000 instructions", "52.5%, -2.8 points apart", "55.3%", True
    )
    low = found["applications with a window below 15%"]
    assert (low.ours, low.paper, low.agrees) == ("MC", "MC NW LI SR2 TA", False)
    assert "registers accessed in 1000 instructions" not in answers([compared("KM", 800)])
