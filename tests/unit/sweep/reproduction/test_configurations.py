"""A run of an application under a scheme: its kernel, launch file and registers."""

from pathlib import Path

import msgspec

from ptxtool.runs.schemes import Scheme
from ptxtool.sweep.reproduction.configurations import configuration
from ptxtool.sweep.reproduction.papers import paper
from ptxtool.sweep.reproduction.schemes import full_scheme


def test_the_sample_with_its_launch_file() -> None:
    chosen = paper("register-sharing")
    (sgemm,) = [a for a in chosen.application if a.name == "sgemm"]
    run = configuration(chosen, sgemm, full_scheme(chosen, 90), "")
    assert Path(str(run.kernel)).parts[-3:] == ("sharing", "sgemm", "kernel.ptx")
    assert (run.gpu, run.name, run.label) == (
        "tesla-c2050",
        "sgemm",
        "sgemm/Shared-OWF-Unrolled-Dyn",
    )
    assert (run.share_registers, run.dynamic, run.scheduler) == (90, True, "owf")
    assert Path(str(run.launch)).parts[-2:] == ("sgemm", "launch.toml")
    assert run.passes.startswith("hoist-loads:registers=48,lower-ptxplus:regs=48,unroll-decls")
    assert run.registers == 48


def test_the_order_of_the_source() -> None:
    chosen = paper("register-sharing")
    (sgemm,) = [a for a in chosen.application if a.name == "sgemm"]
    run = configuration(chosen, msgspec.structs.replace(sgemm, loads_first=0), Scheme("x"), "")
    assert (run.kernel, run.passes, run.registers) == ("sharing/sgemm", "", None)


def test_other_files_of_its_folder() -> None:
    chosen = paper("scratchpad-sharing")
    (conv,) = [a for a in chosen.application if a.name == "CONV2"]
    scheme = Scheme("x", settings=("l1d.ways=8",))
    run = configuration(chosen, conv, scheme, "padded.toml", "kernel.ptx")
    assert Path(str(run.launch)).parts[-2:] == ("conv2", "padded.toml")
    assert Path(str(run.kernel)).parts[-2:] == ("conv2", "kernel.ptx")
    assert (run.settings, run.share_scratchpad) == (("l1d.ways=8",), 0)
    usual = configuration(chosen, conv, scheme, "", "kernel.ptx")
    assert Path(str(usual.launch)).name == "launch.toml"
