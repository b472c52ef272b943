"""GPGPU-Sim 4.2's tested configurations as machines: they load, run a sample, and say what they lack.

Their values are those of its runs that were recorded; the network's file is not among them.
"""

import json
from pathlib import Path

import pytest
from kernels import sample

import ptxsim
from ptxtool.base.diag import Diagnostic
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

CONFIGURATIONS = ("QV100", "QV100q", "RTX2060q", "RTX3070", "RTX3070h", "TITANX")


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_runs_a_sample_and_ignores_nothing_silently(
    name: str, shared: Path, tmp_path: Path
) -> None:
    options = json.loads((shared / "reference" / "configs" / f"{name}.config").read_text(encoding="utf-8"))
    file = tmp_path / "gpgpusim.config"
    file.write_text("".join(f'-{key} "{value}"\n' for key, value in options.items()), encoding="utf-8")
    warnings: list[Diagnostic] = []
    gpu = load_gpu(str(file), warnings.append)
    for each in warnings:
        assert each.code == "W501"
        known = "not used: -" in each.message or ".icnt' beside this one" in each.message
        assert known or "; it matters " in (each.help or "")
    launch, function = sample("reduction")
    arguments = launch.arguments()
    result = ptxsim.launch(
        function,
        launch.grid,
        launch.block,
        arguments,
        gpu=with_settings(gpu, ["dispatch.launch_cycles=0"]),
        registers=launch.registers,
        dynamic_shared=launch.dynamic_shared,
    )
    assert result.status == "done"
    assert launch.check(arguments) == ()
