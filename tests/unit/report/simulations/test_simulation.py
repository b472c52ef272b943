"""A simulated run as a table."""

from dataclasses import replace

from sim_results import sim_result, stall_point

from ptxtool.base.cuda_places import CudaPlace
from ptxtool.report.simulations.simulation import run_parts, slot_rows, waited_for
from ptxtool.results.run_results import Run
from ptxtool.results.simulation import SimResult


def text(result: SimResult) -> str:
    return "\n".join(map(str, run_parts(Run(result, (), ("out",), ()))))


def test_one_run() -> None:
    shown = text(sim_result())
    assert "slots scoreboard         20   20.0% ######\n" in shown
    assert "energy (uJ)            8.00  leakage 62%, instruction 38%\naverage power (W)      4.00\n" in shown
    assert shown.endswith("results: out as expected")
    assert "stall points" not in shown


def test_stall_points_are_in_the_order_of_the_text() -> None:
    points = (stall_point(15), stall_point(5))
    shown = text(sim_result(shared_pairs=3, private_registers=6, stall_points=points))
    assert "waited for a shared register (private: sequence numbers 1 to 6)" in shown
    assert shown.index("  10     12") < shown.index("  20     12")


def test_the_cuda_lines_of_stall_points() -> None:
    points = (stall_point(15, cuda=CudaPlace("k.cu", 3)), stall_point(5))
    result = sim_result(shared_pairs=3, private_registers=6, stall_points=points)
    lines = text(result).splitlines()
    assert next(line for line in lines if "waited for " in line and "line " in line).endswith("CUDA line")
    assert [line.endswith("  k.cu:3") for line in lines if "add.u32 $r1" in line] == [False, True]
    assert "CUDA line" not in text(replace(result, stall_points=points[1:]))
    assert [point.get("cuda") for point in result.to_dict()["stall_points"]] == ["k.cu:3", None]


def test_no_warp_waited() -> None:
    shown = text(sim_result(shared_pairs=1, share_scratchpad=90))
    assert "stall points: none; no warp had to wait for shared scratchpad" in shown


def test_no_pairs_though_ctas_may_share() -> None:
    why = "nothing is shared: 5 CTAs per SM without sharing and no more with it, limited by registers"
    assert why in text(sim_result(share_registers=90)).splitlines()
    assert "nothing is shared" not in text(sim_result())


def test_waits_for_registers_of_a_cta() -> None:
    found = sim_result(core={"register_waits": 3, "register_wait_cycles": 250, "instruction_miss_slots": 0})
    assert "\nsetmaxnreg: 3 waits for registers, 250 warp cycles\n" in text(found)
    assert "setmaxnreg" not in text(sim_result())


def test_shares_of_no_slots_are_nothing() -> None:
    assert slot_rows({"issued": 0})[0] == ("slots issued", 0, "  0.0%")
    assert slot_rows({"issued": 1, "idle": 3})[0][2] == " 25.0% " + "#" * 8  # 7.5 of 30


def test_what_a_warp_waited_for() -> None:
    assert waited_for(stall_point(1), "number ") == "$r3 (number 7)"
    assert waited_for(stall_point(1, offset=8, variable="t")) == "t (byte 8)"
    assert waited_for(stall_point(1, offset=8)) == "byte 8"
