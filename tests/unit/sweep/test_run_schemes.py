"""The register schemes of runs: what one of the user's own is based on, its settings, and what is wrong with it."""

from pathlib import Path

import pytest

from ptxtool.analysis.occupancy.scheme_storage import storage_bits
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.sweep.run_schemes import RunScheme, RunSchemes

GPU = load_gpu("gtx980-finereg")
STAY = "def decide(view):\n    return 0\n"


def test_a_scheme_of_the_table() -> None:
    assert RunSchemes().on("finereg", GPU) == RunScheme("finereg", "finereg", GPU)
    machine = with_settings(GPU, ["switching.scheme=reg-dram"])
    assert RunSchemes().on("", machine) == RunScheme(None, "reg-dram", machine)


def test_one_of_the_users_own_has_the_storage_of_what_it_is_based_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(f'based_on = "finereg"\nsettings = {{"pcrf_entries": 512}}\n{STAY}')
    schemes = RunSchemes()
    found = schemes.on("mine.py:decide", GPU)
    assert (found.option, found.built_in) == (f"{tmp_path}/mine.py:decide", "finereg")
    assert found.file == str(tmp_path / "mine.py")
    halved = with_settings(GPU, ["switching.pcrf_entries=512"])
    assert found.gpu.switching == halved.switching
    assert found.storage_bits == storage_bits(halved, "finereg") != storage_bits(GPU, "finereg")
    assert schemes.on("mine.py:decide", GPU) is found


def test_what_is_wrong_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    with pytest.raises(PtxError, match=r"E501.*cannot read"):
        RunSchemes().on(f"{path}:decide", GPU)
    path.write_text('settings = {"cats": 3}\n' + STAY)
    with pytest.raises(PtxError, match=r"(?s)E502.*no key 'cats'") as caught:
        RunSchemes().on(f"{path}:decide", GPU)
    (found,) = caught.value.diagnostics
    assert found.source is not None
    assert found.source.name == str(path)
