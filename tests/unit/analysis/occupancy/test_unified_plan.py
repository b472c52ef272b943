"""The split of unified memory, worked out by hand: gtx980-finereg's pool of 278528 bytes beside 131072 of registers.

A way of its L1 is 48 sets x 128 bytes = 6144. Where the L1 keeps one, CTAs may take 278528 - 6144 = 272384.
"""

from dataclasses import asdict

import pytest

from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.analysis.occupancy.register_schemes import scheme_named
from ptxtool.analysis.occupancy.switching_plan import switching_plan
from ptxtool.analysis.occupancy.unified_plan import UnifiedPlan, unified_plan
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

GPU = with_settings(load_gpu("gtx980-finereg"), ["switching.unified_l1_ways=1"])


def split(scheme: str, *needs: int, settings: tuple[str, ...] = (), **more: int) -> UnifiedPlan:
    return unified_plan(with_settings(GPU, settings), scheme_named(scheme), *needs, **more)


@pytest.mark.parametrize(
    ("needs", "ctas", "of_registers", "of_shared", "ways", "limiter"),
    [
        # 256 x 16 x 4 = 16384 a CTA: 8, all that 2048 threads admit, are 131072, and none is in the pool
        ((256, 16, 0), 8, 0, 0, 45, "threads"),
        # 8 x 4096; (278528 - 32768) // 6144 = 40
        ((256, 16, 4096), 8, 0, 32768, 40, "threads"),
        # 40960 a CTA; 5 x 40960 - 131072 = 73728; 204800 // 6144 = 33
        ((256, 40, 0), 8, 196608, 0, 13, "threads"),
        # 65536 a CTA; n x 65536 - 131072 <= 272384 up to n = 6; 16384 // 6144 = 2
        ((256, 64, 0), 6, 262144, 0, 2, "unified memory"),
        # 32 CTAs of 4096 are 131072; n x 49152 <= 272384 up to n = 5; 32768 // 6144 = 5
        ((64, 16, 49152), 5, 0, 245760, 5, "unified memory"),
        # 16384 a CTA: n x 16384 - 131072 + n x 20480 <= 272384 up to n = 10; 278528 - 32768 - 204800 = 40960
        ((128, 32, 20480), 10, 32768, 204800, 6, "unified memory"),
        # a CTA of 32 lanes: 32 CTAs, the L1 takes all
        ((25, 0, 0), 32, 0, 0, 45, "ctas"),
    ],
)
def test_unified(
    needs: tuple[int, ...], ctas: int, of_registers: int, of_shared: int, ways: int, limiter: str
) -> None:
    found = split("unified", *needs)
    assert (found.ctas, found.limiter) == (ctas, limiter)
    assert (found.register_bytes, found.scratchpad_bytes, found.l1_ways) == (of_registers, of_shared, ways)
    assert found.unused_bytes == 278528 - of_registers - of_shared - ways * 6144
    assert 0 <= found.unused_bytes < 6144


@pytest.mark.parametrize(
    ("needs", "ctas", "of_registers", "of_shared", "ways"),
    [
        # 16384 a CTA: n x 16384 - 131072 <= 272384 up to n = 24; 278528 - 262144 = 16384
        ((256, 16, 0), 24, 262144, 0, 2),
        # with 4096 more: n x 20480 <= 403456 up to n = 19; 19 x 16384 - 131072 = 180224, 19 x 4096 = 77824
        ((256, 16, 4096), 19, 180224, 77824, 3),
        # 1024 a CTA: 128 CTAs are 131072; nothing is left to want
        ((32, 8, 0), 128, 0, 0, 45),
        # 32 warps: 512 // 32 = 16 CTAs of 32768 are 524288, n x 32768 <= 403456 up to n = 12
        ((1024, 8, 0), 12, 262144, 0, 2),
    ],
)
def test_virtual_thread(
    needs: tuple[int, ...], ctas: int, of_registers: int, of_shared: int, ways: int
) -> None:
    found = split("virtual-thread-unified", *needs)
    assert (found.ctas, found.register_bytes, found.scratchpad_bytes) == (ctas, of_registers, of_shared)
    assert found.l1_ways == ways
    plan = switching_plan(GPU.divided(found), scheme_named("virtual-thread-unified"), *needs)
    assert plan.ctas == plan.acrf_ctas == ctas


@pytest.mark.parametrize(
    ("needs", "live", "ctas", "entries", "of_shared", "ways"),
    [
        # 8 in the ACRF; a waiting CTA has 8 warps x 10 x 128 = 10240: 272384 // 10240 = 26; 26 x 80 entries
        ((256, 16, 0), 10, 34, 2080, 0, 2),
        # with 4096 of shared memory: 8 x 4096 + n x 14336 <= 272384 up to n = 16; 16 x 80 entries, 24 x 4096
        ((256, 16, 4096), 10, 24, 1280, 98304, 2),
        # the default, 16 live registers: 16384 a CTA, 272384 // 16384 = 16
        ((256, 16, 0), None, 24, 2048, 0, 2),
        # 32768 of shared memory: 8 of 32768 are 262144, and no ninth fits
        ((256, 16, 32768), 10, 8, 0, 262144, 2),
        # 128 CTAs of 1024 bytes fill the ACRF
        ((32, 8, 0), 5, 128, 0, 0, 45),
        # 4 warps x 2 x 128 = 1024 a waiting CTA; 16 in the ACRF; 128 CTAs are 112 x 8 = 896 entries, 114688 bytes
        ((128, 16, 0), 2, 128, 896, 0, 26),
    ],
)
def test_finereg(
    needs: tuple[int, ...], live: int | None, ctas: int, entries: int, of_shared: int, ways: int
) -> None:
    found = unified_plan(GPU, scheme_named("finereg-unified"), *needs, live=live)
    assert (found.ctas, found.pcrf_entries, found.scratchpad_bytes) == (ctas, entries, of_shared)
    assert found.l1_ways == ways
    assert found.register_bytes == 128 * entries
    plan = switching_plan(GPU.divided(found), scheme_named("finereg-unified"), *needs)
    assert plan.resident_ctas(needs[1] if live is None else live) == ctas


def test_a_small_grid_leaves_more_to_the_l1() -> None:
    # 40 CTAs on 16 SMs: 3 each. 3 x 65536 - 131072 = 65536; 212992 // 6144 = 34
    found = split("unified", 256, 64, grid_ctas=40)
    assert (found.ctas, found.register_bytes, found.l1_ways, found.limiter) == (3, 65536, 34, "grid")
    assert split("unified", 256, 64, grid_ctas=97) == split("unified", 256, 64)
    # 64 CTAs: 4 each, which the ACRF holds 8 of
    fine = split("finereg-unified", 256, 16, grid_ctas=64)
    assert (fine.ctas, fine.pcrf_entries, fine.l1_ways, fine.limiter) == (4, 0, 45, "grid")


@pytest.mark.parametrize(
    ("scheme", "needs", "ctas", "ways"),
    [
        # 8 ways are 49152: n x 65536 - 131072 <= 229376 up to n = 5; 278528 - 196608 = 81920
        ("unified", (256, 64, 0), 5, 13),
        # n x 16384 - 131072 <= 229376 up to n = 22; 278528 - 229376 = 49152
        ("virtual-thread-unified", (256, 16, 0), 22, 8),
        # 8, and 229376 // 16384 = 14
        ("finereg-unified", (256, 16, 0), 22, 8),
    ],
)
def test_the_l1_keeps_its_ways(scheme: str, needs: tuple[int, ...], ctas: int, ways: int) -> None:
    found = unified_plan(load_gpu("gtx980-finereg"), scheme_named(scheme), *needs)
    assert (found.ctas, found.l1_ways) == (ctas, ways)


def test_most_resident_ctas_bound_the_split() -> None:
    # 3 x 16384 are fewer bytes than are outside the pool
    found = split("virtual-thread-unified", 256, 16, settings=("switching.ctas=3",))
    assert (found.ctas, found.l1_ways, found.limiter) == (3, 45, "switching")


def test_partitions_hold_whole_warps() -> None:
    # 3 warps of 4096 a CTA; 8 CTAs take 24 warps of 98304, 7 take 21, which are 24 in 4 partitions
    settings = ("sm.register_partitions=4", "sm.ctas=7", "switching.acrf_registers=20480")
    found = split("unified", 96, 32, settings=settings)
    assert (found.ctas, found.register_bytes) == (7, 98304 - 81920)
    machine = with_settings(GPU, settings).divided(found)
    assert occupancy(machine, 96, 32).resident_ctas == 7


@pytest.mark.parametrize("scheme", ["unified", "virtual-thread-unified", "finereg-unified"])
@pytest.mark.parametrize("needs", [(256, 24, 0), (96, 40, 3000), (512, 8, 50000), (32, 63, 1)])
def test_the_divided_machine_has_these_ctas_and_no_more_memory(scheme: str, needs: tuple[int, ...]) -> None:
    found = split(scheme, *needs)
    machine = GPU.divided(found)
    l1 = machine.l1d.sets * machine.l1d.ways * machine.l1d.line_bytes
    used = 4 * machine.sm.registers + machine.sm.scratchpad_bytes + l1
    assert used + found.unused_bytes == 131072 + 278528 == 4 * 65536 + 98304 + 49152
    chosen = scheme_named(scheme)
    if scheme == "unified":
        assert occupancy(machine, *needs).resident_ctas == found.ctas
    else:
        assert switching_plan(machine, chosen, *needs).resident_ctas(needs[1]) >= found.ctas
    assert unified_plan(machine, chosen, *needs) == found, "the split of a divided machine is the same"


def test_what_cannot_be() -> None:
    with pytest.raises(PtxError, match="it needs 131072 bytes of registers beside 131072 and 150000 of"):
        split("unified", 1024, 64, 150000)
    with pytest.raises(PtxError, match=r"it needs 40960 registers of 32768"):
        split("finereg-unified", 1024, 40)
    with pytest.raises(PtxError, match=r"switching.unified_bytes is 6143\n") as caught:
        split("unified", 256, 16, settings=("switching.unified_bytes=6143",))
    assert (caught.value.diagnostics[0].help or "").startswith("give 6144 bytes")
    with pytest.raises(
        PtxError, match=r"tesla-c2050: switching.unified_bytes is 0, there is no unified memory"
    ):
        unified_plan(load_gpu("tesla-c2050"), scheme_named("unified"), 256, 16)


def test_text_and_data() -> None:
    found = split("finereg-unified", 256, 16, 4096, live=10)
    assert str(found) == (
        "unified memory: 278528 bytes for 24 CTAs: registers 163840 (131072 outside, 1280 PCRF entries), "
        "shared memory 98304, L1 12288 (2 ways), unused 4096"
    )
    assert asdict(found)["registers"] == 32768 + 40960
