"""The CTAs and the physical registers where registers are released by name, by hand: 65536 registers."""

import pytest
from msgspec.structs import replace

from ptxtool.analysis.occupancy.renaming_plan import renaming_plan
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu, load_gpu


def machine(physical: int = 0, percent: int = 100) -> Gpu:
    gpu = load_gpu("gtx980-finereg")
    return replace(gpu, switching=replace(gpu.switching, physical_registers=physical, named_percent=percent))


def test_names_decide_how_many_ctas_there_are() -> None:
    """65536 / (256 * 48) = 5 CTAs, of half the names 2, of twice as many 10, but threads admit 8."""
    found = [renaming_plan(machine(percent=p), 256, 48, 20).occupancy.resident_ctas for p in (100, 50, 200)]
    assert found == [5, 2, 8]
    assert renaming_plan(machine(8192), 256, 48, 20).occupancy.resident_ctas == 5


def test_physical_registers_are_those_of_the_sm_unless_a_key_says_otherwise() -> None:
    assert renaming_plan(machine(), 256, 48, 20).physical_registers == 65536
    plan = renaming_plan(machine(32768), 250, 48, 20)
    assert (plan.physical_registers, plan.most_of_cta) == (32768, 256 * 20)


def test_a_cta_must_fit_whatever_it_needs() -> None:
    assert renaming_plan(machine(5120), 256, 48, 20).most_of_cta == 5120
    with pytest.raises(PtxError) as caught:
        renaming_plan(machine(5119), 256, 48, 20)
    (found,) = caught.value.diagnostics
    assert found.code == "E402"
    assert found.message == (
        "256 threads that need 20 registers at a time, of 5119 physical ones on gtx980-finereg"
    )


def test_a_cta_whose_names_do_not_fit() -> None:
    with pytest.raises(PtxError) as caught:
        renaming_plan(machine(percent=10), 256, 48, 20)
    assert "6553 names of registers (switching.named_percent)" in caught.value.diagnostics[0].message
