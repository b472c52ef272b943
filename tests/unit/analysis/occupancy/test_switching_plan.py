"""The CTAs of an SM that switches them, worked out by hand (timing-model section 6)."""

import pytest

from ptxtool.analysis.occupancy.register_schemes import scheme_named
from ptxtool.analysis.occupancy.switching_plan import switching_plan
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

GPU = load_gpu(
    "gtx980-finereg"
)  # 65536 registers, 98304 bytes, 2048 threads, 64 warps, 32 CTAs; 32768 and 1024 entries
VIRTUAL_THREAD, FINEREG = scheme_named("virtual-thread"), scheme_named("finereg")


def test_virtual_thread_fills_the_register_file() -> None:
    plan = switching_plan(GPU, VIRTUAL_THREAD, 64, 16)  # 1024 registers a CTA
    assert plan.active.resident_ctas == 32  # places
    assert plan.ctas == plan.acrf_ctas == plan.resident_ctas(10) == 64


@pytest.mark.parametrize(
    ("threads", "registers", "scratchpad", "ctas", "by"),
    [
        (64, 4, 0, 128, "CTAs, and registers: 8 are allocated"),
        (256, 8, 0, 32, "registers: 64 in warps"),
        (256, 4, 0, 32, "registers: 8 are allocated"),
        (64, 16, 4096, 24, "scratchpad"),
        (100, 16, 0, 32, "registers: 4 warps"),
    ],
)
def test_what_limits_virtual_thread(
    threads: int, registers: int, scratchpad: int, ctas: int, by: str
) -> None:
    assert switching_plan(GPU, VIRTUAL_THREAD, threads, registers, scratchpad).ctas == ctas, by


@pytest.mark.parametrize(
    ("threads", "registers", "scratchpad", "live", "active", "resident"),
    [
        (256, 36, 0, 20, 3, 9),  # 9216 of 32768: 3; 1024 // (8 * 20) = 6
        (128, 32, 0, 10, 8, 33),  # 4096: 8; 1024 // 40 = 25
        (64, 20, 0, 0, 21, 128),  # 24 are allocated, 1536: 21; a CTA with nothing live needs no entry
        (64, 20, 8192, 5, 12, 12),  # scratchpad for 12 in all
        (32, 16, 0, 4, 32, 128),  # 512: 64 in the ACRF, places for 32; 64 + 256
        (32, 16, 0, 40, 32, 89),  # 64 + 25
    ],
)
def test_finereg_adds_what_waits(
    threads: int, registers: int, scratchpad: int, live: int, active: int, resident: int
) -> None:
    plan = switching_plan(GPU, FINEREG, threads, registers, scratchpad)
    assert plan.active.resident_ctas == active
    assert plan.resident_ctas(live) == resident


def test_parts_of_the_file() -> None:
    fits = with_settings(GPU, ["switching.acrf_registers=64000", "switching.pcrf_entries=48"])  # 64000 + 1536
    assert switching_plan(fits, FINEREG, 256, 16).active.resident_ctas == 8
    more = with_settings(fits, ["switching.pcrf_entries=49"])
    with pytest.raises(PtxError, match="are 65568 registers, of 65536"):
        switching_plan(more, FINEREG, 256, 16)
    assert switching_plan(more, VIRTUAL_THREAD, 256, 16).active.resident_ctas == 8


@pytest.mark.parametrize(
    ("threads", "registers", "scratchpad", "beyond", "resident", "by"),
    [
        (256, 36, 0, 0, 6, "40 are allocated, 10240: 6 in the file"),
        (256, 36, 0, 3, 9, "and 3 in DRAM"),
        (64, 16, 4096, 100, 24, "scratchpad"),
        (512, 64, 0, 100, 32, "512 warps"),
        (32, 16, 0, 100, 128, "CTAs"),
    ],
)
def test_registers_in_dram(
    threads: int, registers: int, scratchpad: int, beyond: int, resident: int, by: str
) -> None:
    gpu = with_settings(GPU, [f"switching.dram_ctas={beyond}"])
    plan = switching_plan(gpu, scheme_named("reg-dram"), threads, registers, scratchpad)
    assert plan.ctas == plan.resident_ctas(7) == resident, by
    assert plan.lines == threads // 32 * registers
    assert plan.to_dict()["dram_bytes_of_a_cta"] == threads * registers * 4
