"""GPGPU-Sim's options of the SMs: schedulers, limits, widths, collector units, latencies."""

from pathlib import Path

import pytest
from gpgpusim_files import NEW, changed, read_config, write_config

from ptxsim.timing.machine_records import check_machine
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.formats.gpgpusim import machine
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.isa.types import ArithmeticClass


@pytest.mark.parametrize(
    ("scheduler", "ours"),
    [
        ("gto", "gto"),
        ("lrr", "lrr"),
        ("rrr", "rrr"),
        ("old", "old"),
        ("two_level_active:6:0:1", "two_level:6"),
        ("warp_limiting:2:10", "static_limit:10"),
    ],
)
def test_schedulers(scheduler: str, ours: str, tmp_path: Path) -> None:
    assert changed(tmp_path, gpgpu_scheduler=scheduler)[0].scheduler == ours


@pytest.mark.parametrize("use_warp_id", ["0", "1"])
def test_banks_are_by_register_and_warp_whatever_the_option_says(use_warp_id: str, tmp_path: Path) -> None:
    """GPGPU-Sim reads `-gpgpu_reg_bank_use_warp_id` and adds the warp always. The file sets the key itself."""
    path = write_config(tmp_path, load_gpu(NEW), 4, gpgpu_reg_bank_use_warp_id=use_warp_id)
    assert machine.read_config(path).tables["pipeline"]["bank_function"] == "reg+warp"
    assert load_gpu(path).pipeline.bank_function == "reg+warp"


VOLTA = {
    "gpgpu_enable_specialized_operand_collector": "0",
    "gpgpu_operand_collector_num_units_gen": "8",
    "gpgpu_operand_collector_num_in_ports_gen": "6",
    "gpgpu_operand_collector_num_out_ports_gen": "7",
    "gpgpu_operand_collector_num_units_sp": None,
    "gpgpu_operand_collector_num_units_sfu": None,
    "gpgpu_operand_collector_num_units_mem": None,
    "gpgpu_reg_file_port_throughput": "2",
    "gpgpu_sub_core_model": "1",
    "gpgpu_num_sched_per_core": "4",
    "gpgpu_num_sp_units": "4",
    "gpgpu_num_sfu_units": "4",
    "gpgpu_num_dp_units": "4",
    "gpgpu_num_int_units": "4",
    "gpgpu_num_tensor_core_units": "4",
    "gpgpu_pipeline_widths": "4,4,4,4,4,4,4,4,4,4,8,4,4",
    "ptx_opcode_latency_int": "4,13,4,5,145,21",
    "ptx_opcode_initiation_int": "2,2,2,2,8,4",
    "ptx_opcode_latency_tesnor": "64",
    "ptx_opcode_initiation_tensor": "32",
}
"""Options of SM7_QV100; ports and the interval of tensor units are others, to tell them apart."""


def volta(folder: Path, **changes: str | None) -> tuple[Gpu, list[Diagnostic]]:
    return read_config(write_config(folder, load_gpu(NEW), 4, **(VOLTA | changes)))


def test_generic_collector_units(tmp_path: Path) -> None:
    gpu, reported = volta(tmp_path)
    p = gpu.pipeline
    assert (p.collectors_shared, p.ports_shared, p.out_ports_shared, p.collector_steps) == (8, 6, 7, 2)
    assert p.sub_cores
    assert (p.sp_units, p.sfu_units, p.dp_units, p.int_units, p.tensor_units) == (4, 4, 4, 4, 4)
    assert not reported
    check_machine(gpu)


def test_widths_of_all_classes(tmp_path: Path) -> None:
    """ID_OC of SP, DP, INT, SFU, MEM; OC_EX of the same; EX_WB; ID_OC and OC_EX of tensor units."""
    widths = "1,2,3,4,5,6,7,8,9,10,11,12,13"
    p = volta(tmp_path, gpgpu_pipeline_widths=widths)[0].pipeline
    assert (p.id_oc_sp, p.id_oc_dp, p.id_oc_int, p.id_oc_sfu, p.id_oc_mem) == (1, 2, 3, 4, 5)
    assert (p.oc_ex_sp, p.oc_ex_dp, p.oc_ex_int, p.oc_ex_sfu, p.oc_ex_mem) == (6, 7, 8, 9, 10)
    assert (p.ex_wb, p.id_oc_tensor, p.oc_ex_tensor) == (11, 12, 13)


def test_the_unit_of_each_kind_of_instruction(tmp_path: Path) -> None:
    """Volta: floats on SP, doubles on DP, special functions and quotients on SFU, all others on INT."""
    latency = volta(tmp_path)[0].latency
    kinds: tuple[ArithmeticClass, ...] = ("int", "fp32", "fp64")
    for name in ("add", "minmax", "mul", "mad", "fma"):
        assert [latency[name][kind].unit for kind in kinds] == ["INT", "SP", "DP"]
    for name in ("mul24", "mad24", "shfl", "alu", "branch", "barrier"):
        assert {latency[name][kind].unit for kind in kinds} == {"INT"}
    for name in ("div", "rem", "sfu"):
        assert {latency[name][kind].unit for kind in kinds} == {"SFU"}
    assert [latency["mma"][kind].unit for kind in kinds] == ["TENSOR"] * 3
    assert (latency["mma"]["fp32"].latency, latency["mma"]["fp32"].interval) == (64, 32)
    assert (latency["shfl"]["int"].latency, latency["shfl"]["int"].interval) == (21, 4)


def test_without_units_of_their_own(tmp_path: Path) -> None:
    """Pascal: integers on SP, doubles and products of matrices on SFU."""
    none = dict.fromkeys(("gpgpu_num_dp_units", "gpgpu_num_int_units", "gpgpu_num_tensor_core_units"), "0")
    gpu, reported = volta(tmp_path, gpgpu_pipeline_widths="4,0,0,4,4,4,0,0,4,4,8", **none)
    assert (gpu.latency["add"]["int"].unit, gpu.latency["alu"]["fp32"].unit) == ("SP", "SP")
    assert (gpu.latency["add"]["fp64"].unit, gpu.latency["mma"]["int"].unit) == ("SFU", "SFU")
    assert not reported
    check_machine(gpu)


def test_a_shuffle_without_its_number_is_reported(tmp_path: Path) -> None:
    five = {"ptx_opcode_latency_int": "4,4,4,4,21", "ptx_opcode_initiation_int": "2,2,2,2,2"}
    _, (warning,) = volta(tmp_path, **five)
    assert "the time of 'shfl', its sixth number, which is missing," in warning.message
    assert warning.line


def test_classes_with_collector_units_of_their_own(tmp_path: Path) -> None:
    """GPGPU-Sim's Kepler has units of doubles, but no generic collector units."""
    own = {name: value for name, value in VOLTA.items() if "operand_collector" not in name}
    own |= {"gpgpu_num_int_units": "0", "gpgpu_pipeline_widths": "2,2,0,1,1,2,2,0,1,1,4,1,1"}
    for what, dp, tensor in (("units", 6, 3), ("in_ports", 1, 2), ("out_ports", 1, 2)):
        own[f"gpgpu_operand_collector_num_{what}_dp"] = str(dp)
        own[f"gpgpu_operand_collector_num_{what}_tensor_core"] = str(tensor)
    gpu, reported = read_config(write_config(tmp_path, load_gpu(NEW), 4, **own))
    assert [d.message for d in reported] == ["'-gpgpu_sub_core_model 1' is not modelled"]
    p = gpu.pipeline
    assert (p.dp_units, p.collectors_dp, p.ports_dp) == (4, 6, 1)
    assert (p.tensor_units, p.collectors_tensor, p.ports_tensor) == (4, 3, 2)
    assert (p.collectors_shared, p.collector_steps, p.int_units) == (0, 2, 0)
    assert (gpu.latency["add"]["int"].unit, gpu.latency["add"]["fp64"].unit) == ("SP", "DP")
    check_machine(gpu)


def test_units_without_collector_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PtxError, match=r"E502.*num_units_int' is 0"):
        changed(tmp_path, gpgpu_num_int_units="4")


@pytest.mark.parametrize(("differs", "pairs"), [("1", "different-units"), ("0", "any")])
def test_two_instructions_of_a_warp(differs: str, pairs: str, tmp_path: Path) -> None:
    changes = {"gpgpu_max_insn_issue_per_warp": "2", "gpgpu_dual_issue_diff_exec_units": differs}
    p = volta(tmp_path, **changes)[0].pipeline
    assert (p.issue_per_warp, p.issue_pairs) == (2, pairs)


def test_latency_of_launches(tmp_path: Path) -> None:
    changes = {"gpgpu_kernel_launch_latency": "5000", "gpgpu_TB_launch_latency": "7"}
    gpu, reported = volta(tmp_path, **changes)
    assert (gpu.dispatch.launch_cycles, gpu.dispatch.cta_launch_cycles) == (5000, 7)
    assert not reported


@pytest.mark.parametrize(("shared", "kernels"), [("0", "one-per-sm"), ("1", "leftover")])
def test_launches_that_run_at_the_same_time(shared: str, kernels: str, tmp_path: Path) -> None:
    changes = {"gpgpu_concurrent_kernel_sm": shared, "gpgpu_max_concurrent_kernel": "9"}
    gpu, reported = volta(tmp_path, **changes)
    assert (gpu.dispatch.kernels, gpu.dispatch.concurrent_kernels) == (kernels, 9)
    assert not reported


def test_sms_are_clusters_times_cores(tmp_path: Path) -> None:
    gpu, reported = changed(tmp_path, gpgpu_n_clusters="3", gpgpu_n_cores_per_cluster="2")
    assert (gpu.sm.count, gpu.icnt.sms_per_port, reported) == (6, 2, [])
    gpu, (warning,) = changed(tmp_path, gpgpu_n_clusters="3", gpgpu_n_cores_per_cluster="6")
    assert (gpu.sm.count, gpu.icnt.sms_per_port) == (18, 2)
    assert warning.message == "'-gpgpu_n_cores_per_cluster 6' is not modelled"


def test_threads_are_whole_warps(tmp_path: Path) -> None:
    gpu, _ = changed(tmp_path, gpgpu_shader_core_pipeline="1024:32")
    assert (gpu.sm.threads, gpu.sm.warps) == (1024, 32)


def test_nine_widths_have_a_stage_of_doubles(tmp_path: Path) -> None:
    """ID_OC of SP, DP, SFU, MEM; OC_EX of the same; EX_WB."""
    p = changed(tmp_path, gpgpu_pipeline_widths="1,2,3,4,5,6,7,8,9")[0].pipeline
    assert (p.id_oc_sp, p.id_oc_sfu, p.id_oc_mem) == (1, 3, 4)
    assert (p.oc_ex_sp, p.oc_ex_sfu, p.oc_ex_mem, p.ex_wb) == (5, 7, 8, 9)


def test_special_functions_of_old_files_take_as_long_as_products_of_doubles(tmp_path: Path) -> None:
    gpu, _ = changed(tmp_path, ptx_opcode_latency_dp="8,9,19,11,335", ptx_opcode_initiation_dp="1,2,7,4,130")
    times = {(t.latency, t.interval) for t in (gpu.latency["sfu"][kind] for kind in ("int", "fp32", "fp64"))}
    assert times == {(19, 7)}
    assert (gpu.latency["minmax"]["fp64"].latency, gpu.latency["div"]["fp64"].interval) == (9, 130)


def test_as_many_out_ports_as_in_ports(tmp_path: Path) -> None:
    gpu, (warning,) = changed(
        tmp_path,
        gpgpu_operand_collector_num_in_ports_sfu="1",
        gpgpu_operand_collector_num_out_ports_sfu="2",
    )
    assert gpu.pipeline.ports_sfu == 1
    assert warning.help == "here there are as many out-ports as in-ports: 1"


@pytest.mark.parametrize("scheduler", ["two_level_active:{}:0:1", "warp_limiting:2:{}"])
def test_numbers_of_thousands_of_digits_are_no_scheduler(scheduler: str, tmp_path: Path) -> None:
    with pytest.raises(PtxError, match="scheduler"):
        changed(tmp_path, gpgpu_scheduler=scheduler.format("9" * 5000))
