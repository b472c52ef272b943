import pytest

from ptxtool import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings


def test_numbers_with_and_without_a_point_are_taken() -> None:
    gpu = with_settings(load_gpu("gtx480"), ["energy.dram=100", "energy.sm_watts=0.25"])
    assert (gpu.energy.dram, gpu.energy.sm_watts) == (100.0, 0.25)


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "-inf", "1e13", "cheap", "true"])
def test_what_is_no_energy_is_refused(value: str) -> None:
    with pytest.raises(PtxError) as caught:
        with_settings(load_gpu("gtx480"), [f"energy.dram={value}"])
    assert caught.value.diagnostics[0].code == "E502"


def test_every_machine_has_energies() -> None:
    """They are inherited: a machine without its own has those of tesla-c2050."""
    assert load_gpu("gtx980-finereg").energy == load_gpu("tesla-c2050").energy


def test_an_unknown_key_names_its_table() -> None:
    with pytest.raises(PtxError, match="no key 'joules'"):
        with_settings(load_gpu("gtx480"), ["energy.joules=1"])
