"""Counters of simulated launches: ratios, the names that GPGPU-Sim has for them, and totals."""

import json

from sim_results import sim_result, stall_point

from ptxtool.results.simulation import SimResult, Totals


def test_thread_ipc_is_of_the_gpu_and_warp_ipc_of_an_sm() -> None:
    found = sim_result()  # 12000 lanes and 400 warp instructions in 1000 cycles on 2 SMs
    assert (found.thread_ipc, found.warp_ipc) == (12.0, 0.2)
    assert (sim_result(cycles=0).thread_ipc, sim_result(cycles=0).warp_ipc) == (0.0, 0.0)


def test_counters_have_the_names_of_gpgpu_sim() -> None:
    stats = sim_result().stats
    assert {
        name: stats[name] for name in ("sched_w0_idle", "sched_stall", "l1d_misses", "stall_shd_mem")
    } == {
        "sched_w0_idle": 10,
        "sched_stall": 30,
        "l1d_misses": 3,
        "stall_shd_mem": 4,
    }
    assert stats["sched_idle_scoreboard"] == 30
    assert (stats["issued_w16"], stats["issued_w32"]) == (100, 300)


def test_the_ipc_of_all_launches_is_the_quotient_of_sums() -> None:
    """12000 lanes in 1000 cycles and 0 in 3000: 3 a cycle, not the mean of 12 and 0."""
    totals = Totals.of([sim_result(), sim_result(cycles=3000, thread_instructions=0, issued_by_lanes={8: 1})])
    assert (totals.launches, totals.cycles, totals.ctas, totals.thread_ipc) == (2, 4000, 20, 3.0)
    assert totals.stats["l1d_hits"] == 14
    assert (totals.stats["issued_w32"], totals.stats["issued_w8"]) == (300, 1)
    assert not {"gpu_ipc", "warp_ipc_per_sm", "max_ctas_per_core", "power_w"} & totals.stats.keys()


def test_the_energy_of_all_launches_is_the_sum() -> None:
    """8 uJ in 2 us, twice."""
    totals = Totals.of([sim_result(), sim_result()])
    assert (totals.energy.total_uj, totals.stats["energy_uj"], totals.energy.power_w) == (16, 16, 4)
    assert totals.to_dict()["energy"]["parts_uj"] == {"instruction": 6, "leakage": 10}


def test_totals_of_nothing() -> None:
    assert Totals.of([]).thread_ipc == 0.0


def test_json_has_no_parts_that_were_not_recorded() -> None:
    data = json.loads(sim_result().to_json())
    assert not {"hotspots", "dynamic", "switching"} & data.keys()
    assert data["issued_by_lanes"] == {"16": 100, "32": 300}
    assert data["stats"]["cycles"] == data["cycles"] == 1000
    assert data["energy"] == {
        "total_uj": 8,
        "power_w": 4,
        "time_us": 2,
        "parts_uj": {"instruction": 3, "leakage": 5},
    }


def test_what_is_shared_is_a_part_of_the_title() -> None:
    def title(result: SimResult) -> str:
        return str(result).split("\n", 1)[0]

    assert title(sim_result(share_registers=90)) == "k on tesla-c2050, lrr, 90% of registers shared"
    assert title(sim_result(status="interrupted", ctas_done=3)).endswith("(interrupted: 3 of 10 CTAs)")


def test_what_a_warp_waited_for() -> None:
    assert stall_point(3).touched == "$r3 is register 7"
    assert stall_point(3, offset=16, variable="tile").touched == "byte 16, in tile"
    assert stall_point(3, offset=0).touched == "byte 0"
