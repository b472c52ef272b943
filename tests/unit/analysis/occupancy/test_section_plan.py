"""The CTAs and the sections of a register file with a pool, by hand: 65536 registers, a pool of 25%."""

import pytest
from msgspec.structs import replace

from ptxtool.analysis.occupancy.cuda_limits import known_target
from ptxtool.analysis.occupancy.section_plan import section_plan
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu, load_gpu


def machine(percent: float) -> Gpu:
    gpu = load_gpu("gtx980-finereg")
    return replace(gpu, switching=replace(gpu.switching, pool_percent=percent))


def test_base_sets_and_sections() -> None:
    """49152 / (256 * 48) = 4 CTAs, where 64 registers each had 4 of the whole file; 16384 / (32 * 16) = 32 sections."""
    plan = section_plan(machine(25), 256, 48, 16)
    assert (plan.occupancy.resident_ctas, plan.sections, plan.pool_registers) == (4, 32, 16384)
    assert section_plan(machine(25), 256, 32, 32).sections == 16
    assert section_plan(machine(25), 256, 32, 32).occupancy.resident_ctas == 6


def test_at_least_one_section() -> None:
    plan = section_plan(machine(0), 256, 48, 16)
    assert (plan.sections, plan.pool_registers) == (1, 512)
    assert plan.occupancy.resident_ctas == 5, "of 65024 registers 12288 each"


def test_a_pool_that_leaves_nothing() -> None:
    with pytest.raises(PtxError) as caught:
        section_plan(machine(100), 256, 48, 16)
    assert caught.value.diagnostics[0].code == "E402"


def test_a_target_of_hardware_has_the_share_of_the_paper() -> None:
    """28.1% of 65536 is 18415."""
    target = known_target("sm_70")
    assert target is not None
    assert section_plan(target, 256, 48, 16).pool_registers == 18415
