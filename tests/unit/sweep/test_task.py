"""Runs as they are sent to other processes: the counters of several launches as those of one, and digests."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pressured
import pytest
from sim_results import sim_result, stall_point

from ptxtool import api
from ptxtool.analysis.energy.breakdown import EnergyBreakdown
from ptxtool.base.diag import PtxError
from ptxtool.results.sweeps import Configuration
from ptxtool.sweep.plan import plan
from ptxtool.sweep.task import Task, digest_of, execute, of_all


def test_ratios_of_several_launches_are_quotients_of_sums() -> None:
    """12000 lanes in 1000 cycles and 0 in 3000 are 3 a cycle; 800 warp instructions, 0.1 per cycle on each of 2 SMs."""
    other = sim_result(cycles=3000, thread_instructions=0, issued_by_lanes={8: 1})
    found = of_all([sim_result().to_dict(), other.to_dict()])
    assert (found["cycles"], found["thread_ipc"], found["warp_ipc"]) == (4000, 3.0, 0.1)
    assert (found["stats"]["gpu_ipc"], found["stats"]["warp_ipc_per_sm"]) == (3.0, 0.1)
    assert found["stats"]["max_ctas_per_core"] == 5
    assert found["slots"]["stall"] == 60
    assert found["issued_by_lanes"] == {"16": 100, "32": 300, "8": 1}


def test_energy_is_a_sum_and_power_its_quotient() -> None:
    """8 uJ in 2 us, and 12 uJ in 3 us: 20 uJ in 5 us are 4 W."""
    other = sim_result(energy=EnergyBreakdown({"instruction": 12.0}, 3.0))
    found = of_all([sim_result().to_dict(), other.to_dict()])
    assert found["energy"]["parts_uj"] == {"instruction": 15.0, "leakage": 5.0}
    assert (found["stats"]["energy_uj"], found["stats"]["power_w"], found["energy"]["power_w"]) == (20, 4, 4)


def test_stall_points_are_of_a_single_launch() -> None:
    one = sim_result(stall_points=(stall_point(1),)).to_dict()
    assert of_all([one]) == one
    assert "stall_points" not in of_all([one, one])


def test_a_digest_is_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    assert digest_of(path, "") == hashlib.sha256(b"abc").hexdigest()
    with pytest.raises(PtxError, match=r"(?s)E501.*give it"):
        digest_of(tmp_path / "none", "give it")


def test_another_version_of_the_simulator_refuses() -> None:
    found = execute(Task("key", "another", "label", "k.ptx", "not read"))
    assert found.status == "failed"
    assert [problem["code"] for problem in found.problems] == ["E504"]


def test_cycles_of_ctas_and_switches_are_summed() -> None:
    """5000 of 1000 cycles and 3000 of 3000 are 8000 of 4000 on each of 2 SMs: one resident on average."""
    other = sim_result(cycles=3000, cta_cycles=3000)
    found = of_all([sim_result().to_dict(), other.to_dict()])
    assert (found["cta_cycles"], found["resident_average"], found["switches"]) == (8000, 1.0, 0)


def test_a_run_says_what_its_scheme_takes(tmp_path: Path) -> None:
    run = Configuration(pressured.write(tmp_path), gpu="gtx980-finereg", register_scheme="regmutex")
    (planned,) = plan([run], api.kernel)
    found = execute(planned.task)
    assert found.status == "done"
    assert found.counters["remarks"][0] == planned.task.remarks[0]
    # marks at both ends of a region; a mov for each value from one side to the other
    assert (found.counters["extended_marks"], found.counters["text_instructions"]) == (2, 78 + 10)
    assert found.counters["storage_bits"] == 64 + 64 + 64 * 6


def test_of_hotspots_the_registers_accessed_are_kept(tmp_path: Path) -> None:
    run = Configuration(pressured.write(tmp_path), gpu="gtx980-finereg")
    asked, plain = (
        execute(each.task) for each in plan([replace(run, hotspots=True, label="h"), run], api.kernel)
    )
    assert "hotspots" not in asked.counters
    kept = asked.counters.pop("register_use")
    assert kept is None or kept["window"] == 1000
    assert asked.counters == plain.counters
