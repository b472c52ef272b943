"""Some launches of a program are simulated: its memory is right, and the cycles of the others are near."""

from pathlib import Path

import pytest
from cuda_programs import compiled, run

pytestmark = pytest.mark.slow

PRINTED = "the second step\nscores are right\n"
"""By a kernel, in a launch that runs twice where its warp instructions decide, and by the application."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.mark.parametrize(
    ("which", "simulated"),
    [
        # grids of 1, 2, 3, 4, 3, 2 and 1 CTAs twice at most, then of 20 launches alike the 1st, 2nd, 5th and 14th
        ("similar", [*range(1, 8), 8, 9, 12, 21]),
        ("every:9", [1, 10, 19]),
        ("first:0007", [*range(1, 8)]),
    ],
)
def test_every_choice(
    which: str, simulated: list[int], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, compiled("diagonals", folder), timed=True, gpu_chosen=True, sim_launches=which)
    assert (ran.run.status, ran.printed) == (0, PRINTED)
    assert [e.number for e in ran.run.launches if e.cycles and not e.is_estimated] == simulated
    assert ran.run.sim_launches == which


def test_the_estimated_time_is_near_the_simulated_one(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = compiled("diagonals", folder)
    whole = run(capfd, program, timed=True, gpu_chosen=True).run
    part = run(capfd, program, timed=True, gpu_chosen=True, sim_launches="similar").run
    assert whole.sim_launches is None
    assert sum(e.is_estimated for e in part.launches) == 16
    cycles, estimate = (sum(e.cycles for e in each.launches) for each in (whole, part))
    assert abs(estimate - cycles) < 0.05 * cycles
    assert part.error is not None
    assert part.error < 0.05
    assert [e.warp_instructions for e in part.launches] == [e.warp_instructions for e in whole.launches]
