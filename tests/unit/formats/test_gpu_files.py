"""The packaged GPU files: the numbers of the papers and configurations they stand for, each with its source."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from modern_runs import modern_machine

from ptxtool.analysis.occupancy.cuda_limits import cuda_target
from ptxtool.base.resources import resource_dir
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.gpu_names import gpu_names
from ptxtool.formats.settings import with_settings

SOURCE = re.compile(
    r"-(?:gpgpu|ptx|dram|icnt|network)_|options of that configuration"
    r"|\bTM(42)? \d|\bconfig\b|gpgpusim\.config|GPGPU-Sim (3|4)\.\d|HPDC 2016|Table I\b|\bchoice\b|\bguess\b|GTX750Ti"
    r"|\bTITANX\b|CUDA 13\.0|CUDA Programming Guide|Maxwell Tuning Guide|\bNVIDIA\b|\bRegDem\b"
    r"|\b(Guide|Jia|Luo|Sun|Abdelkhalik|Lam|Device)\b|\b(GPUJoule|Gebhart|Horowitz|28nm|GPUWattch|AccelWattch)\b"
)
"""What a comment names: the timing model, a configuration of GPGPU-Sim, a paper, NVIDIA; or that there is none."""


def unsourced(text: str) -> list[str]:
    """Lines of a GPU file that give a number under no source: in their own comment, or at the head of their table."""
    found, inherited, above = [], False, ""
    for line in text.splitlines():
        code, _, comment = line.partition("#")
        if not code.strip():
            above += comment
            continue
        if code.startswith("["):
            inherited = bool(SOURCE.search(comment) or SOURCE.search(above))
        elif re.search(r"=.*\d", re.sub(r'"[^"]*"', "", code)) and not (inherited or SOURCE.search(comment)):
            found.append(line)
        above = ""
    return found


@pytest.mark.parametrize("name", gpu_names())
def test_every_number_carries_its_source(name: str) -> None:
    text = (resource_dir("gpus") / f"{name}.toml").read_text()
    assert unsourced(text) == []


def test_a_number_without_a_source_is_seen() -> None:
    assert unsourced('[sm] # TM 0\ncount = 3\nname = "x 5"\n') == []
    assert unsourced("[sm]\ncount = 3 # SMs\nctas = 2 # choice\n") == ["count = 3 # SMs"]
    assert unsourced('[latency]\nadd = { int = { unit = "SP", latency = 4 } }\n') != []
    assert unsourced("# TM 1.6\n[latency]\nadd = { int = { latency = 4 } }\n") == []


@pytest.mark.parametrize("name", gpu_names())
def test_every_file_is_named_after_its_machine(name: str) -> None:
    gpu = load_gpu(name)
    assert gpu.name == name
    assert len(gpu.description) > len(name)


@pytest.mark.parametrize(
    ("name", "sms", "scratchpad", "core_mhz", "dram_mhz"),
    [  # timing-model section 0; HPDC 2016, Table I for 16 KB; FineReg, Table I
        ("tesla-c2050", 14, 48 << 10, 575, 750),
        ("tesla-c2050-16k", 14, 16 << 10, 575, 750),
        ("gtx480", 15, 48 << 10, 700, 924),
        ("gpgpusim42-c2050", 14, 48 << 10, 700, 924),
        ("gpgpusim42-gtx480", 15, 48 << 10, 700, 924),
        ("gtx980-finereg", 16, 96 << 10, 1126, 1377),
        ("gtx-titan-x", 24, 96 << 10, 1000, 1753),
    ],
)
def test_machines(name: str, sms: int, scratchpad: int, core_mhz: int, dram_mhz: int) -> None:
    gpu = load_gpu(name)
    assert (gpu.sm.count, gpu.sm.scratchpad_bytes) == (sms, scratchpad)
    assert (gpu.clocks.core_mhz, gpu.clocks.dram_mhz) == (core_mhz, dram_mhz)


def test_the_variants_differ_in_nothing_else() -> None:
    """16 KB differs from 48 KB in the scratchpad, GPGPU-Sim 4.2's GTX 480 from its C2050 in an SM."""
    for name, other, key, value in (
        ("tesla-c2050-16k", "tesla-c2050", "scratchpad_bytes", 49152),
        ("gpgpusim42-gtx480", "gpgpusim42-c2050", "count", 14),
    ):
        gpu, base = load_gpu(name).with_sm(**{key: value}), load_gpu(other)
        for field in gpu.__struct_fields__:
            if field not in ("name", "description", "scheduler", "origin"):
                assert getattr(gpu, field) == getattr(base, field)


def test_finereg_table_1() -> None:
    """All 14 entries of the paper's Table I."""
    gpu = load_gpu("gtx980-finereg")
    assert gpu.scheduler == "gto"
    sm, l1d, l2, dram = gpu.sm, gpu.l1d, gpu.l2, gpu.dram
    assert (sm.count, gpu.clocks.core_mhz, sm.warp_size) == (16, 1126, 32)
    assert (sm.warps, sm.threads, sm.ctas, sm.schedulers) == (64, 2048, 32, 4)
    assert (sm.registers * 4, sm.scratchpad_bytes) == (256 << 10, 96 << 10)
    assert (l1d.sets * l1d.ways * l1d.line_bytes, l1d.ways) == (48 << 10, 8)
    assert (l2.slices * l2.sets * l2.ways * l2.line_bytes, l2.ways) == (2048 << 10, 8)
    peak = dram.channels * dram.atom_bytes / max(dram.tCCD, dram.tBURST) * gpu.clocks.dram_mhz * 1e6
    assert peak == pytest.approx(352.5e9, rel=1e-4)


def test_the_titan_x_of_regdem() -> None:
    """The specification of the card and of compute capability 5.2, and the register banks of RegDem, section 3.4.1."""
    gpu = load_gpu("gtx-titan-x")
    sm, l2, dram = gpu.sm, gpu.l2, gpu.dram
    assert (sm.warps, sm.threads, sm.ctas, sm.schedulers) == (64, 2048, 32, 4)
    assert (sm.registers, sm.register_allocation_unit * sm.warp_size) == (65536, 256)
    assert (sm.scratchpad_per_cta, sm.cta_allocation_unit) == (48 << 10, 2)
    assert (gpu.pipeline.bank_function, gpu.pipeline.register_banks // sm.register_partitions) == ("reg", 4)
    assert l2.slices * l2.sets * l2.ways * l2.line_bytes == 3 << 20
    assert dram.channels * 64 == 384
    peak = dram.channels * dram.atom_bytes / max(dram.tCCD, dram.tBURST) * gpu.clocks.dram_mhz * 1e6
    assert peak == pytest.approx(336.5e9, rel=1e-3)
    for kind, lanes in (("fp32", 128), ("fp64", 4)):  # a cycle, of an SM
        timing = gpu.latency["mad"][kind]  # type: ignore[index]
        units = gpu.pipeline.sp_units if timing.unit == "SP" else gpu.pipeline.sfu_units
        assert units * sm.warp_size // timing.interval == lanes
    assert gpu.pipeline.sfu_units * sm.warp_size // gpu.latency["sfu"]["fp32"].interval == 32


HARDWARE = {  # SMs, Tflop/s of 32 and 64 bits, GB/s of memory, MB of L2: NVIDIA's data sheets and whitepapers
    "v100": (80, 15.7, 7.8, 900, 6),
    "rtx2060": (30, 6.45, 0.20, 336, 3),
    "rtx3070": (46, 20.3, 0.32, 448, 4),
    "a100": (108, 19.5, 9.7, 1555, 40),
    "h100": (132, 67, 34, 3352, 50),
    "b200": (148, 75, 37, 7672, 120),
    "rtx4090": (128, 82.6, 1.29, 1008, 72),
}


@pytest.mark.parametrize("name", HARDWARE)
def test_machines_named_as_hardware_have_its_peaks(name: str) -> None:
    """A multiply-add is two operations; a channel transfers an atom of 32 bytes in tBURST or tCCD cycles."""
    sms, single, double, gigabytes, megabytes = HARDWARE[name]
    gpu = load_gpu(name)
    pipeline, l2, dram = gpu.pipeline, gpu.l2, gpu.dram
    assert gpu.sm.count == sms

    def teraflops(units: int, kind: str) -> float:
        interval = gpu.latency["fma"][kind].interval  # type: ignore[index]
        return sms * units * 32 / interval * 2 * gpu.clocks.core_mhz / 1e6

    assert teraflops(pipeline.sp_units, "fp32") == pytest.approx(single, rel=0.01)
    assert teraflops(pipeline.dp_units, "fp64") == pytest.approx(double, rel=0.03)
    cycles = max(dram.tCCD, dram.tBURST)
    assert dram.channels * dram.atom_bytes / cycles * gpu.clocks.dram_mhz / 1e3 == pytest.approx(
        gigabytes, rel=0.005
    )
    assert l2.slices * l2.sets * l2.ways * l2.line_bytes == megabytes << 20


@pytest.mark.parametrize("name", HARDWARE)
def test_machines_named_as_hardware_have_the_limits_of_their_compute_capability(name: str) -> None:
    gpu = load_gpu(name)
    known = cuda_target(gpu.target).sm
    of_cta = {"count": 1, "registers_per_cta": gpu.sm.registers}
    assert msgspec.structs.replace(gpu.sm, **of_cta) == known
    # the largest part of shared memory, and not one byte of it beyond what an SM has
    assert max(gpu.l1d.adaptive_scratchpads) == gpu.sm.scratchpad_bytes < gpu.l1d.adaptive_bytes
    assert gpu.pipeline.divergence == "independent"
    assert "not compared with silicon" in gpu.description


def test_fetch_feeds_the_schedulers() -> None:
    """A fetch brings as many instructions as an I-buffer holds: no machine is starved by its front end."""
    for name in gpu_names():
        gpu = load_gpu(name)
        assert gpu.fetch.per_cycle * gpu.fetch.ibuffer_entries >= gpu.sm.schedulers


def test_files_give_only_what_differs() -> None:
    """A key that repeats what is inherited is one more place for a fact."""
    for name in gpu_names():
        data = tomllib.loads((resource_dir("gpus") / f"{name}.toml").read_text())
        if "inherits" not in data:
            continue
        base = load_gpu(str(data.pop("inherits")))
        repeated = [
            f"{part}.{key}"
            for part, keys in data.items()
            if isinstance(keys, dict) and part != "latency"
            for key, value in keys.items()
            if getattr(getattr(base, part), key) == value
        ]
        assert repeated == [], name


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ("QV100", "qv100"),
        ("TITANX", "titanx"),
        ("TITANV", "titanv"),
        ("RTX3070", "rtx3070"),
        ("RTX2060q", "rtx2060"),
    ],
)
def test_machines_of_gpgpusim_42_are_what_its_files_say(config: str, name: str, shared: Path) -> None:
    """The packaged machine against the options of the tested configuration, read as any other such file."""
    read = modern_machine(shared, config)
    packaged = with_settings(load_gpu(f"gpgpusim42-{name}"), ["dispatch.launch_cycles=0"])
    if config.endswith("q"):  # a quarter of it
        quarter = ["sm.count=8", "dram.channels=3", "l2.slices=6"]
        packaged = with_settings(packaged, quarter)
    same = {"name": "", "description": "", "target": "", "origin": None}
    assert msgspec.structs.replace(read, **same) == msgspec.structs.replace(packaged, **same)
