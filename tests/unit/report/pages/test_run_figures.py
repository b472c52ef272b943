"""A run as columns: every instruction of the text has its figures, in its order."""

from kernels import ptx
from sim_results import sim_result

from ptxtool.report.pages.run_figures import hotspot_data, reasons_data, run_data
from ptxtool.results.hotspots import REASONS, Hotspot, Hotspots

KERNEL = ptx("mov.u32 %r1, 1;\nst.global.u32 [%rd1], %r1;\nret;")


def spot(i: int, reasons: dict[str, int], **figures: int) -> Hotspot:
    zeros = dict.fromkeys(
        (
            "issues",
            "lanes",
            "active",
            "divergent",
            "memory",
            "transactions",
            "hits",
            "misses",
            "pending_hits",
            "caused",
        ),
        0,
    )
    return Hotspot(i, "k", KERNEL.line(i), KERNEL.text(i), "", reasons=reasons, **{**zeros, **figures})


SPOTS = (
    spot(0, {"fetch": 3, "alu": 0}, issues=4),
    spot(1, {"l1_refuses": 5, "ldst": 2}, issues=4, memory=4),
    spot(2, {}, issues=4),
)
FOUND = Hotspots({"issued": 12, "fetch": 3, "l1_refuses": 5, "ldst": 2, "alu": 0}, (), SPOTS, {})


def test_reasons_have_numbers() -> None:
    names = [reason["name"] for reason in reasons_data()]
    assert names == list(REASONS)
    data = hotspot_data(FOUND, [KERNEL])
    assert data["of"] == [
        [names.index("fetch"), 3],
        [names.index("l1_refuses"), 5, names.index("ldst"), 2],
        [],
    ]
    assert data["lost"] == [3, 7, 0]
    assert (data["issues"], data["memory"]) == ([4, 4, 4], [0, 4, 0])
    assert (data["total"], data["issued"]) == (22, 12)
    assert data["reasons"] == {"fetch": 3, "l1_refuses": 5, "ldst": 2}
    assert data["kinds"] == {"issued": 12, "stall": 7, "idle": 3, "scoreboard": 0}


def test_a_function_that_did_not_run_has_zeros() -> None:
    other = ptx("ret;").module.kernels["k"]
    assert hotspot_data(FOUND, [KERNEL, other])["lost"][:3] == [3, 7, 0]
    assert len(hotspot_data(FOUND, [KERNEL, KERNEL])["lost"]) == 6
    assert hotspot_data(Hotspots({"issued": 0}, (), (), {}), [KERNEL])["lost"] == [0, 0, 0]


def test_counters_of_a_run() -> None:
    result = sim_result()
    data = run_data(result, [KERNEL])
    assert data["counters"]["cycles"] == result.cycles
    assert data["counters"]["thread_ipc"] == result.thread_ipc
    assert (data["l1"], data["slots"]) == (result.l1, result.slots)
    assert "hotspots" not in data
