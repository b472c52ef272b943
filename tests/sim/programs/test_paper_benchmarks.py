"""The papers' benchmarks among the samples: results as numpy has them, kernels that compute them, and their texts.

Results of whole grids, without time; every block counts, since caches and divergence are the point of these kernels.
"""

from functools import cache

import numpy as np
import pytest
from paper_benchmarks import FILES, REFERENCES, arguments, lowered

import ptxsim
from ptxtool import api
from ptxtool.base.resources import resource_dir
from ptxtool.formats.launch.launch_file import Launch, check_arguments, load_launch

SAMPLES = resource_dir("samples")
CHECKED_CTAS = 64

# threads and registers of the papers' kernels, and resident CTAs with 0, 10, 30, 50, 70, 90 percent of the registers
# shared: tables 2 and 5 of "Improving GPU Performance Through Resource Sharing"
RESIDENT = {
    "backprop": (256, 24, [5, 5, 5, 5, 6, 6]),
    "btree": (508, 24, [2, 2, 2, 3, 3, 3]),
    "lib": (192, 36, [4, 4, 5, 5, 6, 8]),
    "mum": (256, 28, [4, 4, 4, 5, 5, 6]),
    "mri-q": (256, 24, [5, 5, 5, 5, 6, 6]),
    "stencil": (512, 28, [2, 2, 2, 2, 2, 3]),
}


@cache
def launch_of(name: str) -> Launch:
    return load_launch(SAMPLES / name / "launch.toml")


def part_of(launch: Launch, ctas: int) -> tuple[int, int]:
    """A part of the grid: about so many of its first CTAs."""
    x, y, _ = launch.grid
    return min(x, ctas), max(1, min(y, ctas // x))


@pytest.mark.parametrize("name", REFERENCES)
def test_expected_results_are_those_of_the_algorithm(name: str) -> None:
    launch = launch_of(name)
    expected = launch.expected()
    found = REFERENCES[name](arguments(name))
    assert set(found) == {wanted.arg for wanted in launch.expectations}
    for wanted in launch.expectations:
        shape = found[wanted.arg].shape
        np.testing.assert_allclose(
            np.broadcast_to(expected[wanted.arg], shape),
            found[wanted.arg],
            rtol=wanted.rtol,
            atol=wanted.atol,
        )


SECOND_GRIDS = ("backprop", "btree", "hotspot", "stencil")
"""Those with a second grid for `ptxtool reproduce`; hotspot's results are those of `test_samples.py`."""


@pytest.mark.parametrize("name", SECOND_GRIDS)
def test_the_second_grid_is_another_one_with_results_of_the_algorithm(name: str) -> None:
    usual, launch = launch_of(name), load_launch(SAMPLES / name / "second-grid.toml")
    assert launch.grid != usual.grid
    assert (launch.kernel, launch.block, launch.registers) == (usual.kernel, usual.block, usual.registers)
    if name in REFERENCES:
        found = REFERENCES[name]({i.name: i.value for i in (*launch.inputs, *launch.constant_inputs)})
        assert set(found) == {wanted.arg for wanted in launch.expectations}
        for wanted in launch.expectations:
            expected = np.broadcast_to(launch.expected()[wanted.arg], found[wanted.arg].shape)
            np.testing.assert_allclose(expected, found[wanted.arg], rtol=wanted.rtol, atol=wanted.atol)
    assert api.run(api.kernel(api.load(name)), launch).problems == ()


@pytest.mark.parametrize(("name", "file"), [(name, file) for name in FILES for file in FILES[name]])
def test_files_of_data_are_as_made(name: str, file: str) -> None:
    there = np.load(SAMPLES / name / file)
    assert there.nbytes <= 200_000
    np.testing.assert_array_equal(there, FILES[name][file](arguments(name)), strict=True)


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("file", ["kernel.ptxplus", "kernel.ptx"])
def test_kernels_compute_the_expected_results(name: str, file: str) -> None:
    launch = launch_of(name)
    kernel = api.kernel(api.load(SAMPLES / name / file))
    assert kernel.name == launch.kernel
    assert check_arguments(launch, kernel) == ()
    given = launch.arguments()
    ptxsim.run(kernel, launch.grid, launch.block, given, constants=launch.constants())
    assert launch.check(given) == ()


@pytest.mark.parametrize("name", REFERENCES)
def test_kernels_have_no_bad_accesses_races_or_divergent_barriers(name: str) -> None:
    """In the first CTAs; a whole grid with all checks is `ptxtool run NAME --check memory,races,barriers`."""
    launch = launch_of(name)
    result = ptxsim.run(
        api.kernel(api.load(name)),
        part_of(launch, CHECKED_CTAS),
        launch.block,
        launch.arguments(),
        constants=launch.constants(),
        check=("memory", "races", "barriers"),
    )
    assert result.problems == ()


@pytest.mark.parametrize("name", REFERENCES)
def test_timed_runs_with_shared_registers_leave_the_same_memory(name: str) -> None:
    """More CTAs than 14 SMs hold without sharing where registers limit; owner first, and loose round robin."""
    launch = launch_of(name)
    kernel = api.kernel(api.load(name))
    grid = part_of(launch, 84)

    def memory(**timed: object) -> list[bytes]:
        given = launch.arguments()
        if timed:
            ptxsim.launch(kernel, grid, launch.block, given, constants=launch.constants(), **timed)  # type: ignore[arg-type]
        else:
            ptxsim.run(kernel, grid, launch.block, given, constants=launch.constants())
        return [each.tobytes() for each in given if isinstance(each, np.ndarray)]

    expected = memory()
    for scheduler in ("lrr", "owf"):
        found = memory(registers=launch.registers, share_registers=90, scheduler=scheduler)
        assert found == expected, scheduler


@pytest.mark.parametrize("name", REFERENCES)
def test_the_name_of_a_sample_is_its_ptxplus_which_is_made_of_its_ptx(name: str) -> None:
    text = api.emit(api.load(name))
    assert text == (SAMPLES / name / "kernel.ptxplus").read_text()
    assert text == lowered(name), "make it again: python benchmarks/make_samples.py --keep-ptx"


@pytest.mark.parametrize("name", RESIDENT)
def test_resident_ctas_are_those_of_the_papers(name: str) -> None:
    launch = launch_of(name)
    threads, registers, resident = RESIDENT[name]
    assert (launch.threads, launch.registers) == (threads, registers)
    scratchpad = api.static_scratchpad(api.kernel(api.load(name)))
    shares = (0, 10, 30, 50, 70, 90)
    plans = [api.occupancy(threads, registers, scratchpad, share_registers=share) for share in shares]
    assert [plan.resident_ctas for plan in plans] == resident


def test_what_set_3_is_limited_by() -> None:
    bfs, gaussian = launch_of("bfs"), launch_of("gaussian")
    assert (bfs.threads, bfs.registers) == (256, 20)
    assert "threads" in api.occupancy(256, 20).all_limiters
    assert api.occupancy(gaussian.threads, gaussian.registers or 0).limiter == "ctas"
