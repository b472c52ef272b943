"""The benchmarks of FineReg: clean, with the results of a second program, and limited as the paper says."""

import numpy as np
import pytest
from finereg_benchmarks import LIMITS, REFERENCES
from kernels import sample

from ptxtool import api
from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.analysis.regalloc.register_need import registers_per_thread

GPU = "gtx980-finereg"
WAVES = 8


@pytest.mark.parametrize("name", REFERENCES)
def test_launch_files_expect_what_a_second_program_computes(name: str) -> None:
    launch, _ = sample(f"finereg/{name}")
    reference = REFERENCES[name]({i.name: i.value for i in launch.inputs} | launch.constants())
    expected, wanted = launch.expected(), {each.arg: each for each in launch.expectations}
    assert set(wanted) == set(reference) == {i.name for i in launch.inputs if i.output}
    for buffer, values in reference.items():
        # both compute in double precision, so they agree better than a kernel in single precision has to
        found = np.reshape(expected[buffer], values.shape).astype(np.float64)
        rtol, atol = (1e-5, 1e-6 * np.abs(values).max()) if found.dtype.kind == "f" else (0, 0)
        np.testing.assert_allclose(found, values, rtol=rtol, atol=atol, err_msg=buffer)
        assert wanted[buffer].rtol <= 1e-3


@pytest.mark.parametrize("name", REFERENCES)
def test_the_whole_grid_is_run_and_nothing_is_found(name: str) -> None:
    launch, kernel = sample(f"finereg/{name}")
    assert api.run(kernel, launch, check=("memory", "races", "barriers")).problems == ()


@pytest.mark.parametrize("name", REFERENCES)
def test_what_limits_the_resident_ctas_and_how_often_they_are_replaced(name: str) -> None:
    launch, kernel = sample(f"finereg/{name}")
    gpu, limits = api.gpu(GPU), LIMITS[name]
    size = api.static_scratchpad(kernel)
    assert (launch.registers, launch.threads, registers_per_thread(kernel), size) == (None, *limits[:3])
    plan = occupancy(gpu, limits.threads, limits.registers, size)
    assert (plan.resident_ctas, plan.all_limiters) == (limits.resident, limits.limiters)
    assert np.prod(launch.grid) >= WAVES * plan.resident_ctas * gpu.sm.count


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_with_time_they_compute_the_same(name: str) -> None:
    launch, kernel = sample(f"finereg/{name}")
    assert api.simulate(kernel, launch, gpu=GPU).problems == ()
