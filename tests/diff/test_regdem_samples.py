"""The benchmarks of RegDem: clean, with the results of a second program, and demoted as the paper demotes them.

Whole grids, before and after registers are demoted to shared memory, without time and with time.
"""

from functools import cache

import numpy as np
import pytest
from kernels import sample
from regdem_benchmarks import FILES, REFERENCES, ROWS

from ptxtool import api
from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.base.resources import resource_dir
from ptxtool.ir.nodes import Function
from ptxtool.ir.variables import round_up
from ptxtool.passes.pipeline import rewrite

GPU = "gtx-titan-x"
SCRATCH = {"qtc": {"in_cluster", "to_cluster"}}
"""Buffers that a kernel writes for itself."""


@cache
def demoted(name: str) -> tuple[Function, tuple[str, ...]]:
    """The kernel with the paper's registers, and the pass's remarks."""
    row = ROWS[name]
    launch, kernel = sample(f"regdem/{name}")
    result = rewrite(kernel.module, f"allocate,demote:registers={row.after}:threads={row.threads}")
    messages = tuple(r.message for r in result.remarks if r.pass_name == "demote")
    return result.module.kernels[str(launch.kernel)], messages


@pytest.mark.parametrize("name", REFERENCES)
def test_launch_files_expect_what_a_second_program_computes(name: str) -> None:
    launch, _ = sample(f"regdem/{name}")
    given = {i.name: i.value for i in launch.inputs} | launch.constants()
    reference, expected = REFERENCES[name](given), launch.expected()
    wanted = {each.arg: each for each in launch.expectations}
    scratch = SCRATCH.get(name, set())
    assert set(wanted) == set(reference) == {i.name for i in launch.inputs if i.output} - scratch
    for buffer, values in reference.items():
        found = np.reshape(expected[buffer], values.shape)
        largest = np.abs(values).max()
        atol = 1 if values.dtype == np.uint8 and wanted[buffer].atol else 1e-6 * largest
        rtol = 1e-5 if values.dtype.kind == "f" else 0
        np.testing.assert_allclose(found.astype(np.float64), values, rtol=rtol, atol=atol, err_msg=buffer)
        assert wanted[buffer].rtol <= 1e-4


@pytest.mark.parametrize(("name", "file"), [(name, file) for name in FILES for file in FILES[name]])
def test_files_of_data_are_as_made(name: str, file: str) -> None:
    launch, _ = sample(f"regdem/{name}")
    made = FILES[name][file]({i.name: i.value for i in launch.inputs})
    np.testing.assert_array_equal(
        np.load(resource_dir("samples") / "regdem" / name / file), made, strict=True
    )


@pytest.mark.parametrize("name", REFERENCES)
def test_the_whole_grid_is_run_and_nothing_is_found(name: str) -> None:
    launch, kernel = sample(f"regdem/{name}")
    assert api.run(kernel, launch, check=("memory", "races", "barriers")).problems == ()


@pytest.mark.parametrize("name", REFERENCES)
def test_threads_registers_bytes_and_occupancy_are_those_of_the_paper(name: str) -> None:
    row = ROWS[name]
    launch, kernel = sample(f"regdem/{name}")
    assert (launch.threads, registers_per_thread(kernel)) == (row.threads, row.before)
    assert registers_per_thread(rewrite(kernel.module, "allocate").module.kernels[kernel.name]) == row.before
    small, (message,) = demoted(name)
    assert message.startswith(f"{row.demoted} registers demoted to {row.bytes} bytes of shared memory")
    unit = api.gpu(GPU).sm.register_allocation_unit
    assert round_up(registers_per_thread(small), unit) == row.after
    own = api.static_scratchpad(kernel)
    assert api.static_scratchpad(small) == own + row.bytes
    found = [
        occupancy(api.gpu(GPU), row.threads, registers_per_thread(each), api.static_scratchpad(each))
        for each in (kernel, small)
    ]
    assert tuple(each.active_warps / each.max_warps for each in found) == row.occupancy


@pytest.mark.parametrize("name", REFERENCES)
def test_demoted_kernels_compute_the_same(name: str) -> None:
    launch, _ = sample(f"regdem/{name}")
    assert api.run(demoted(name)[0], launch, check=("memory", "races", "barriers")).problems == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(REFERENCES) - {"nn", "vptree"}))  # the longest
def test_with_time_both_compute_the_same(name: str) -> None:
    launch, kernel = sample(f"regdem/{name}")
    for each in (kernel, demoted(name)[0]):
        assert api.simulate(each, launch, gpu=GPU).problems == ()
