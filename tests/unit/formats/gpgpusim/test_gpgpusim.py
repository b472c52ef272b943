"""GPGPU-Sim's configuration files: the machines they describe, and what is reported of nonsense."""

from pathlib import Path

import msgspec
import pytest
from gpgpusim_files import NEW, OLD, changed, read_config, write_config

from ptxtool.base.diag import PtxError
from ptxtool.formats.gpgpusim.memory import MOST_FRAGMENTS, MOST_MERGES, MOST_READONLY_LINES, MOST_RESULTS
from ptxtool.formats.gpu import Gpu, load_gpu


def refuse(folder: Path, **changes: str | None) -> str:
    with pytest.raises(PtxError) as caught:
        changed(folder, **changes)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E502"
    assert diagnostic.line
    assert diagnostic.help
    return str(caught.value)


def plain(gpu: Gpu) -> dict[str, object]:
    """All that a machine says, without its name and where it is from."""
    data: dict[str, object] = msgspec.to_builtins(
        {k: v for k, v in msgspec.structs.asdict(gpu).items() if k != "origin"}
    )
    return {k: v for k, v in data.items() if k not in ("name", "description")}


@pytest.mark.parametrize(("name", "version"), [(OLD, 3), (NEW, 4)])
def test_a_file_that_says_what_the_packaged_machine_says_is_that_machine(
    name: str, version: int, tmp_path: Path
) -> None:
    packaged = load_gpu(name)
    path = write_config(tmp_path, packaged, version)
    gpu, reported = read_config(path)
    assert plain(gpu) == plain(packaged) | {"target": ""}  # GPGPU-Sim's files name no GPU
    assert gpu.name == f"{path} over {name}"
    assert not reported


def test_what_the_file_does_not_say_has_the_default_of_gpgpu_sim(tmp_path: Path) -> None:
    gpu, reported = changed(
        tmp_path,
        gpgpu_shader_registers=None,
        gpgpu_dram_partition_queues=None,
        gpgpu_tex_cache__l1=None,
        rop_latency=None,
        gpgpu_shmem_num_banks=None,
    )
    assert (gpu.sm.registers, gpu.l2.icnt_queue, gpu.l2.rop_cycles) == (8192, 8, 85)
    assert (gpu.l1t.sets, gpu.l1t.ways, gpu.l1t.line_bytes) == (8, 5, 128)
    assert [d.message.split(": ", 1)[1] for d in reported] == [
        "'-gpgpu_shmem_num_banks 16' is not modelled (GPGPU-Sim's default)"
    ]


def test_a_gpu_file_may_inherit_from_it(tmp_path: Path) -> None:
    write_config(tmp_path, load_gpu(OLD), 3, gpgpu_n_clusters="4")
    mine = tmp_path / "mine.toml"
    mine.write_text('inherits = "./gpgpusim.config"\nname = "mine"\n[sm]\nctas = 2\n')
    gpu = load_gpu(mine)
    assert (gpu.name, gpu.sm.count, gpu.sm.ctas) == ("mine", 4, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gpgpu_cache__dl1": "none"}, "'-gpgpu_cache:dl1' is 'none'"),
        ({"gpgpu_cache__dl1": "32:128,L:L:m:N:L,A:32:8,8"}, "'32:128,L:L:m:N:L,A:32:8,8', no cache"),
        ({"gpgpu_tex_cache__l1": "4:128:24,L:R:m:N,F:128:4,128"}, "'-gpgpu_tex_cache:l1' has no result FIFO"),
        ({"gpgpu_tex_cache__l1": "4:128:24,L:R:m:N,F:0:4,128:2"}, "'l1t.fragment_fifo': expected 'int' >= 1"),
        ({"gpgpu_shader_core_pipeline": "1536:16"}, "'-gpgpu_shader_core_pipeline' is '1536:16'"),
        ({"gpgpu_n_clusters": "many"}, "'-gpgpu_n_clusters' is 'many', no whole number"),
        ({"gpgpu_n_clusters": "0"}, "'-gpgpu_n_clusters' is 0"),
        ({"gpgpu_pipeline_widths": "2,1,1,2,1,1"}, "give 7 or 9 or 11 or 13 whole numbers"),
        ({"gpgpu_clock_domains": "575:575:575"}, "'-gpgpu_clock_domains' is '575:575:575'"),
        ({"gpgpu_scheduler": "lrx"}, "did you mean 'lrr'?"),
        ({"gpgpu_scheduler": "two_level_active:6:1:1"}, "write ':0:1' after the number"),
        ({"gpgpu_scheduler": "warp_limiting:0:4"}, "write 'warp_limiting:2:4'"),
        ({"gpgpu_dram_timing_opt": "nbk=16:CCD=2"}, "does not give RRD, RCD, RAS"),
        ({"gpgpu_dram_timing_opt": "nbk=16:tCCD=2"}, "'tCCD=2' is no timing parameter"),
        ({"gpgpu_mem_addr_mapping": "dramid@8;RRRR.BBBB"}, "the map has 8 bits"),
        ({"gpgpu_mem_addr_mapping": "RRRR"}, "begin with dramid@BIT"),
        ({"gpgpu_perfect_mem": "1"}, "'-gpgpu_perfect_mem 1' is not modelled: here memory takes its time"),
        ({"gpgpu_cache__dl2_texture_only": "1"}, "write '-gpgpu_cache:dl2_texture_only 0'"),
        ({"gpgpu_flush_l1_cache": "2"}, "give 0 or 1"),
        ({"gpgpu_num_reg_banks": '"16'}, "the quotes of '-gpgpu_num_reg_banks' do not end"),
        ({"gpgpu_shader_cta": "8 8"}, "'8' is no option"),
        ({"config": "gpgpusim.config"}, "'gpgpusim.config' leads back to itself"),
        ({"config": "none.config"}, "cannot read"),
    ],
)
def test_what_means_nothing_is_refused_at_its_place(
    changes: dict[str, str], message: str, tmp_path: Path
) -> None:
    if "config" in changes and "cannot" in message:
        with pytest.raises(PtxError, match=message):
            changed(tmp_path, **changes)
    else:
        assert message in refuse(tmp_path, **changes)


def test_a_wrong_number_that_the_schema_finds_has_its_place(tmp_path: Path) -> None:
    text = refuse(tmp_path, gpgpu_pipeline_widths="2,0,1,2,1,1,2")
    assert "'pipeline.id_oc_sfu': expected 'int' >= 1" in text
    assert "-gpgpu_pipeline_widths 2,0,1,2,1,1,2" in text


def test_the_simulator_holds_what_is_said() -> None:
    from ptxsim.timing.memory import texture_cache as texture
    from ptxsim.timing.memory.memory_state import MAX_WAITERS
    from ptxsim.timing.memory.readonly import MAX_LINES

    assert (MOST_READONLY_LINES, MOST_MERGES) == (MAX_LINES, MAX_WAITERS)
    assert (MOST_READONLY_LINES, MOST_FRAGMENTS, MOST_RESULTS) == (
        MAX_LINES,
        texture.QUEUE,
        texture.RESULTS,
    )
