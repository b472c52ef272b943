"""The ladder's table and JSON on made-up counters; the runs themselves are tested with the simulator."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pytest

from ptxtool.analysis.energy.breakdown import EnergyBreakdown
from ptxtool.base.cuda_places import CudaPlace
from ptxtool.base.diag import Diagnostic
from ptxtool.report.simulations.comparison import comparison_parts
from ptxtool.results.replicas import Replicas, Spread
from ptxtool.results.run_results import Comparison, Run, Rung


@dataclass(frozen=True)
class Point:
    instruction: int
    line: int
    text: str = "add.u32 $r1, $r2, $r3;"
    register: str = "$r3"
    sequence: int = 7
    warps: int = 12
    warp_cycles: int = 340
    first_cycle: int = 5
    offset: int = -1
    variable: str = ""
    cuda: CudaPlace | None = None


@dataclass(frozen=True)
class Result:
    cycles: int
    shared_pairs: int = 0
    stall_points: tuple[Point, ...] = ()
    status: str = "done"
    kernel: str = "k"
    gpu: str = "tesla-c2050"
    scheduler: str = "lrr"
    share_registers: float = 0
    share_scratchpad: float = 0
    sharing: str = ""
    dynamic: None = None
    switching: None = None
    hotspots: None = None
    remarks: tuple[str, ...] = ()
    grid: tuple[int, int, int] = (10, 1, 1)
    block: tuple[int, int, int] = (64, 1, 1)
    n_ctas: int = 10
    ctas_done: int = 10
    registers: int = 20
    scratchpad_bytes: int = 32
    resident_ctas: int = 5
    unshared_ctas: int = 5
    private_registers: int = 2
    private_scratchpad: int = 32
    limiter: str = "registers"
    warp_instructions: int = 50
    thread_instructions: int = 1000
    slots: dict[str, int] = field(
        default_factory=lambda: {"idle": 10, "scoreboard": 20, "stall": 30, "issued": 40}
    )
    l1: dict[str, int] = field(default_factory=lambda: {"misses": 3})
    l2: dict[str, int] = field(default_factory=lambda: {"misses": 2})
    dram: dict[str, int] = field(default_factory=lambda: {"reads": 1})
    stats: dict[str, float] = field(default_factory=dict)

    @property
    def energy(self) -> EnergyBreakdown:
        return EnergyBreakdown({"leakage": 2.0 * self.cycles}, 1.0)

    @property
    def thread_ipc(self) -> float:
        return self.thread_instructions / self.cycles

    @property
    def warp_ipc(self) -> float:
        return self.warp_instructions / self.cycles / 14

    def to_dict(self) -> dict[str, Any]:
        return {"cycles": self.cycles}


def comparison(same: bool = True, problems: tuple[Diagnostic, ...] = ()) -> Comparison:
    runs = [
        Result(100),
        Result(125, 3, (Point(4, 20), Point(0, 10))),
        Result(80, 3, (Point(4, 20),)),
    ]
    names = ("Unshared-LRR", "Shared-LRR-NoOpt", "Shared-LRR-Unrolled")
    reported = ((), problems, ())
    made = [Run(result, (), ("out",), reported[k]) for k, result in enumerate(runs)]
    lines = (None, 10, 15)
    rungs = tuple(
        Rung(names[k], "lrr", 90, "unroll-decls" if k == 2 else "", made[k], same or k != 2, lines[k])
        for k in range(len(runs))
    )
    return Comparison("k.ptxplus", "k", "registers", 90, rungs)


def text(found: Comparison) -> str:
    return "\n".join(map(str, comparison_parts(found)))


def test_gains_are_of_thread_ipc_over_the_first_rung() -> None:
    shown = text(comparison()).splitlines()
    rows = {line.split()[0]: line.split() for line in shown[3:6]}
    # 1000 lanes in 100, 125 and 80 cycles: IPC 10, 8 and 12.5
    assert rows["Unshared-LRR"][1:4] == ["5", "100", "10.00"]
    assert rows["Shared-LRR-NoOpt"][3:6] == ["8.00", "-20.00%", "-" * 10]
    assert rows["Shared-LRR-Unrolled"][3:6] == ["12.50", "+25.00%", "#" * 12]
    assert rows["Shared-LRR-Unrolled"][6:] == ["30", "10", "20", "3", "2"]
    assert max(map(len, shown)) <= 120


def test_gains_of_replicas() -> None:
    whole = comparison()
    ipc = ((10.0, 10.0, 10.0), (8.0, 9.0, 8.5), (12.5, 9.0, 11.0))
    rungs = []
    for rung, values in zip(whole.rungs, ipc, strict=True):
        replicas = Replicas(3, Spread(tuple(1000 / each for each in values)), Spread(values))
        rungs.append(replace(rung, run=replace(rung.run, replicas=replicas)))
    found = replace(whole, rungs=tuple(rungs))
    shown = text(found).splitlines()
    at = shown.index("gain in 3 replicas (mean, least to greatest)")
    assert shown[at + 1 : at + 4] == [
        "  Shared-LRR-NoOpt     -15.00%  (-20.00 to -10.00)",
        "  Shared-LRR-Unrolled  +8.33%  (-10.00 to +25.00): none, it has both signs",
        "",
    ]
    assert found.to_dict()["rungs"][1]["gain_replicas"]["values"] == pytest.approx([-20, -10, -15])
    assert "gain_replicas" not in whole.to_dict()["rungs"][1]
    assert "replicas" not in text(whole)
    ended = replace(found, complete=False)
    assert text(ended).endswith("interrupted during the replicas of Shared-LRR-Unrolled")


def test_energy_is_compared_with_the_first_rung() -> None:
    shown = text(comparison()).splitlines()
    assert "energy over Unshared-LRR, rung by rung: +25.0%, -20.0%" in shown
    percent = [rung["energy_percent"] for rung in comparison().to_dict()["rungs"]]
    assert percent == pytest.approx([0, 25, -20])


def test_a_rung_that_was_cut_off_has_no_gain() -> None:
    whole = comparison()
    cut = replace(whole.rungs[-1], run=Run(Result(80, status="interrupted"), (), (), ()))
    found = replace(whole, rungs=(*whole.rungs[:2], cut), complete=False)
    shown = text(found).splitlines()
    rows = {line.split()[0]: line.split() for line in shown[3:6]}
    assert rows["Shared-LRR-NoOpt"][4] == "-20.00%"
    assert rows["Shared-LRR-Unrolled"][1:] == ["5", "80", "12.50", "30", "10", "20", "3", "2"]
    assert "interrupted during Shared-LRR-Unrolled" in shown[-1]
    assert [rung["gain_percent"] for rung in found.to_dict()["rungs"]][2] is None
    assert str(found).splitlines()[3].endswith("thread IPC 12.50 (interrupted)")
    alone = replace(whole, rungs=(cut,), complete=False)
    assert alone.gain(cut) is None
    assert "energy" not in text(alone)
    assert "12.50" in text(alone)


def test_the_first_stall_point_is_the_first_in_the_text() -> None:
    shown = text(comparison())
    assert "  Unshared-LRR         nothing is shared" in shown
    assert "  Shared-LRR-NoOpt     instruction 0 (line 10), $r3" in shown
    assert (
        "  Shared-LRR-Unrolled  instruction 4 (line 15), $r3 (register 7), 12 stops: add.u32 $r1, $r2, $r3;"
        in shown
    )
    assert "has registers 1 to 2 for itself" in shown


def test_the_cuda_line_of_a_stall_point() -> None:
    found = comparison()
    rung = found.rungs[1]
    point = rung.stall_point
    assert point is not None
    place = CudaPlace("/src/k.cu", 3, CudaPlace("/src/k.cu", 9))
    result = replace(rung.result, stall_points=(replace(point, cuda=place),))
    found = replace(found, rungs=(found.rungs[0], replace(rung, run=replace(rung.run, result=result))))
    assert "  Shared-LRR-NoOpt  instruction 0 (line 10, k.cu:3 (inlined at k.cu:9)), $r3" in text(found)
    shown = "\n".join(map(str, comparison_parts(found, lambda each: f"<{each}>" if each else "")))
    assert "(line 10, <k.cu:3 (inlined at k.cu:9)>), $r3" in shown
    stall = found.rungs[1].stall_to_dict()
    assert stall is not None
    assert (stall["cuda"], stall["cuda_inlined_at"]) == ("k.cu:3", ["k.cu:9"])
    before = comparison().rungs[1].stall_to_dict()
    assert before is not None
    assert "cuda" not in before


@pytest.mark.parametrize(
    ("percent", "why"),
    [
        (90, "nothing is shared: 5 CTAs per SM without sharing and no more with it, limited by registers"),
        (0, "nothing is shared at 0%"),
    ],
)
def test_gains_without_pairs_are_not_those_of_sharing(percent: int, why: str) -> None:
    paired = comparison()
    rungs = tuple(
        replace(r, run=replace(r.run, result=replace(r.result, shared_pairs=0))) for r in paired.rungs
    )
    shown = text(replace(paired, percent=percent, rungs=rungs)).splitlines()
    assert shown[-4:-2] == [why, "gains are those of schedulers and passes"]
    assert "first stall point" not in "\n".join(shown)


def test_the_verdict() -> None:
    assert text(comparison()).endswith("results: out as expected, and all memory identical in all 3 runs")
    different = comparison(same=False)
    assert text(different).endswith("results: WRONG, see the messages")
    assert [d.message for d in different.problems] == [
        "Shared-LRR-Unrolled: memory differs from that of Unshared-LRR"
    ]
    wrong = comparison(problems=(Diagnostic("E409", "argument 'out' is not as expected"),))
    assert wrong.problems[0].message.startswith("Shared-LRR-NoOpt: argument 'out'")


def test_json() -> None:
    data = comparison().to_dict()
    assert [round(r["gain_percent"], 6) for r in data["rungs"]] == [0, -20, 25]
    assert data["rungs"][0]["expected"] == {"checked": ["out"], "ok": True, "problems": []}
    assert [r["first_stall"] and r["first_stall"]["line"] for r in data["rungs"]] == [None, 10, 15]
    assert [r["passes"] for r in data["rungs"]] == ["", "", "unroll-decls"]


def test_a_percentage_is_written_without_loss() -> None:
    third = replace(comparison(), percent=Fraction(100, 3))
    assert text(third).splitlines()[0].endswith(", 100/3% of the registers shared")
    assert str(third).startswith("k, 100/3% of registers shared\n")
    assert [
        replace(third, percent=p).to_dict()["share_percent"] for p in (Fraction(100, 3), Fraction(25, 2), 90)
    ] == [
        "100/3",
        12.5,
        90,
    ]


def test_str_has_a_line_per_rung() -> None:
    assert str(comparison()).splitlines()[3] == (
        "  Shared-LRR-Unrolled  5 resident CTAs, 80 cycles, thread IPC 12.50 (+25.00%)"
    )


def test_the_byte_of_shared_scratchpad_at_which_warps_stop() -> None:
    point = Point(4, 20, "st.shared.f32 [%r1], %f1;", offset=720, variable="rA")
    rungs = tuple(
        Rung(name, "lrr", percent, "", Run(result, (), ("out",), ()), True, line)
        for name, percent, result, line in (
            ("Unshared-LRR", 0, Result(100), None),
            ("Shared-OWF", 90, Result(80, 3, (point,)), 20),
        )
    )
    found = Comparison("k.ptx", "k", "scratchpad", 90, rungs)
    lines = text(found).splitlines()
    assert lines[0].endswith("90% of the scratchpad shared")
    assert (
        "  Shared-OWF    instruction 4 (line 20), rA (byte 720), 12 stops: st.shared.f32 [%r1], %f1;" in lines
    )
    assert "  a CTA of a pair has the first 32 bytes for itself" in lines
    assert found.to_dict()["rungs"][1]["first_stall"]["offset"] == 720
