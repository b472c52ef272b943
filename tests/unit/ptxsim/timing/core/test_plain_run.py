"""Plain runs: which runs are, and that the loop that is compiled for them counts what the loop for all runs does."""

from typing import Any

import pytest
from built import built

import ptxsim
import ptxtool
from ptxsim.timing import drive
from ptxsim.timing.core.plain_run import constant_fields
from ptxtool.base.resources import resource_dir
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.launch.launch_file import load_launch

MACHINES = [
    "tesla-c2050",
    "gpgpusim42-qv100",
]  # the second has sub-cores, whose classes share collector units


def test_a_plain_launch_has_constants() -> None:
    three_classes, sets = (dict(constant_fields(built(gpu=load_gpu(gpu)).run)) for gpu in MACHINES)
    assert three_classes == {**sets, "collector_sets": 0}
    assert (sets["hotspots"], sets["event_skip"]) == (0, 1)


@pytest.mark.parametrize(
    "plan", [{"hotspots": True}, {"share": 90, "grid": 200, "threads": 256, "registers": 36}]
)
def test_other_launches_have_none(plan: dict[str, Any]) -> None:
    assert constant_fields(built(**plan).run) == (("has_team", 0),)


@pytest.mark.parametrize("gpu", MACHINES)
def test_the_loops_count_the_same(gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = resource_dir("samples") / "reduction"
    described = load_launch(folder / "launch.toml")
    kernel = next(iter(ptxtool.parse((folder / "kernel.ptxplus").read_bytes()).kernels.values()))

    def counted() -> dict[str, Any]:
        return ptxsim.launch(
            kernel,
            described.grid,
            described.block,
            described.arguments(),
            gpu=gpu,
            registers=described.registers,
            dynamic_shared=described.dynamic_shared,
        ).to_dict()

    plain = counted()
    monkeypatch.setattr(drive, "constant_fields", lambda run: (("has_team", 0),))
    assert counted() == plain
