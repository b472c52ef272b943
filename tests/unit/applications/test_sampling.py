"""Which launches are simulated, and what the others take from them."""

from dataclasses import replace

import pytest

from ptxtool.applications.sampling import Sampling
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.results.applications import Launch

GPU = load_gpu("tesla-c2050")  # 14 SMs at 575 MHz
HERTZ = 575e6


def launch(number: int, instructions: int = 1000, grid: int = 28, kernel: str = "k") -> Launch:
    return Launch(number, kernel, (grid, 1, 1), (32, 1, 1), warp_instructions=instructions)


def simulated(entry: Launch, cycles: int) -> Launch:
    return replace(entry, cycles=cycles, seconds=cycles / HERTZ)


def numbers_simulated(sampling: Sampling, launches: list[Launch]) -> list[int]:
    """Those that are simulated, each with 500 cycles."""
    found = []
    for entry in launches:
        is_chosen = sampling.is_chosen(entry)
        if is_chosen or (is_chosen is None and not sampling.represents(entry)):
            sampling.simulated(simulated(entry, 500))
            found.append(entry.number)
    return found


def test_by_number() -> None:
    launches = [launch(n) for n in range(1, 11)]
    assert numbers_simulated(Sampling.of("every:4", GPU), launches) == [1, 5, 9]
    assert numbers_simulated(Sampling.of("3,7-8", GPU), launches) == [3, 7, 8]


def test_of_similar_ones_the_first_the_second_and_ever_fewer() -> None:
    launches = [launch(n) for n in range(1, 130)]
    assert numbers_simulated(Sampling.of("similar", GPU), launches) == [1, 2, 5, 14, 41, 122]


def test_what_makes_launches_differ() -> None:
    """Kernel, grid, block and dynamic shared memory; more than 5% in the number of warp instructions."""
    first = launch(1)
    same = [first, launch(2, 1050), launch(3, 951)]
    other = [
        launch(4, kernel="other"),
        launch(5, grid=27),
        replace(launch(6), block=(64, 1, 1)),
        replace(launch(7), dynamic_shared=4),
        launch(8, 1051),
        launch(9, 949),
    ]
    assert numbers_simulated(Sampling.of("similar", GPU), same + other) == [1, 2, 4, 5, 6, 7, 8, 9]


def test_cycles_are_those_of_the_last_one_scaled() -> None:
    sampling = Sampling.of("similar", GPU)
    sampling.simulated(simulated(launch(1), 900))
    sampling.simulated(simulated(launch(2), 600))
    found = sampling.estimated(launch(3, 1020))
    assert (found.cycles, found.is_estimated, found.uncertainty) == (612, True, None)
    assert found.seconds == pytest.approx(612 / HERTZ)
    assert sampling.completed(found).uncertainty == pytest.approx(
        0.5
    )  # the second had 600 where 900 were expected
    sampling.simulated(simulated(launch(4), 480))
    assert sampling.completed(found).uncertainty == pytest.approx(0.25)


def test_by_number_the_nearest_of_the_kernel_serves() -> None:
    sampling = Sampling.of("first:3", GPU)
    sampling.simulated(simulated(launch(1, 1000), 500))
    sampling.simulated(simulated(launch(2, 4000), 1000))
    sampling.simulated(simulated(launch(3, 70, grid=7), 300))
    assert sampling.estimated(launch(4, 1600)).cycles == 800  # half a cycle for each instruction
    assert sampling.estimated(launch(5, 3000)).cycles == 750  # a quarter
    assert (
        sampling.estimated(launch(6, 80, grid=4)).cycles == 600
    )  # 20 for each of 4 SMs, where 10 were for each of 7
    assert sampling.estimated(launch(7, 60, grid=56)).cycles == pytest.approx(300 * (60 / 14) / 10, abs=1)


def test_without_any_launch_of_the_kernel_there_is_no_estimate_until_there_is_one() -> None:
    sampling = Sampling.of("2", GPU)
    early, failed = launch(1), replace(launch(3), error=700)
    assert sampling.estimated(early) == early
    sampling.simulated(simulated(launch(2), 500))
    assert sampling.completed(early).cycles == 500
    assert sampling.completed(early).uncertainty is None
    assert sampling.completed(failed) == failed
    assert sampling.completed(launch(4, kernel="other")).cycles == 0


def test_an_unknown_error_is_the_largest_one_of_the_kernel() -> None:
    sampling = Sampling.of("first:2", GPU)
    sampling.simulated(simulated(launch(1, 1000), 500))
    sampling.simulated(simulated(launch(2, 2000), 800))
    near_first = sampling.estimated(launch(3, 1010))
    assert sampling.completed(near_first).uncertainty == pytest.approx(200 / 800)


@pytest.mark.parametrize("text", ["", "alike", "every:0", "similar:2"])
def test_no_choice(text: str) -> None:
    with pytest.raises(PtxError, match="chooses no launches") as caught:
        Sampling.of(text, GPU)
    assert caught.value.diagnostics[0].help.endswith("or first:2; or similar")
