"""The options of GPGPU-Sim: their defaults in 3.x and 4.x, and how they are used. For `machine.py`.

`USED` sets something of a GPU file. `FIXED` has one value that the simulator has too; any other is not modelled, and
a warning says what is done instead. `is_unused` is True for options that set nothing: those that do not concern the
machine's timing (statistics, tracing, power, the reading of programs). An option that a file does not give has the
program's default, not the base machine's value. None stands for an option that a version does not have.
Reference: the options that GPGPU-Sim 3.2.2 and 4.2 (accel-sim) register, with their defaults.
"""

import re
from dataclasses import dataclass

ALIASES = {
    "enable_specialized_operand_collector": "gpgpu_enable_specialized_operand_collector",
    "sub_core_model": "gpgpu_sub_core_model",
    "gmem_skip_L1D": "gpgpu_gmem_skip_L1D",
    "l1_latency": "gpgpu_l1_latency",
    "smem_latency": "gpgpu_smem_latency",
    "l1_banks": "gpgpu_l1_banks",
    "mem_unit_ports": "gpgpu_mem_unit_ports",
    "perf_sim_memcpy": "gpgpu_perf_sim_memcpy",
    "memory_partition_indexing": "gpgpu_memory_partition_indexing",
    "adaptive_volta_cache_config": "gpgpu_adaptive_cache_config",
    "adaptive_cache_config": "gpgpu_adaptive_cache_config",
    "dual_bus_interface": "dram_dual_bus_interface",
    "rop_latency": "gpgpu_l2_rop_latency",
    "Seperate_Write_Queue_Enable": "dram_seperate_write_queue_enable",
    "Write_Queue_Size": "dram_write_queue_size",
    "Elimnate_rw_turnaround": "dram_elimnate_rw_turnaround",
    "inst_fetch_throughput": "gpgpu_inst_fetch_throughput",
    "reg_file_port_throughput": "gpgpu_reg_file_port_throughput",
    "gpgpu_dram_sched_queue_size": "gpgpu_frfcfs_dram_sched_queue_size",
    "ptx_opcode_latency_tensor": "ptx_opcode_latency_tesnor",
    "ptx_opcode_initiation_tesnor": "ptx_opcode_initiation_tensor",
}
"""Names of older versions, by which the same is meant."""

_NEW_NAMES = """
    l1_latency gpgpu_l1_latency smem_latency gpgpu_smem_latency gpgpu_l2_rop_latency icnt_flit_size
    perf_sim_memcpy gpgpu_perf_sim_memcpy memory_partition_indexing gpgpu_memory_partition_indexing
    sub_core_model gpgpu_sub_core_model gpgpu_num_dp_units gpgpu_num_int_units gpgpu_num_tensor_core_units
    reg_file_port_throughput gpgpu_reg_file_port_throughput
    dram_bnkgrp_indexing_policy dram_bnk_indexing_policy gpgpu_l1_banks gpgpu_gmem_skip_L1D
    ptx_opcode_latency_sfu gpgpu_shmem_sizeDefault gpgpu_simple_dram_model
"""
NEW_NAMES = frozenset(_NEW_NAMES.split())
"""Options that only files of 4.x have."""

USED: dict[str, tuple[str | None, str | None]] = {
    "gpgpu_n_clusters": ("10", "10"),
    "gpgpu_n_cores_per_cluster": ("3", "3"),
    "gpgpu_clock_domains": ("500.0:2000.0:2000.0:2000.0", "500.0:2000.0:2000.0:2000.0"),
    "gpgpu_shader_core_pipeline": ("1024:32", "1024:32"),
    "gpgpu_shader_registers": ("8192", "8192"),
    "gpgpu_shader_cta": ("8", "32"),
    "gpgpu_shmem_size": ("16384", "16384"),
    "gpgpu_shmem_sizeDefault": (None, None),
    "gpgpu_num_sched_per_core": ("1", "1"),
    "gpgpu_scheduler": ("gto", "gto"),
    "gpgpu_pipeline_widths": ("1,1,1,1,1,1,1", "1,1,1,1,1,1,1,1,1,1,1,1,1"),
    "gpgpu_inst_fetch_throughput": (None, "1"),
    "gpgpu_num_sp_units": ("1", "1"),
    "gpgpu_num_sfu_units": ("1", "1"),
    "gpgpu_operand_collector_num_units_sp": ("4", "4"),
    "gpgpu_operand_collector_num_units_sfu": ("4", "4"),
    "gpgpu_operand_collector_num_units_mem": ("2", "2"),
    "gpgpu_operand_collector_num_units_gen": ("0", "0"),
    "gpgpu_operand_collector_num_units_dp": (None, "0"),
    "gpgpu_operand_collector_num_in_ports_dp": (None, "0"),
    "gpgpu_operand_collector_num_out_ports_dp": (None, "0"),
    "gpgpu_operand_collector_num_units_int": (None, "0"),
    "gpgpu_operand_collector_num_in_ports_int": (None, "0"),
    "gpgpu_operand_collector_num_out_ports_int": (None, "0"),
    "gpgpu_operand_collector_num_units_tensor_core": (None, "4"),
    "gpgpu_operand_collector_num_in_ports_tensor_core": (None, "1"),
    "gpgpu_operand_collector_num_out_ports_tensor_core": (None, "1"),
    "gpgpu_operand_collector_num_in_ports_gen": ("0", "0"),
    "gpgpu_operand_collector_num_out_ports_gen": ("0", "0"),
    "gpgpu_enable_specialized_operand_collector": (None, "1"),
    "gpgpu_reg_file_port_throughput": (None, "1"),
    "gpgpu_sub_core_model": (None, "0"),
    "gpgpu_num_dp_units": (None, "0"),
    "gpgpu_num_int_units": (None, "0"),
    "gpgpu_num_tensor_core_units": (None, "0"),
    "gpgpu_max_insn_issue_per_warp": ("2", "2"),
    "gpgpu_dual_issue_diff_exec_units": (None, "1"),
    "gpgpu_kernel_launch_latency": (None, "0"),
    "gpgpu_TB_launch_latency": (None, "0"),
    "gpgpu_concurrent_kernel_sm": (None, "0"),
    "gpgpu_max_concurrent_kernel": ("8", "32"),
    "gpgpu_operand_collector_num_in_ports_sp": ("1", "1"),
    "gpgpu_operand_collector_num_in_ports_sfu": ("1", "1"),
    "gpgpu_operand_collector_num_in_ports_mem": ("1", "1"),
    "gpgpu_operand_collector_num_out_ports_sp": ("1", "1"),
    "gpgpu_operand_collector_num_out_ports_sfu": ("1", "1"),
    "gpgpu_operand_collector_num_out_ports_mem": ("1", "1"),
    "gpgpu_num_reg_banks": ("8", "8"),
    "ptx_opcode_latency_int": ("1,1,19,25,145", "1,1,19,25,145,32"),
    "ptx_opcode_latency_fp": ("1,1,1,1,30", "1,1,1,1,30"),
    "ptx_opcode_latency_dp": ("8,8,8,8,335", "8,8,8,8,335"),
    "ptx_opcode_latency_sfu": (None, "8"),
    "ptx_opcode_latency_tesnor": (None, "64"),
    "ptx_opcode_initiation_tensor": (None, "64"),
    "ptx_opcode_initiation_int": ("1,1,4,4,32", "1,1,4,4,32,4"),
    "ptx_opcode_initiation_fp": ("1,1,1,1,5", "1,1,1,1,5"),
    "ptx_opcode_initiation_dp": ("8,8,8,8,130", "8,8,8,8,130"),
    "ptx_opcode_initiation_sfu": (None, "8"),
    "gpgpu_cache:il1": ("4:256:4,L:R:f:N,A:2:32,4", "N:64:128:16,L:R:f:N:L,S:2:48,4"),
    "gpgpu_perfect_inst_const_cache": (None, "0"),
    "gpgpu_const_cache:l1": ("64:64:2,L:R:f:N,A:2:32,4", "64:64:2,L:R:f:N,A:2:32,4"),
    "gpgpu_tex_cache:l1": ("8:128:5,L:R:m:N,F:128:4,128:2", "8:128:5,L:R:m:N,F:128:4,128:2"),
    "gpgpu_cache:dl1": ("none", "none"),
    "gpgpu_cache:dl2": ("64:128:8,L:B:m:N,A:16:4,4", "S:32:128:24,L:B:m:L:P,A:192:4,32:0,32"),
    "gpgpu_gmem_skip_L1D": ("0", "0"),
    "gpgpu_l1_latency": (None, "1"),
    "gpgpu_smem_latency": (None, "3"),
    "gpgpu_coalesce_arch": ("13", "13"),
    "gpgpu_flush_l1_cache": ("0", "0"),
    "gpgpu_perf_sim_memcpy": (None, "1"),
    "gpgpu_n_cluster_ejection_buffer_size": ("8", "8"),
    "network_mode": ("1", "1"),
    "inter_config_file": (None, None),
    "icnt_flit_size": (None, "32"),
    "gpgpu_n_mem": ("8", "8"),
    "gpgpu_n_sub_partition_per_mchannel": ("1", "1"),
    "gpgpu_n_mem_per_ctrlr": ("1", "1"),
    "gpgpu_dram_partition_queues": ("8:8:8:8", "8:8:8:8"),
    "gpgpu_l2_rop_latency": ("85", "85"),
    "dram_latency": ("30", "30"),
    "gpgpu_dram_scheduler": ("1", "1"),
    "gpgpu_frfcfs_dram_sched_queue_size": ("0", "0"),
    "gpgpu_dram_return_queue_size": ("0", "0"),
    "dram_seperate_write_queue_enable": ("0", "0"),
    "dram_write_queue_size": ("32:28:16", "32:28:16"),
    "gpgpu_dram_buswidth": ("4", "4"),
    "gpgpu_dram_burst_length": ("4", "4"),
    "dram_data_command_freq_ratio": ("2", "2"),
    "gpgpu_dram_timing_opt": ("4:2:8:12:21:13:34:9:4:5:13:1:0:0", "4:2:8:12:21:13:34:9:4:5:13:1:0:0"),
    "dram_bnk_indexing_policy": (None, "0"),
    "dram_bnkgrp_indexing_policy": (None, "0"),
    "dram_elimnate_rw_turnaround": (None, "0"),
    "gpgpu_mem_addr_mapping": (None, None),
    "gpgpu_memory_partition_indexing": (None, "0"),
    "dram_dual_bus_interface": (None, "0"),
    "gpgpu_l1_banks": (None, "1"),
    "gpgpu_l1_banks_byte_interleaving": (None, "32"),
    "gpgpu_l1_banks_hashing_function": (None, "0"),
    "gpgpu_l1_cache_write_ratio": (None, "0"),
    "gpgpu_adaptive_cache_config": (None, "0"),
    "gpgpu_unified_l1d_size": (None, "0"),
    "gpgpu_shmem_option": (None, "0"),
    "icnt_in_buffer_limit": (None, "64"),
    "icnt_out_buffer_limit": (None, "64"),
    "icnt_arbiter_algo": (None, "1"),
}
"""Name -> defaults of 3.x and 4.x."""


@dataclass(frozen=True)
class Fixed:
    """The defaults of 3.x and 4.x, the value that the simulator has, and what it does. `refused`: no other will do."""

    three: str | None
    four: str | None
    has: str
    what: str
    refused: bool = False


FIXED: dict[str, Fixed] = {
    "gpgpu_simd_model": Fixed("1", "1", "1", "lanes rejoin at the immediate post-dominator"),
    "gpgpu_opndcoll_model": Fixed(None, "0", "0", "the collector units are modelled one by one"),
    "gpgpu_shmem_num_banks": Fixed("16", "16", "32", "shared memory has 32 banks"),
    "gpgpu_shmem_limited_broadcast": Fixed("1", "1", "0", "any number of words is broadcast in a cycle"),
    "gpgpu_shmem_warp_parts": Fixed("2", "2", "1", "a warp accesses shared memory as a whole"),
    "gpgpu_num_cta_barriers": Fixed("16", "16", "16", "a CTA has 16 barriers"),
    "icnt_subnets": Fixed(None, "2", "2", "requests and replies have networks of their own"),
    "icnt_grant_cycles": Fixed(None, "1", "1", "an output turns to the next input with every packet"),
    "gpgpu_n_ldst_response_buffer_size": Fixed("2", "2", "2", "the LDST unit holds two replies"),
    "gpgpu_local_mem_map": Fixed("1", "1", "1", "local memory is interleaved over threads"),
    "gpgpu_mem_unit_ports": Fixed(None, "1", "1", "the LDST unit serves one access a cycle"),
    "gpgpu_flush_l2_cache": Fixed("0", "0", "0", "the L2 is not emptied"),
    "gpgpu_simple_dram_model": Fixed(None, "0", "0", "DRAM has banks, rows and its timing parameters"),
    "gpgpu_lrc_enabled": Fixed(None, "0", "0", "loads are merged by the L1 only"),
    "gpgpu_n_chiplet_partition": Fixed(None, "1", "1", "the machine is one chip"),
    "gpgpu_max_cycle": Fixed("0", "0", "0", "a run goes to its end; --max-cycles ends it"),
    "gpgpu_max_insn": Fixed("0", "0", "0", "a run goes to its end; --max-cycles ends it"),
    "gpgpu_max_cta": Fixed("0", "0", "0", "a run goes to its end; --max-cycles ends it"),
    "gpgpu_max_completed_cta": Fixed(None, "0", "0", "a run goes to its end; --max-cycles ends it"),
    "gpgpu_perfect_mem": Fixed("0", "0", "0", "memory takes its time", refused=True),
    "l2_ideal": Fixed("0", "0", "0", "the L2 can miss", refused=True),
    "gpgpu_cache:dl2_texture_only": Fixed("1", "1", "0", "the L2 caches everything", refused=True),
}

_UNUSED = re.compile(
    r"gpgpu_ptx_\w+|cdp_latency|(power|visualizer|trace|steady|hw_perf)_\w+"
    r"|(gpuwattch|accelwattch)_\w+|n_regfile_gating_group|gpgpu_clock_gated_\w+|dvfs_enabled|aggregate_power_stats"
    r"|enable_ptx_file_line_stats|ptx_line_stats_filename|gpgpu_memlatency_stat|gpgpu_runtime_stat|liveness_message_freq"
    r"|gpgpu_cflog_interval|gpgpu_deadlock_detect|save_embedded_ptx|keep|gpgpu_warpdistro_shader|gpgpu_warp_issue_shader"
    r"|gpgpu_compute_capability_\w+|gpgpu_(stack|heap)_size_limit|gpgpu_runtime_\w+_limit"
    r"|gpgpu_experimental_lib_support|gpgpu_cdp_enabled|gpgpu_occupancy_sm_number|gpgpu_registers_per_block"
    r"|gpgpu_ignore_resources_limitation|gpgpu_shmem_per_block|gpgpu_simt_core_sim_order"
    r"|gpgpu_num_mem_units|gpgpu_mem_addr_test|gpgpu_mem_address_mask|gpgpu_reg_bank_use_warp_id"
    r"|gpgpu_cache:dl1Pre\w+|gpgpu_shmem_size_Pref\w+|gpgpu_tensor_core_avail"
    r"|gpgpu_simple_dram_clock_multiplier|gpgpu_lrc_max_\w+|specialized_unit_\d+|icnt_verbose|inct_\w+"
    r"|SST_mode|gpgpu_trywait_\w+|(inter_)?chiplet_\w+"
    r"|gpgpu_chiplet_interleave"
)


def is_unused(name: str) -> bool:
    """Whether GPGPU-Sim has the option, and nothing of a GPU file depends on it."""
    return _UNUSED.fullmatch(name) is not None
