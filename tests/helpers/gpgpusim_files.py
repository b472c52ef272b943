"""GPGPU-Sim configuration files written by the tests: from a machine's numbers, so that reading them gives it back."""

from pathlib import Path

from ptxtool.base.diag import Diagnostic
from ptxtool.formats.gpu import Gpu, load_gpu

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"
"""The packaged machines of 3.x and 4.x."""


def config_of(gpu: Gpu, version: int) -> dict[str, str]:
    """The options of GPGPU-Sim 3.x or 4.x that say what a machine of that version says."""
    sm, p, l1d, l2, dram, clocks = gpu.sm, gpu.pipeline, gpu.l1d, gpu.l2, gpu.dram, gpu.clocks
    new = version == 4
    between = "0,0," if new else ""
    kind, mshr = ("N:", "S") if new else ("", "A")
    set_index = "H" if l1d.set_hash == "fermi" else "L"
    burst = dram.tWTP - dram.WL  # with the write recovery
    options = {
        "gpgpu_n_clusters": sm.count,
        "gpgpu_n_cores_per_cluster": 1,
        "gpgpu_clock_domains": f"{clocks.core_mhz}.0:{clocks.icnt_mhz}.0:{clocks.l2_mhz}.0:{clocks.dram_mhz}.0",
        "gpgpu_shader_core_pipeline": f"{sm.threads}:{sm.warp_size}",
        "gpgpu_shader_registers": sm.registers,
        "gpgpu_shader_cta": sm.ctas,
        "gpgpu_shmem_size": sm.scratchpad_bytes,
        "gpgpu_num_sched_per_core": sm.schedulers,
        "gpgpu_scheduler": gpu.scheduler,
        "gpgpu_pipeline_widths": f"{p.id_oc_sp},{between}{p.id_oc_sfu},{p.id_oc_mem},"
        f"{p.oc_ex_sp},{between}{p.oc_ex_sfu},{p.oc_ex_mem},{p.ex_wb}",
        "gpgpu_num_sp_units": p.sp_units,
        "gpgpu_num_sfu_units": p.sfu_units,
        "gpgpu_operand_collector_num_units_sp": p.collectors_sp,
        "gpgpu_operand_collector_num_units_sfu": p.collectors_sfu,
        "gpgpu_operand_collector_num_units_mem": p.collectors_mem,
        "gpgpu_operand_collector_num_in_ports_sp": p.ports_sp,
        "gpgpu_operand_collector_num_out_ports_sp": p.ports_sp,
        "gpgpu_num_reg_banks": p.register_banks,
        "gpgpu_max_insn_issue_per_warp": 1,
        "gpgpu_shmem_num_banks": 32,
        "gpgpu_shmem_limited_broadcast": 0,
        "gpgpu_shmem_warp_parts": 1,
        "gpgpu_cache:dl2_texture_only": 0,
        "gpgpu_cache:il1": f"{kind}{gpu.fetch.sets}:{gpu.fetch.line_bytes}:{gpu.fetch.ways},L:R:f:N:L,"
        f"{mshr}:{gpu.fetch.mshr_entries}:{gpu.fetch.mshr_waiters},{gpu.fetch.miss_queue}",
        "gpgpu_const_cache:l1": f"{kind}{gpu.l1c.sets}:{gpu.l1c.line_bytes}:{gpu.l1c.ways},L:R:f:N:L,"
        f"{mshr}:{gpu.l1c.mshr_entries}:{gpu.l1c.mshr_waiters},{gpu.l1c.miss_queue}",
        "gpgpu_tex_cache:l1": f"{kind}{gpu.l1t.sets}:{gpu.l1t.line_bytes}:{gpu.l1t.ways},L:R:m:N:L,"
        f"{'T' if new else 'F'}:{gpu.l1t.fragment_fifo}:{gpu.l1t.request_fifo},128:{gpu.l1t.result_fifo}",
        "gpgpu_cache:dl1": f"{kind}{l1d.sets}:{l1d.line_bytes}:{l1d.ways},L:L:m:N:{set_index},"
        f"{mshr}:{l1d.mshr_entries}:{l1d.mshr_waiters},{l1d.miss_queue}",
        "gpgpu_cache:dl2": f"{'S:' if new else ''}{l2.sets}:{l2.line_bytes}:{l2.ways},L:B:m:{'L' if new else 'W'}:L,"
        f"A:{l2.mshr_entries}:{l2.mshr_waiters},{l2.miss_queue}:0,{l2.port_bytes}",
        "gpgpu_dram_partition_queues": f"{l2.icnt_queue}:{l2.dram_queue}:{l2.fill_queue}:{l2.reply_queue}",
        "gpgpu_l2_rop_latency" if new else "rop_latency": l2.rop_cycles,
        "dram_latency": dram.fixed_cycles,
        "gpgpu_n_mem": dram.channels,
        "gpgpu_n_sub_partition_per_mchannel": dram.slices_per_channel,
        "gpgpu_n_mem_per_ctrlr": 2,
        "gpgpu_dram_buswidth": dram.atom_bytes // 16,
        "gpgpu_dram_burst_length": 8,
        "dram_data_command_freq_ratio": 8 // dram.tBURST,
        "gpgpu_frfcfs_dram_sched_queue_size": dram.scheduler_queue,
        "gpgpu_dram_return_queue_size": dram.return_queue,
        "gpgpu_dram_timing_opt": f'"nbk={dram.banks}:CCD={dram.tCCD}:RRD={dram.tRRD}:RCD={dram.tRCD}:RAS={dram.tRAS}:\n'
        f"  RP={dram.tRP}:RC={dram.tRC}: CL={dram.CL}:WL={dram.WL}:CDLR={dram.tWTR - dram.WL - dram.tBURST}:"
        f'WR={burst - dram.tBURST}:nbkgrp=4:CCDL={dram.tCCDL}:RTPL={dram.tRTPL}"',
        "gpgpu_mem_addr_mapping": "dramid@8;" + "00000000." * 4 + "0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS",
        "gpgpu_n_cluster_ejection_buffer_size": gpu.icnt.response_fifo,
        "gpgpu_flush_l1_cache": int(l1d.flush_when_empty),
        "network_mode": 1,
        "inter_config_file": "network.icnt",
    }
    latency = gpu.latency
    for kind_name, key in (("int", "int"), ("fp", "fp32"), ("dp", "fp64")):
        rows = [latency[unit][key] for unit in ("add", "minmax", "mul", "mad", "div")]  # type: ignore[index]
        options[f"ptx_opcode_latency_{kind_name}"] = ",".join(str(row.latency) for row in rows)
        options[f"ptx_opcode_initiation_{kind_name}"] = ",".join(str(row.interval) for row in rows)
    if new:
        options |= {
            "gpgpu_l1_latency": l1d.latency_cycles,
            "gpgpu_smem_latency": gpu.ldst.shared_pipe_cycles,
            "gpgpu_coalesce_arch": 20,
            "icnt_flit_size": gpu.icnt.flit_bytes,
            "gpgpu_perf_sim_memcpy": int(l2.copies_fill),
            "dram_bnkgrp_indexing_policy": 1,
        }
    return {name: str(value) for name, value in options.items()}


def network_of(gpu: Gpu) -> str:
    """The network file of a machine."""
    fast = gpu.icnt.packet_gap_cycles == 0
    entries = {
        "topology": "fly",
        "k": gpu.sm.count + gpu.l2.slices,
        "n": 1,
        "flit_size": gpu.icnt.flit_bytes,
        "num_vcs": 1,
        "vc_buf_size": gpu.icnt.buffer_flits,
        "input_speedup": 1 if fast else 2,
        "output_speedup": 1,
        "internal_speedup": "2.0" if fast else "1.0",
    }
    return "".join(f"{name} = {value}; // of {gpu.name}\n" for name, value in entries.items())


def write_config(folder: Path, gpu: Gpu, version: int, **changes: str | None) -> Path:
    """Write a machine's files; `changes` are other values for options (None: leave it out), ':' written as '__'."""
    options: dict[str, str | None] = dict(config_of(gpu, version))
    options |= {name.replace("__", ":"): value for name, value in changes.items()}
    lines = [f"-{name} {value}\n" for name, value in options.items() if value is not None]
    path = folder / "gpgpusim.config"
    path.write_text("# written by a test\n" + "".join(lines))
    (folder / "network.icnt").write_text(network_of(gpu))
    return path


def read_config(path: Path) -> tuple[Gpu, list[Diagnostic]]:
    """The machine of a file, and the warnings about it."""
    reported: list[Diagnostic] = []
    gpu = load_gpu(path, reported.append)
    assert all(d.code == "W501" and d.help for d in reported)
    return gpu, reported


def changed(folder: Path, **changes: str | None) -> tuple[Gpu, list[Diagnostic]]:
    """The machine of the 3.x file with other options, and what is reported of it."""
    return read_config(write_config(folder, load_gpu(OLD), 3, **changes))
