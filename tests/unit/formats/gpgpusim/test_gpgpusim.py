"""GPGPU-Sim's configuration files: the machines they describe, and what is told of those that say more, or nonsense."""

import re
from pathlib import Path

import msgspec
import pytest
from checkout import CHECKOUT
from gpgpusim_files import write_config

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.formats.gpgpusim.core import MOST_LDST
from ptxtool.formats.gpgpusim.memory import MOST_FRAGMENTS, MOST_MERGES, MOST_READONLY_LINES, MOST_RESULTS
from ptxtool.formats.gpgpusim.options import ALIASES, FIXED, USED, is_unused
from ptxtool.formats.gpgpusim.text import read_settings
from ptxtool.formats.gpu import Gpu, load_gpu

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"


def read(path: Path) -> tuple[Gpu, list[Diagnostic]]:
    told: list[Diagnostic] = []
    gpu = load_gpu(path, told.append)
    assert all(d.code == "W501" and d.help for d in told)
    return gpu, told


def changed(folder: Path, **changes: str | None) -> tuple[Gpu, list[Diagnostic]]:
    """The machine of the 3.x file with other options, and what is told of it."""
    return read(write_config(folder, load_gpu(OLD), 3, **changes))


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
    gpu, told = read(path)
    assert plain(gpu) == plain(packaged)
    assert gpu.name == f"{path} over {name}"
    assert not told


def test_what_the_file_does_not_say_has_the_default_of_gpgpu_sim(tmp_path: Path) -> None:
    gpu, told = changed(
        tmp_path,
        gpgpu_shader_registers=None,
        gpgpu_dram_partition_queues=None,
        gpgpu_tex_cache__l1=None,
        rop_latency=None,
        gpgpu_shmem_num_banks=None,
    )
    assert (gpu.sm.registers, gpu.l2.icnt_queue, gpu.l2.rop_cycles) == (8192, 8, 85)
    assert (gpu.l1t.sets, gpu.l1t.ways, gpu.l1t.line_bytes) == (8, 5, 128)
    assert [d.message.split(": ", 1)[1] for d in told] == [
        "'-gpgpu_shmem_num_banks 16' is not modelled (GPGPU-Sim's default)"
    ]


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


def test_words_quotes_comments_and_switches(tmp_path: Path) -> None:
    (tmp_path / "more.config").write_text("-gpgpu_n_clusters 3\n")
    path = tmp_path / "words"
    path.write_text(
        "-visualizer_enabled -gpgpu_n_clusters 2 # two\n-config more.config\n"
        '-gpgpu_dram_timing_opt "a=1:\n   b=2" -x -1\n'
    )
    found = [(s.name, s.value) for s in read_settings(path)]
    assert found == [
        ("visualizer_enabled", "1"),
        ("gpgpu_n_clusters", "2"),
        ("gpgpu_n_clusters", "3"),
        ("gpgpu_dram_timing_opt", "a=1: b=2"),
        ("x", "-1"),
    ]


def test_what_is_given_last_counts(tmp_path: Path) -> None:
    path = write_config(tmp_path, load_gpu(OLD), 3)
    path.write_text(path.read_text() + "-gpgpu_n_clusters 7\n")
    assert read(path)[0].sm.count == 7


def test_a_gpu_file_may_inherit_from_it(tmp_path: Path) -> None:
    write_config(tmp_path, load_gpu(OLD), 3, gpgpu_n_clusters="4")
    mine = tmp_path / "mine.toml"
    mine.write_text('inherits = "./gpgpusim.config"\nname = "mine"\n[sm]\nctas = 2\n')
    gpu = load_gpu(mine)
    assert (gpu.name, gpu.sm.count, gpu.sm.ctas) == ("mine", 4, 2)


def test_any_name_will_do_for_a_file_of_options(tmp_path: Path) -> None:
    path = write_config(tmp_path, load_gpu(OLD), 3)
    assert load_gpu(path.rename(tmp_path / "c2050.txt")).sm.count == 14


def test_options_that_are_not_used_are_listed_once_with_their_lines(tmp_path: Path) -> None:
    path = write_config(tmp_path, load_gpu(OLD), 3)
    path.write_text("-gpgpu_ptx_sim_mode 0\n-visualizer_enabled 0\n" + path.read_text())
    _, (unused,) = read(path)
    assert unused.line == 1
    assert unused.message == "2 options are not used: -gpgpu_ptx_sim_mode (1), -visualizer_enabled (2)"


def test_what_is_not_modelled_is_told_at_its_place(tmp_path: Path) -> None:
    _, told = changed(
        tmp_path,
        gpgpu_max_insn_issue_per_warp="2",
        gpgpu_num_int_units="4",
        gpgpu_num_sp_unit="1",
        gpgpu_cache__dl1="S:32:128:4,F:L:s:N:P,A:32:8,8",
    )
    shown = sorted((d.message, d.help) for d in told)
    assert shown == [
        ("'-gpgpu_cache:dl1': a sectored L1 is not modelled", "here a miss brings the whole line"),
        ("'-gpgpu_cache:dl1': allocation 's' is not modelled", "here it is 'm'"),
        ("'-gpgpu_cache:dl1': replacement 'F' is not modelled", "here it is 'L'"),
        ("'-gpgpu_cache:dl1': set index function 'P' is not modelled", "here the set is bits of the address"),
        (
            "'-gpgpu_max_insn_issue_per_warp 2' is not modelled",
            "here a scheduler issues one instruction a cycle",
        ),
        ("'-gpgpu_num_int_units 4' is not modelled", "here integers run on the SP units"),
        ("'-gpgpu_num_sp_unit' is not known, and not used", "did you mean '-gpgpu_num_sp_units'?"),
    ]
    assert all(d.line for d in told)


def test_the_network_file(tmp_path: Path) -> None:
    write_config(tmp_path, load_gpu(OLD), 3)
    network = tmp_path / "network.icnt"
    network.write_text(network.read_text().replace("flit_size = 32", "flit_size = 16").replace("2;", "3;"))
    gpu, told = read(tmp_path / "gpgpusim.config")
    assert gpu.icnt.flit_bytes == 16
    assert [d.message for d in told] == ["'input_speedup = 3' is not modelled"]
    network.unlink()
    gpu, told = read(tmp_path / "gpgpusim.config")
    assert gpu.icnt.flit_bytes == 32
    assert [(d.message, d.help) for d in told] == [
        ("no file 'network.icnt' beside this one", "the network is that of tesla-c2050")
    ]


def test_what_is_larger_than_the_simulator_holds_is_cut(tmp_path: Path) -> None:
    write_config(tmp_path, load_gpu(OLD), 3, gpgpu_cache__dl2="64:128:8,L:B:m:W:L,A:32:64,4:0,32")
    network = tmp_path / "network.icnt"
    network.write_text(network.read_text().replace("vc_buf_size = 8", "vc_buf_size = 256"))
    gpu, told = read(tmp_path / "gpgpusim.config")
    assert (gpu.l2.mshr_waiters, gpu.icnt.buffer_flits) == (MOST_MERGES, 128)
    assert sorted((d.message, d.help) for d in told) == [
        ("'-gpgpu_cache:dl2': a merge limit of 64 is not modelled", "here it is 16"),
        ("'vc_buf_size = 256' is not modelled", "here it is 128"),
    ]


def test_a_texture_cache_larger_than_the_simulator_holds(tmp_path: Path) -> None:
    """That of GPGPU-Sim 4.2's QV100: 4 sets of 256 lines, 512 fragments, 8 requests, 128 in order, 2 results."""
    gpu, told = changed(tmp_path, gpgpu_tex_cache__l1="4:128:256,L:R:m:N:L,T:512:8,64:32")
    assert (gpu.l1t.sets, gpu.l1t.ways, gpu.l1t.line_bytes) == (1, 256, 128)
    assert (gpu.l1t.fragment_fifo, gpu.l1t.request_fifo, gpu.l1t.result_fifo) == (128, 8, 16)
    what = [
        "a cache of 1024 lines",
        "a fragment FIFO of 512",
        "a reorder buffer of 64",
        "a result FIFO of 32",
    ]
    assert sorted(d.message for d in told) == [f"'-gpgpu_tex_cache:l1': {w} is not modelled" for w in what]


def test_positional_dram_timing_and_queues_without_limit(tmp_path: Path) -> None:
    gpu, told = changed(
        tmp_path, gpgpu_dram_timing_opt="8:2:8:12:25:10:35:10:7:6:11", gpgpu_frfcfs_dram_sched_queue_size="0"
    )
    dram = gpu.dram
    assert (dram.banks, dram.tRRD, dram.CL, dram.WL, dram.bank_groups, dram.tCCDL) == (8, 8, 10, 7, 1, 0)
    assert (dram.tRCDWR, dram.tRTW, dram.tWTR, dram.tWTP) == (12 - 8, 10 + 2 + 2 - 7, 7 + 2 + 6, 7 + 2 + 11)
    assert dram.scheduler_queue == 64
    assert "a queue without limit" in str(told[0])


def test_a_first_come_scheduler_of_dram_looks_at_one_request(tmp_path: Path) -> None:
    assert changed(tmp_path, gpgpu_dram_scheduler="0")[0].dram.reorder_window == 1


def test_global_loads_may_skip_the_l1(tmp_path: Path) -> None:
    assert changed(tmp_path, gpgpu_gmem_skip_L1D="0")[0].l1d.bypass == ("cg",)
    assert changed(tmp_path, gmem_skip_L1D="1")[0].l1d.bypass == ("cg", "global")


def test_generic_collector_units(tmp_path: Path) -> None:
    path = write_config(
        tmp_path,
        load_gpu(NEW),
        4,
        gpgpu_enable_specialized_operand_collector="0",
        gpgpu_operand_collector_num_units_gen="8",
        gpgpu_pipeline_widths="4,4,4,4,4,4,4,4,4,4,8,4,4",
    )
    gpu, _ = read(path)
    p = gpu.pipeline
    assert (p.id_oc_sp, p.id_oc_sfu, p.id_oc_mem, p.oc_ex_mem, p.ex_wb) == (4, 4, 4, 4, 8)
    assert (p.collectors_sp, p.collectors_sfu, p.collectors_mem, p.ports_sp) == (8, 4, 4, 4)


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


def test_every_option_has_one_room() -> None:
    assert not set(USED) & set(FIXED)
    assert set(ALIASES.values()) <= {*USED, *FIXED} | {n for n in ALIASES.values() if is_unused(n)}
    assert not [name for name in (*FIXED, *(n for n in USED if n != "icnt_flit_size")) if is_unused(name)]


def test_the_page_says_what_becomes_of_every_option() -> None:
    page = (CHECKOUT / "docs" / "gpgpusim.md").read_text(encoding="utf-8")
    for name, fixed in FIXED.items():
        refused = " (anything else is refused)" if fixed.refused else ""
        assert f"| `-{name} {fixed.has}` | {fixed.what}{refused} |" in page
    ends = set(re.findall(r"`[-_]?([\w:]+)", page))
    stems = re.findall(r"`-([\w:]+)_\*", page)
    for name in USED:
        assert name in ends or any(name.startswith(stem) for stem in stems), name


def test_the_simulator_holds_what_is_said() -> None:
    from ptxsim.timing.memory import texture_cache as texture
    from ptxsim.timing.memory.memory_state import MAX_WAITERS
    from ptxsim.timing.memory.readonly import MAX_LINES
    from ptxsim.timing.sm_state import LDST_QUEUE

    assert (MOST_READONLY_LINES, MOST_LDST, MOST_MERGES) == (MAX_LINES, LDST_QUEUE, MAX_WAITERS)
    assert (MOST_READONLY_LINES, MOST_FRAGMENTS, MOST_RESULTS) == (
        MAX_LINES,
        texture.QUEUE,
        texture.RESULTS,
    )
