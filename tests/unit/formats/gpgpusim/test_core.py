"""GPGPU-Sim's options of the SMs: schedulers, limits, widths, collector units, latencies."""

from pathlib import Path

import pytest
from gpgpusim_files import NEW, changed, read_config, write_config

from ptxtool.base.diag import PtxError
from ptxtool.formats.gpgpusim import machine
from ptxtool.formats.gpu import load_gpu


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


def test_generic_collector_units(tmp_path: Path) -> None:
    path = write_config(
        tmp_path,
        load_gpu(NEW),
        4,
        gpgpu_enable_specialized_operand_collector="0",
        gpgpu_operand_collector_num_units_gen="8",
        gpgpu_pipeline_widths="4,4,4,4,4,4,4,4,4,4,8,4,4",
    )
    gpu, _ = read_config(path)
    p = gpu.pipeline
    assert (p.id_oc_sp, p.id_oc_sfu, p.id_oc_mem, p.oc_ex_mem, p.ex_wb) == (4, 4, 4, 4, 8)
    assert (p.collectors_sp, p.collectors_sfu, p.collectors_mem, p.ports_sp) == (8, 4, 4, 4)


def test_sms_are_clusters_times_cores(tmp_path: Path) -> None:
    gpu, (warning,) = changed(tmp_path, gpgpu_n_clusters="3", gpgpu_n_cores_per_cluster="2")
    assert gpu.sm.count == 6
    assert warning.message == "'-gpgpu_n_cores_per_cluster 2' is not modelled"


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
