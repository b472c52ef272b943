"""Kernels of the register-sharing paper's Set-2: clean, with a second program's results, limited as in its table 3."""

import numpy as np
import pytest
from unlimited_benchmarks import PRINTED, REFERENCES

from ptxtool import api
from ptxtool.base.resources import resource_dir
from ptxtool.emit import emit
from ptxtool.formats.files import sample_names
from ptxtool.formats.launch.launch_file import Launch, load_launch
from ptxtool.passes.pipeline import rewrite

FOLDER = resource_dir("samples") / "unlimited"


def launch_of(name: str) -> Launch:
    return load_launch(FOLDER / name / "launch.toml")


def test_every_sample_has_a_reference() -> None:
    assert {f"unlimited/{name}" for name in REFERENCES} == {
        n for n in sample_names() if n.startswith("unlimited/")
    }
    assert REFERENCES.keys() == PRINTED.keys()


@pytest.mark.parametrize("name", REFERENCES)
def test_launch_files_expect_what_a_second_program_computes(name: str) -> None:
    launch = launch_of(name)
    reference, expected = REFERENCES[name]({i.name: i.value for i in launch.inputs}), launch.expected()
    assert set(expected) == set(reference) == {i.name for i in launch.inputs if i.output}
    for buffer, values in reference.items():
        np.testing.assert_allclose(np.reshape(expected[buffer], values.shape), values, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("suffix", ["ptx", "ptxplus"])
@pytest.mark.parametrize("name", REFERENCES)
def test_the_whole_grid_is_run_and_nothing_is_found(name: str, suffix: str) -> None:
    kernel = api.kernel(api.load(FOLDER / name / f"kernel.{suffix}"))
    assert api.run(kernel, launch_of(name), check=("memory", "init", "races", "barriers")).problems == ()


@pytest.mark.parametrize("name", REFERENCES)
def test_block_registers_and_limit_are_those_of_the_paper(name: str) -> None:
    launch, kernel = launch_of(name), api.kernel(api.load(FOLDER / name / "kernel.ptxplus"))
    threads, registers, limiter = PRINTED[name]
    assert (launch.threads, launch.registers) == (threads, registers)
    found = api.occupancy(threads, registers, api.static_scratchpad(kernel), gpu="tesla-c2050")
    assert found.limiter == limiter


@pytest.mark.parametrize("name", REFERENCES)
def test_ptxplus_is_the_lowered_ptx(name: str) -> None:
    registers = launch_of(name).registers
    ptx = api.load(FOLDER / name / "kernel.ptx")
    lowered = emit(rewrite(ptx, f"lower-ptxplus{{regs={registers}}}").module)
    assert lowered == (FOLDER / name / "kernel.ptxplus").read_text()
