"""Our kernels with their sizes on the paper's machine."""

from pathlib import Path

import msgspec
import pytest
from finereg_runs import MACHINE, application

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.sweep.reproduction.finereg.kernels import StandIn, stand_in, stand_ins
from ptxtool.sweep.reproduction.finereg.paper import paper


def found(name: str, sample: str) -> StandIn:
    return stand_in(application(name), sample, MACHINE, api.kernel)


def test_a_sample_with_its_launch_file() -> None:
    """1300 CTAs of 128 threads with 47 registers, allocated by 8, and a tile of 32 x 33 words."""
    kernel = found("TP", "finereg/tr")
    assert (kernel.file.name, kernel.launch.name) == ("kernel.ptx", "launch.toml")
    assert (kernel.n_ctas, kernel.warps, kernel.slots) == (1300, 4, 65536 // (48 * 128))
    assert kernel.bytes == 4 * 48 * 128 + 4 * 32 * 33
    assert not kernel.is_ptxplus


def test_ptx_and_the_larger_launch_file() -> None:
    """The sample's name stands for PTXPlus, which no pass divides; 512 CTAs instead of 224."""
    kernel = found("LI", "lib")
    assert (kernel.file.suffix, kernel.launch.name, kernel.n_ctas) == (".ptx", "finereg.toml", 512)
    assert found("HS", "hotspot").is_ptxplus


def test_every_sm_holds_another_set_of_ctas_many_times() -> None:
    """Inputs are large enough: at least 3.75 times the CTAs that 16 SMs hold, mostly 8 and more."""
    kernels = stand_ins(paper(), MACHINE, api.kernel)
    assert len(kernels) == 20
    waves = sorted(kernel.n_ctas / (16 * kernel.slots) for kernel in kernels)
    assert waves[0] >= 3.75
    assert waves[len(waves) // 2] >= 8


def test_a_sample_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PtxError, match="E501"):
        found("TP", "no-such-sample")


def test_a_launch_file_that_is_missing() -> None:
    other = msgspec.structs.replace(application("TP"), launch="no-such.toml")
    with pytest.raises(PtxError, match="E501"):
        stand_in(other, "finereg/tr", MACHINE, api.kernel)
