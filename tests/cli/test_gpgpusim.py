"""`ptxtool sim` for users of GPGPU-Sim: its configuration files, and its counter lines."""

import json
import re
from pathlib import Path

from gpgpusim_files import write_config
from smallkernel import Cli

from ptxtool.formats.gpu import load_gpu

KERNEL = """.version 3.0
.target sm_20
.address_size 64
.visible .entry twice(.param .u64 a)
{
	.reg .u32 %r<4>; .reg .u64 %d<3>;
	ld.param.u64 %d0, [a];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %d1, %r0, 4;
	add.u64 %d1, %d0, %d1;
	ld.global.u32 %r1, [%d1];
	add.u32 %r1, %r1, %r1;
	st.global.u32 [%d1], %r1;
	exit;
}
"""
SHAPE = ("--grid", "4", "--block", "64", "--arg", "u32[64]=1")


def kernel(folder: Path) -> str:
    path = folder / "kernel.ptx"
    path.write_text(KERNEL)
    return str(path)


def test_counter_lines_have_the_numbers_of_the_json(cli: Cli, tmp_path: Path) -> None:
    file = kernel(tmp_path)
    lines = cli("sim", file, *SHAPE, "--stats", "gpgpusim")
    data = json.loads(cli("sim", file, *SHAPE, "--stats", "json").stdout)
    assert lines.exit_code == 0, lines.stderr
    found = {
        name: int(value) for name, value in re.findall(r"^\t?(\w+) ?= ?(\d+)$", lines.stdout, re.MULTILINE)
    }
    stats = data["stats"]
    assert found["gpu_sim_cycle"] == found["gpu_tot_sim_cycle"] == data["cycles"]
    assert found["gpu_sim_insn"] == data["thread_instructions"]
    assert found["gpgpu_n_tot_w_icount"] == data["warp_instructions"]
    assert found["gpgpu_n_stall_shd_mem"] == stats["stall_shd_mem"]
    assert (
        found["L1D_total_cache_accesses"] == stats["l1d_accesses"] == 16
    )  # 8 warps, each one load and one store
    assert found["L2_total_cache_misses"] == stats["l2_misses"]
    assert found["icnt_total_pkts_simt_to_mem"] == stats["icnt_requests_flits"]
    assert f"Stall:{stats['sched_stall']}\tW0_Idle:{stats['sched_w0_idle']}\t" in lines.stdout


def test_a_configuration_is_a_machine_with_its_scheduler(cli: Cli, tmp_path: Path) -> None:
    path = write_config(tmp_path, load_gpu("tesla-c2050"), 3, gpgpu_scheduler="gto", gpgpu_simd_model="2")
    run = cli("sim", kernel(tmp_path), *SHAPE, "--gpu", str(path))
    assert run.exit_code == 0
    assert run.stdout.startswith(f"twice on {path} over tesla-c2050, gto\n")
    assert run.stderr.count("W501") == 1
    assert "'-gpgpu_simd_model 2' is not modelled" in run.stderr
    chosen = cli("sim", kernel(tmp_path), *SHAPE, "--gpu", str(path), "--scheduler", "lrr")
    assert chosen.stdout.startswith(f"twice on {path} over tesla-c2050, lrr\n")


def test_a_machine_that_is_too_large_is_refused_at_its_option(cli: Cli, tmp_path: Path) -> None:
    path = write_config(tmp_path, load_gpu("tesla-c2050"), 3, gpgpu_n_clusters="1000")
    run = cli("sim", kernel(tmp_path), *SHAPE, "--gpu", str(path))
    assert run.exit_code == 1
    assert f"{path}:2:19: error[E502]: sm.count: 1000" in run.stderr


def test_two_ways_to_print_are_one_too_many(cli: Cli, tmp_path: Path) -> None:
    assert cli("sim", kernel(tmp_path), *SHAPE, "--json", "--stats", "gpgpusim").exit_code == 2
