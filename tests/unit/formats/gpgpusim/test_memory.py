"""GPGPU-Sim's options of caches, network and DRAM."""

from pathlib import Path

import pytest
from gpgpusim_files import NEW, OLD, changed, read_config, write_config

from ptxtool.base.diag import PtxError
from ptxtool.formats.gpgpusim.memory import MOST_MERGES
from ptxtool.formats.gpu import load_gpu


def test_the_network_file(tmp_path: Path) -> None:
    write_config(tmp_path, load_gpu(OLD), 3)
    network = tmp_path / "network.icnt"
    network.write_text(network.read_text().replace("flit_size = 32", "flit_size = 16").replace("2;", "3;"))
    gpu, reported = read_config(tmp_path / "gpgpusim.config")
    assert gpu.icnt.flit_bytes == 16
    assert [d.message for d in reported] == ["'input_speedup = 3' is not modelled"]
    network.unlink()
    gpu, reported = read_config(tmp_path / "gpgpusim.config")
    assert gpu.icnt.flit_bytes == 32
    assert [(d.message, d.help) for d in reported] == [
        ("no file 'network.icnt' beside this one", "the network is that of tesla-c2050")
    ]


def test_a_network_that_the_old_version_does_not_have(tmp_path: Path) -> None:
    """GPGPU-Sim 3.x has no crossbar of its own (`network_mode 2`)."""
    write_config(tmp_path, load_gpu(OLD), 3, network_mode=2)
    gpu, reported = read_config(tmp_path / "gpgpusim.config")
    assert gpu.icnt == load_gpu(OLD).icnt
    assert [(d.message, d.help) for d in reported] == [
        ("'-network_mode 2' is not modelled", "here the network is that of tesla-c2050")
    ]


def test_what_is_larger_than_the_simulator_holds_is_cut(tmp_path: Path) -> None:
    write_config(tmp_path, load_gpu(OLD), 3, gpgpu_cache__dl2="64:128:8,L:B:m:W:L,A:32:65,4:0,32")
    network = tmp_path / "network.icnt"
    network.write_text(network.read_text().replace("vc_buf_size = 8", "vc_buf_size = 256"))
    gpu, reported = read_config(tmp_path / "gpgpusim.config")
    assert (gpu.l2.mshr_waiters, gpu.icnt.buffer_flits) == (MOST_MERGES, 128)
    assert sorted((d.message, d.help) for d in reported) == [
        ("'-gpgpu_cache:dl2': a merge limit of 65 is not modelled", "here it is 64"),
        ("'vc_buf_size = 256' is not modelled", "here it is 128"),
    ]


def test_a_texture_cache_larger_than_the_simulator_holds(tmp_path: Path) -> None:
    """Four times that of GPGPU-Sim 4.2's QV100, which has 4 sets of 256 lines, 512 fragments, 8 requests."""
    gpu, reported = changed(tmp_path, gpgpu_tex_cache__l1="16:128:256,L:R:m:N:L,T:2048:8,64:32")
    assert (gpu.l1t.sets, gpu.l1t.ways, gpu.l1t.line_bytes) == (4, 256, 128)
    assert (gpu.l1t.fragment_fifo, gpu.l1t.request_fifo, gpu.l1t.result_fifo) == (512, 8, 16)
    assert gpu.l1t.reorder_buffer == 64
    what = [
        "a cache of 4096 lines",
        "a fragment FIFO of 2048",
        "a result FIFO of 32",
    ]
    assert sorted(d.message for d in reported) == [
        f"'-gpgpu_tex_cache:l1': {w} is not modelled" for w in what
    ]


def test_positional_dram_timing_and_queues_without_limit(tmp_path: Path) -> None:
    gpu, reported = changed(
        tmp_path, gpgpu_dram_timing_opt="8:2:8:12:25:10:35:10:7:6:11", gpgpu_frfcfs_dram_sched_queue_size="0"
    )
    dram = gpu.dram
    assert (dram.banks, dram.tRRD, dram.CL, dram.WL, dram.bank_groups, dram.tCCDL) == (8, 8, 10, 7, 1, 0)
    assert (dram.tRCDWR, dram.tRTW, dram.tWTR, dram.tWTP) == (12 - 8, 10 + 2 + 2 - 7, 7 + 2 + 6, 7 + 2 + 11)
    assert dram.scheduler_queue == 64
    assert "a queue without limit" in str(reported[0])


def test_a_first_come_scheduler_of_dram_looks_at_one_request(tmp_path: Path) -> None:
    assert changed(tmp_path, gpgpu_dram_scheduler="0")[0].dram.reorder_window == 1


def test_a_write_queue_is_read_where_it_is_enabled(tmp_path: Path) -> None:
    def queue(**changes: str | None) -> tuple[int, int, int]:
        dram = changed(tmp_path, **changes)[0].dram
        return dram.write_queue, dram.write_queue_high, dram.write_queue_low

    assert queue(dram_write_queue_size="64:56:32") == (0, 0, 0)
    assert queue(dram_seperate_write_queue_enable="1", dram_write_queue_size="64:56:32") == (64, 56, 32)
    assert queue(dram_seperate_write_queue_enable="1") == (32, 28, 16)  # GPGPU-Sim's default


def test_global_loads_may_skip_the_l1(tmp_path: Path) -> None:
    assert changed(tmp_path, gpgpu_gmem_skip_L1D="0")[0].l1d.bypass == ("cg",)
    assert changed(tmp_path, gmem_skip_L1D="1")[0].l1d.bypass == ("cg", "global")


def test_a_network_file_whose_name_is_too_long(tmp_path: Path) -> None:
    _, reported = changed(tmp_path, inter_config_file="a" * 5000)
    assert [d.help for d in reported] == ["the network is that of tesla-c2050"]


def test_a_perfect_instruction_and_constant_cache_has_no_size(tmp_path: Path) -> None:
    large = "N:64:128:160,L:R:f:N:L,S:2:48,4"  # more lines than the simulator holds
    path = write_config(
        tmp_path, load_gpu(NEW), 4, gpgpu_perfect_inst_const_cache="1", gpgpu_cache__il1=large
    )
    gpu, reported = read_config(path)
    assert (gpu.fetch.perfect, gpu.l1c.perfect, reported) == (True, True, [])
    path = write_config(
        tmp_path, load_gpu(NEW), 4, gpgpu_perfect_inst_const_cache="0", gpgpu_cache__il1=large
    )
    gpu, reported = read_config(path)
    assert (gpu.fetch.perfect, gpu.l1c.perfect) == (False, False)
    assert ["-gpgpu_cache:il1" in each.message for each in reported] == [True]


def test_slices_are_hashed_or_drawn(tmp_path: Path) -> None:
    def read(indexing: str, channels: str) -> tuple[str, list[str]]:
        path = write_config(
            tmp_path, load_gpu(NEW), 4, gpgpu_memory_partition_indexing=indexing, gpgpu_n_mem=channels
        )
        gpu, reported = read_config(path)
        return gpu.dram.slice_hash, [d.message for d in reported]

    assert read("0", "6") == ("none", [])
    assert read("2", "24") == ("polynomial", [])  # 48 slices, hashed as 64
    assert read("4", "12") == ("random", [])
    assert read("1", "8") == ("none", ["'-gpgpu_memory_partition_indexing 1' is not modelled"])
    with pytest.raises(PtxError, match="is 2 with 8 slices"):
        read("2", "4")


def test_banks_of_dram_may_be_mixed_with_the_row(tmp_path: Path) -> None:
    def read(policy: str) -> tuple[str, list[str | None]]:
        gpu, reported = read_config(write_config(tmp_path, load_gpu(NEW), 4, dram_bnk_indexing_policy=policy))
        return gpu.dram.bank_hash, [d.help for d in reported]

    assert read("0") == ("none", [])
    assert read("1") == ("xor", [])
    assert read("2") == ("none", ["here the bank is bits of the address"])


def test_a_write_queue_longer_than_the_simulator_holds_keeps_the_share_of_its_marks(tmp_path: Path) -> None:
    gpu, reported = changed(
        tmp_path, dram_seperate_write_queue_enable="1", dram_write_queue_size="256:216:64"
    )
    assert (gpu.dram.write_queue, gpu.dram.write_queue_high, gpu.dram.write_queue_low) == (128, 108, 32)
    assert [d.help for d in reported] == [
        "here it is 128, with marks at 108 and 32; it matters to kernels that write more than the L2 holds"
    ]


def test_accesses_of_kepler_are_coalesced_as_those_of_fermi(tmp_path: Path) -> None:
    def read(arch: str) -> tuple[int, int, int]:
        gpu, reported = read_config(write_config(tmp_path, load_gpu(NEW), 4, gpgpu_coalesce_arch=arch))
        return gpu.ldst.segment_bytes, gpu.ldst.uncached_segment_bytes, len(reported)

    assert read("35") == read("20") == (128, 32, 0)
    assert read("39") == (128, 32, 1)
    assert read("61") == (32, 32, 0)


def test_local_memory_of_kepler_is_coalesced_by_sectors_where_all_else_passes_the_l1(tmp_path: Path) -> None:
    l1 = {"gpgpu_cache__dl1": "S:4:128:32,L:L:s:N:L,A:256:8,16:0,32", "gpgpu_coalesce_arch": "35"}
    gpu, reported = changed(tmp_path, gpgpu_gmem_skip_L1D="1", **l1)
    assert (gpu.ldst.segment_bytes, gpu.l1d.sector_bytes, gpu.l1d.allocation) == (32, 32, "streaming")
    assert [d.message for d in reported] == [
        "'-gpgpu_cache:dl1': a streaming L1 of 2048 MSHRs is not modelled"
    ]
    gpu, reported = changed(tmp_path, gpgpu_gmem_skip_L1D="0", **l1)
    assert (gpu.ldst.segment_bytes, gpu.l1d.sector_bytes, gpu.l1d.allocation) == (128, 128, "miss")
    assert "'-gpgpu_cache:dl1': a sectored L1 is not modelled" in [d.message for d in reported]


@pytest.mark.parametrize("policies", ["L:L:s:L:L", "L:B:f:N:L"])
def test_an_l1_that_gpgpusim_refuses(policies: str, tmp_path: Path) -> None:
    with pytest.raises(PtxError, match=r"E502.*dl1(.|\n)*write 'm'"):
        changed(tmp_path, gpgpu_cache__dl1=f"S:4:128:32,{policies},A:256:8,16:0,32", gpgpu_coalesce_arch="70")


def test_a_streaming_l1_that_shares_its_memory_allocates_on_a_miss_without_shared_memory(
    tmp_path: Path,
) -> None:
    options = {"gpgpu_cache__dl1": "S:4:128:64,L:L:s:N:L,A:256:8,16:0,32", "gpgpu_coalesce_arch": "70"}
    options |= {
        "gpgpu_adaptive_cache_config": "1",
        "gpgpu_unified_l1d_size": "128",
        "gpgpu_shmem_option": "0,96",
    }
    l1d = changed(tmp_path, **options)[0].l1d
    assert (l1d.left_by(0).allocation, l1d.left_by(4).allocation) == ("miss", "fill")


def test_bursts_of_32_bytes_come_with_the_later_scheduler(tmp_path: Path) -> None:
    def read(width: str) -> tuple[int, str, str]:
        dram = read_config(write_config(tmp_path, load_gpu(NEW), 4, gpgpu_dram_buswidth=width))[0].dram
        return dram.atom_bytes, dram.bank_choice, dram.read_to_precharge

    assert read("4") == (64, "oldest", "bank")  # a burst of 8 over two chips
    assert read("2") == (32, "in-turn", "group")


VOLTA = {
    "gpgpu_coalesce_arch": "60",
    "gpgpu_adaptive_cache_config": "1",
    "gpgpu_cache__dl1": "S:1:128:256,L:L:m:N:L,A:256:8,16:0,32",
    "gpgpu_shmem_size": "98304",
}
"""The L1 of SM7_QV100 as GPGPU-Sim 4.0 writes it: 32 KB, of which it makes 128 KB for L1 and shared memory."""


@pytest.mark.parametrize(
    ("later", "kilobytes", "scratchpads"),
    [
        ({}, 128, (0, 8, 16, 32, 64, 96)),
        ({"gpgpu_unified_l1d_size": "192", "gpgpu_shmem_option": "0,48,96"}, 192, (0, 48, 96)),
    ],
)
def test_what_l1_and_shared_memory_divide(
    tmp_path: Path, later: dict[str, str], kilobytes: int, scratchpads: tuple[int, ...]
) -> None:
    gpu, _ = read_config(write_config(tmp_path, load_gpu(NEW), 4, **VOLTA, **later))
    assert gpu.l1d.adaptive_bytes == 1024 * kilobytes
    assert tuple(gpu.l1d.adaptive_scratchpads) == tuple(1024 * each for each in scratchpads)
