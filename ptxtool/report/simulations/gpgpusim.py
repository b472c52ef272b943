"""The counters of simulated launches as GPGPU-Sim prints them, for the scripts that read its logs.

Names, order and spelling are GPGPU-Sim's; a line is there if the simulator has its number. `gpu_sim_...` and `gpu_ipc`
are of one launch, all others are sums since the first, as there. The last line is what such scripts take for a regular
end.
docs/gpgpusim.md has a table of the lines.
Reference: GPGPU-Sim 3.2.2 and 4.2, their statistics; timing-model section 4, timing-model-42 section 4.
"""

from collections.abc import Iterator, Mapping, Sequence

from ptxtool.results.simulation import SimResult

END = "GPGPU-Sim: *** exit detected ***"
_BREAK = "GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **"
_LIMITERS = {"registers": "regs", "scratchpad": "shmem", "threads": "threads", "ctas": "cta_limit"}


def counters(results: Sequence[SimResult], version: str) -> str:
    """The counter lines of launches that ran one after the other; `version` is of the program that counted."""
    lines = [f"        *** ptxtool: counters as GPGPU-Sim prints them  [build {version}] ***"]
    totals: dict[str, float] = {}
    ctas = 0
    for number, result in enumerate(results, start=1):
        for name, count in result.stats.items():
            totals[name] = totals.get(name, 0) + count
        ctas += result.ctas_done
        lines += _launch(result, number, {name: int(count) for name, count in totals.items()}, ctas)
    done = all(result.status == "done" for result in results)
    return "\n".join([*lines, "", END if done else _BREAK])


def _launch(result: SimResult, number: int, totals: Mapping[str, int], ctas: int) -> Iterator[str]:
    limiter = _LIMITERS.get(result.limiter, result.limiter)
    yield f"GPGPU-Sim uArch: CTA/core = {result.resident_ctas}, limited by: {limiter}"
    yield f"kernel_name = {result.kernel} "
    yield f"kernel_launch_uid = {number} "
    yield f"gpu_sim_cycle = {result.cycles}"
    yield f"gpu_sim_insn = {result.thread_instructions}"
    yield f"gpu_ipc = {result.thread_ipc:12.4f}"
    yield f"gpu_tot_sim_cycle = {totals['cycles']}"
    yield f"gpu_tot_sim_insn = {totals['thread_insn']}"
    yield f"gpu_tot_ipc = {_ratio(totals['thread_insn'], totals['cycles']):12.4f}"
    yield f"gpu_tot_issued_cta = {ctas}"
    yield from ("", "========= Core cache stats =========")
    for cache in ("L1I", "L1D", "L1C"):
        yield f"{cache}_cache:"
        yield from _cache(cache, totals, indent="\t")
    yield f"gpgpu_n_tot_thrd_icount = {32 * totals['warp_insn']}"
    yield f"gpgpu_n_tot_w_icount = {totals['warp_insn']}"
    yield f"gpgpu_n_stall_shd_mem = {totals['stall_shd_mem']}"
    yield f"gpgpu_n_shmem_bkconflict = {totals['shmem_bank_conflict']}"
    yield "Warp Occupancy Distribution:"
    slots = [
        ("Stall", totals["sched_stall"]),
        ("W0_Idle", totals["sched_w0_idle"]),
        ("W0_Scoreboard", totals["sched_w0_scoreboard"]),
        *((f"W{lanes}", totals.get(f"issued_w{lanes}", 0)) for lanes in range(1, 33)),
    ]
    yield "\t".join(f"{name}:{count}" for name, count in slots)
    yield f"total dram reads = {totals['dram_reads']}"
    yield f"total dram writes = {totals['dram_writes']}"
    yield from ("", "========= L2 cache stats =========")
    yield from _cache("L2", totals, indent="")
    yield ""
    yield f"icnt_total_pkts_mem_to_simt={totals['icnt_replies_flits']}"
    yield f"icnt_total_pkts_simt_to_mem={totals['icnt_requests_flits']}"


def _cache(name: str, totals: Mapping[str, int], indent: str) -> Iterator[str]:
    """The totals of one cache; in read-only caches an access that waits for a line on its way counts as a miss, too."""
    own = name.lower()
    accesses, misses = totals[f"{own}_accesses"], totals[f"{own}_misses"]
    yield f"{indent}{name}_total_cache_accesses = {accesses}"
    yield f"{indent}{name}_total_cache_misses = {misses}"
    if accesses:
        yield f"{indent}{name}_total_cache_miss_rate = {_ratio(misses, accesses):.4f}"
    yield f"{indent}{name}_total_cache_pending_hits = {totals.get(f'{own}_pending_hits', 0)}"
    yield f"{indent}{name}_total_cache_reservation_fails = {totals[f'{own}_reservation_fails']}"


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
