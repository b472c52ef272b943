"""The papers' applications in the originals' shape: clean, with a second program's results, of the papers' size."""

from functools import cache

import numpy as np
import pytest
from resident_ctas import GPU, GPU_16K, PERCENT, REGISTERS, SCRATCHPAD
from sharing_benchmarks import (
    AS_THE_PAPERS,
    BY_REGISTERS,
    BY_SCRATCHPAD,
    FILES,
    OF_THE_PAPERS,
    REFERENCES,
    launch_files,
)

from ptxtool import api
from ptxtool.analysis.occupancy.sharing_plan import sharing_plan
from ptxtool.base.diag import PtxError
from ptxtool.base.resources import resource_dir
from ptxtool.emit import emit
from ptxtool.formats.files import sample_names
from ptxtool.formats.launch.launch_file import Launch, load_launch
from ptxtool.formats.npy import read_npy
from ptxtool.ir.nodes import Function
from ptxtool.passes.pipeline import rewrite

FOLDER = resource_dir("samples") / "sharing"
LAUNCHES = [(name, file) for name in REFERENCES for file in launch_files(name)]
EXPECTED = [(name, file) for name, file in LAUNCHES if name != "mum" or file == "launch.toml"]
"""Those with expected results: of a tree that is not walked there are none."""


@cache
def launch_of(name: str, file: str = "launch.toml") -> Launch:
    return load_launch(FOLDER / name / file)


@cache
def kernel_of(name: str, suffix: str = "ptxplus") -> Function:
    return api.kernel(api.load(FOLDER / name / f"kernel.{suffix}"))


def problems(kernel: Function, launch: Launch, check: tuple[str, ...] = ()) -> tuple[object, ...]:
    """What is wrong after a run without time."""
    if launch.steps:
        return api.run_sequence(kernel.module, launch, check=check).problems
    return api.run(kernel, launch, check=check).problems


def test_every_sample_has_a_reference() -> None:
    assert {f"sharing/{name}" for name in REFERENCES} == {
        n for n in sample_names() if n.startswith("sharing/")
    }


@pytest.mark.parametrize(("name", "file"), EXPECTED)
def test_launch_files_expect_what_a_second_program_computes(name: str, file: str) -> None:
    launch = launch_of(name, file)
    grids = [step.grid[0] for step in launch.steps]
    more = {"grids": grids, "ptxplus_semantics": launch.ptxplus_semantics}
    given = {i.name: i.value for i in launch.inputs} | launch.constants() | more
    reference, expected = REFERENCES[name](given), launch.expected()
    outputs = {wanted.arg: wanted for wanted in launch.expectations}
    assert set(outputs) == set(reference) == {i.name for i in launch.inputs if i.output}
    for buffer, values in reference.items():
        # both compute in double precision, so they agree far better than a kernel in single precision has to
        found = np.reshape(expected[buffer], values.shape)
        np.testing.assert_allclose(found, values, rtol=1e-5, atol=1e-6 * np.abs(values).max(), err_msg=buffer)
        assert outputs[buffer].rtol <= 1e-4


@pytest.mark.parametrize(("name", "file"), LAUNCHES)
def test_the_whole_grid_is_run_and_nothing_is_found(name: str, file: str) -> None:
    assert problems(kernel_of(name), launch_of(name, file), check=("memory", "races", "barriers")) == ()


@pytest.mark.parametrize("name", REFERENCES)
def test_both_texts_compute_the_same(name: str) -> None:
    assert problems(kernel_of(name, "ptx"), launch_of(name)) == ()


@pytest.mark.parametrize("name", BY_REGISTERS)
def test_registers_and_resident_ctas_are_those_of_the_papers(name: str) -> None:
    """Tables 2 and 5 of the papers; the registers are allocated, of which the kernel may need fewer."""
    threads, registers, resident = REGISTERS[OF_THE_PAPERS[name]]
    launch, size = launch_of(name), api.static_scratchpad(kernel_of(name))
    assert (launch.threads, launch.registers) == (threads, registers)
    plans = [sharing_plan(GPU, threads, registers, size, share_registers=percent) for percent in PERCENT]
    assert tuple(plan.resident_ctas for plan in plans) == resident


@pytest.mark.parametrize("name", BY_SCRATCHPAD)
def test_scratchpad_and_resident_ctas_are_those_of_the_papers(name: str) -> None:
    """Tables III and VIII, which count arrays only; registers never admit fewer CTAs than scratchpad does."""
    threads, size, resident = SCRATCHPAD[OF_THE_PAPERS[name]]
    launch, arrays = launch_of(name), api.static_scratchpad(kernel_of(name, "ptx"))
    assert (launch.threads, arrays + launch.dynamic_shared, launch.scratchpad) == (threads, size, size)
    assert launch.registers is not None
    plans = [sharing_plan(GPU_16K, threads, launch.registers, size, share_scratchpad=p) for p in PERCENT]
    assert tuple(plan.resident_ctas for plan in plans) == resident


@pytest.mark.parametrize("name", BY_SCRATCHPAD)
def test_parameters_in_scratchpad_would_admit_fewer_ctas_of_some(name: str) -> None:
    """In PTXPlus 48 to 80 bytes lie before the arrays; 2608 * 6.3, 2240 * 7.5 and 5200 * 3.2 are more than 16384. So
    the launch files have the count that GPGPU-Sim takes from the compiler."""
    launch, size = launch_of(name), api.static_scratchpad(kernel_of(name))
    assert launch.registers is not None
    plans = [
        sharing_plan(GPU_16K, launch.threads, launch.registers, size, share_scratchpad=p) for p in PERCENT
    ]
    fewer = {"conv1": (6, 6, 6, 6, 6, 8), "srad2": (3, 3, 3, 3, 3, 4)}
    fewer |= dict.fromkeys(("nw1", "nw2"), (7, 7, 7, 7, 8, 8))
    resident = SCRATCHPAD[OF_THE_PAPERS[name]][2]
    assert tuple(plan.resident_ctas for plan in plans) == fewer.get(name, resident)


@pytest.mark.parametrize("name", REFERENCES)
def test_ptxplus_is_what_lowering_makes_of_the_ptx(name: str) -> None:
    module = api.load(FOLDER / name / "kernel.ptx")
    lowered = rewrite(module, f"lower-ptxplus{{regs={launch_of(name).registers}}}").module
    made = emit(lowered)
    assert made == (FOLDER / name / "kernel.ptxplus").read_text(encoding="utf-8"), (
        "make_scratchpad_samples.py"
    )


@pytest.mark.parametrize("name", BY_SCRATCHPAD)
def test_registers_are_what_the_kernel_takes_in_ptxplus(name: str) -> None:
    registers = launch_of(name).registers
    assert registers is not None
    with pytest.raises(PtxError, match="registers"):
        rewrite(api.load(FOLDER / name / "kernel.ptx"), f"lower-ptxplus{{regs={registers - 1}}}")


@pytest.mark.parametrize(("name", "file"), [(name, file) for name in FILES for file in FILES[name]])
def test_files_of_data_are_as_made(name: str, file: str) -> None:
    np.testing.assert_array_equal(read_npy(FOLDER / name / file), FILES[name][file](), strict=True)


@pytest.mark.parametrize("name", REFERENCES)
def test_other_launch_files_are_other_launches_of_the_same_kernel(name: str) -> None:
    first, *others = (launch_of(name, file) for file in launch_files(name))
    grids = [[step.grid for step in each.steps] or each.grid for each in (first, *others)]
    faulty = "gpgpu-sim" if AS_THE_PAPERS in launch_files(name) else None
    for other in others:
        assert other.ptxplus_semantics == faulty
        assert (first.kernel, first.block, first.registers) == (other.kernel, other.block, other.registers)
    assert grids[-1] not in grids[:-1]


EXPERIMENTS = [
    ("conv2", "padded"),
    ("lavamd", "no-boxes"),
    ("sgemm", "full-waves"),
    ("srad1", "wider"),
    ("srad2", "wider"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "file"), EXPERIMENTS)
def test_launches_of_experiments_have_the_expected_results(name: str, file: str) -> None:
    """The expected results are those of launch.toml, which a second program computes, for other sizes."""
    launch = launch_of(name, f"{file}.toml")
    assert problems(kernel_of(name), launch, ("memory", "races", "barriers")) == ()
    usual = launch_of(name)
    assert len(launch.expectations) == len(usual.expectations)
    assert (launch.grid, [i.value.shape for i in launch.inputs if i.is_buffer]) != (
        usual.grid,
        [i.value.shape for i in usual.inputs if i.is_buffer],
    )
