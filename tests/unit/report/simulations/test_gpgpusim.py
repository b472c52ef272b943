"""The counter lines as a script that reads GPGPU-Sim's logs sees them: by the patterns that such scripts look for."""

import re
from types import SimpleNamespace
from typing import Any

from ptxtool.report.simulations.gpgpusim import counters

# of the statistics that GPGPU-Sim's own collecting scripts take from a log, those that the simulator has
AGGREGATE = (
    r"gpu_tot_sim_insn\s*=\s*(.*)",
    r"gpu_tot_sim_cycle\s*=\s*(.*)",
    r"gpgpu_n_tot_w_icount\s*=\s*(.*)",
    r"total dram reads\s*=\s*(.*)",
    r"total dram writes\s*=\s*(.*)",
)
NAMES = (
    *(
        "cycles",
        "thread_insn",
        "warp_insn",
        "stall_shd_mem",
        "shmem_bank_conflict",
        "sched_stall",
        "sched_w0_idle",
    ),
    *("sched_w0_scoreboard", "dram_reads", "dram_writes", "icnt_replies_flits", "icnt_requests_flits"),
    *(f"{c}_{n}" for c in ("l1i", "l1d", "l1c", "l2") for n in ("accesses", "misses", "reservation_fails")),
)


def result(first: int, **others: Any) -> Any:
    """A launch whose counters are `first`, `first` + 1 and so on in the order of `NAMES`."""
    stats = {name: first + k for k, name in enumerate(NAMES)} | {"issued_w32": 7, "l1d_pending_hits": 3}
    cycles, lanes = stats["cycles"], stats["thread_insn"]
    given = {"kernel": "k", "cycles": cycles, "thread_instructions": lanes, "thread_ipc": lanes / cycles}
    given |= {"ctas_done": 10, "resident_ctas": 6, "limiter": "registers", "status": "done", "stats": stats}
    return SimpleNamespace(**given | others)


def last(pattern: str, text: str) -> str:
    """The value that a script takes: the first group of the last line with the pattern."""
    return str(re.findall(pattern, text)[-1]).strip()


def test_lines_that_scripts_look_for() -> None:
    text = counters([result(100)], "1.2")
    assert [last(pattern, text) for pattern in AGGREGATE] == ["101", "100", "102", "108", "109"]
    assert last(r"kernel_name\s+=\s+(.*)", text) == "k"
    assert float(last(r"gpu_ipc\s*=\s*(.*)", text)) == 1.01
    assert last(r".*\[build\s+(.*)\].*", text.splitlines()[0]) == "1.2"
    assert re.match(r"GPGPU-Sim: \*\*\* exit detected \*\*\*", text.splitlines()[-1])


def test_every_line_of_one_launch() -> None:
    lines = counters([result(100)], "1.2").splitlines()
    assert lines[1:14] == [
        "GPGPU-Sim uArch: CTA/core = 6, limited by: regs",
        "kernel_name = k ",
        "kernel_launch_uid = 1 ",
        "gpu_sim_cycle = 100",
        "gpu_sim_insn = 101",
        "gpu_ipc =       1.0100",
        "gpu_tot_sim_cycle = 100",
        "gpu_tot_sim_insn = 101",
        "gpu_tot_ipc =       1.0100",
        "gpu_tot_issued_cta = 10",
        "",
        "========= Core cache stats =========",
        "L1I_cache:",
    ]
    l1d = lines.index("L1D_cache:")
    assert lines[l1d + 1 : l1d + 6] == [
        "\tL1D_total_cache_accesses = 115",
        "\tL1D_total_cache_misses = 116",
        "\tL1D_total_cache_miss_rate = 1.0087",
        "\tL1D_total_cache_pending_hits = 3",
        "\tL1D_total_cache_reservation_fails = 117",
    ]
    assert "gpgpu_n_tot_thrd_icount = 3264" in lines  # 32 for each of 102 warp instructions
    assert "gpgpu_n_stall_shd_mem = 103" in lines
    assert "gpgpu_n_shmem_bkconflict = 104" in lines
    slots = lines[lines.index("Warp Occupancy Distribution:") + 1].split("\t")
    assert slots[:4] == ["Stall:105", "W0_Idle:106", "W0_Scoreboard:107", "W1:0"]
    assert slots[-1] == "W32:7"
    assert len(slots) == 35
    assert "L2_total_cache_accesses = 121" in lines
    assert "icnt_total_pkts_mem_to_simt=110" in lines
    assert "icnt_total_pkts_simt_to_mem=111" in lines


def test_counters_of_several_launches_are_sums() -> None:
    text = counters([result(100), result(300, kernel="other")], "1.2")
    assert re.findall(r"kernel_name = (\S+)", text) == ["k", "other"]
    assert re.findall(r"kernel_launch_uid = (\d+)", text) == ["1", "2"]
    assert re.findall(r"gpu_sim_cycle = (\d+)", text) == ["100", "300"]
    assert re.findall(r"gpu_tot_sim_cycle = (\d+)", text) == ["100", "400"]
    assert re.findall(r"gpu_tot_issued_cta = (\d+)", text) == ["10", "20"]
    assert re.findall(r"gpgpu_n_tot_w_icount = (\d+)", text) == ["102", "404"]
    assert float(last(r"gpu_tot_ipc\s*=\s*(.*)", text)) == 402 / 400
    assert re.findall(r"W32:(\d+)", text) == ["7", "14"]


def test_a_run_that_was_stopped_has_no_regular_end() -> None:
    text = counters([result(100, status="max-cycles")], "1.2")
    assert "exit detected" not in text
    assert re.match(r"GPGPU-Sim: \*\* break due to reaching the maximum cycles", text.splitlines()[-1])


def test_a_cache_that_nobody_used_has_no_miss_rate() -> None:
    launch = result(100)
    launch.stats["l1i_accesses"] = 0
    assert "L1I_total_cache_miss_rate" not in counters([launch], "1.2")
