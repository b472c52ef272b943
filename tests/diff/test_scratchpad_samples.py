"""The samples of the papers' second and third set: clean, of the right sizes, with the results of a second program."""

import numpy as np
import pytest
from kernels import sample
from resident_ctas import GPU_16K, PERCENT, SCRATCHPAD
from scratchpad_benchmarks import OTHER_LAUNCHES, REFERENCES

from ptxtool import api
from ptxtool.analysis.occupancy.sharing_plan import sharing_plan
from ptxtool.base.diag import PtxError
from ptxtool.base.resources import resource_dir
from ptxtool.emit import emit
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.passes.pipeline import rewrite

OF_THE_PAPERS = {"conv1": "CONV1", "conv2": "CONV2", "lavamd": "lavaMD", "nw1": "NW1", "nw2": "NW2"}
OF_THE_PAPERS |= {"srad1": "SRAD1", "srad2": "SRAD2"}


LAUNCHES = {(name, "launch.toml"): reference for name, reference in REFERENCES.items()} | dict(OTHER_LAUNCHES)


@pytest.mark.parametrize(("name", "file"), LAUNCHES)
def test_launch_files_expect_what_a_second_program_computes(name: str, file: str) -> None:
    launch = load_launch(resource_dir("samples") / name / file)
    given = {i.name: i.value for i in launch.inputs} | launch.constants()
    reference, expected = LAUNCHES[name, file](given), launch.expected()
    outputs = {wanted.arg: wanted for wanted in launch.expectations}
    assert set(outputs) == set(reference) == {i.name for i in launch.inputs if i.output}
    for buffer, values in reference.items():
        # both compute in double precision, so they agree far better than a kernel in single precision has to
        found = np.reshape(expected[buffer], values.shape)
        np.testing.assert_allclose(found, values, rtol=1e-5, atol=1e-6 * np.abs(values).max(), err_msg=buffer)
        assert outputs[buffer].rtol <= 1e-4


@pytest.mark.parametrize(("name", "file"), LAUNCHES)
def test_the_whole_grid_is_run_and_nothing_is_found(name: str, file: str) -> None:
    launch = load_launch(resource_dir("samples") / name / file)
    kernel, check = sample(name)[1], ("memory", "races", "barriers")
    if launch.steps:
        assert api.run_sequence(kernel.module, launch, check=check).problems == ()
    else:
        assert api.run(kernel, launch, check=check).problems == ()


@pytest.mark.parametrize("name", OF_THE_PAPERS)
def test_threads_scratchpad_and_resident_ctas_are_those_of_the_paper(name: str) -> None:
    """Tables III and VIII; registers never admit fewer CTAs than scratchpad does."""
    launch, kernel = sample(name)
    threads, size, resident = SCRATCHPAD[OF_THE_PAPERS[name]]
    assert (launch.threads, api.static_scratchpad(kernel) + launch.dynamic_shared) == (threads, size)
    assert launch.registers is not None
    plans = [sharing_plan(GPU_16K, threads, launch.registers, size, share_scratchpad=p) for p in PERCENT]
    assert tuple(plan.resident_ctas for plan in plans) == resident


@pytest.mark.parametrize(("name", "resident"), [("layerforward", 6), ("nn", 8)])
def test_of_the_third_set_sharing_admits_no_more(name: str, resident: int) -> None:
    """Threads limit the one (6 * 256 = 1536), the number of CTAs the other."""
    launch, kernel = sample(name)
    assert launch.registers is not None
    size = api.static_scratchpad(kernel) + launch.dynamic_shared
    for shares in ({}, {"share_registers": 90}, {"share_scratchpad": 90}):
        plan = sharing_plan(GPU_16K, launch.threads, launch.registers, size, **shares)
        assert (plan.resident_ctas, plan.shared_pairs) == (resident, 0)


@pytest.mark.parametrize("name", REFERENCES)
def test_the_grid_is_at_least_four_waves(name: str) -> None:
    launch, kernel = sample(name)
    assert launch.registers is not None
    plan = sharing_plan(GPU_16K, launch.threads, launch.registers, api.static_scratchpad(kernel))
    assert launch.blocks >= 4 * GPU_16K.sm.count * plan.resident_ctas


@pytest.mark.parametrize(("name", "registers"), [("layerforward", 12), ("nn", 24)])
def test_ptxplus_is_what_lowering_makes_of_the_ptx(name: str, registers: int) -> None:
    """With no more registers than the papers print for the kernel."""
    folder = resource_dir("samples") / name
    module = api.load(str(folder / "kernel.ptx"))
    lowered = rewrite(module, f"lower-ptxplus{{regs={registers}}}").module
    assert emit(lowered) == (folder / "kernel.ptxplus").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OF_THE_PAPERS)
def test_registers_are_what_the_kernel_takes_in_ptxplus(name: str) -> None:
    launch, kernel = sample(name)
    rewrite(kernel.module, f"lower-ptxplus{{regs={launch.registers}}}")
    assert launch.registers is not None
    with pytest.raises(PtxError, match="registers"):
        rewrite(kernel.module, f"lower-ptxplus{{regs={launch.registers - 1}}}")
