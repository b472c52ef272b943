"""Random CUDA programs: what runs here is what the same source computes on the host.

`tests/random_cuda/batch` has PTX that nvcc made of a few, for different targets and with different optimisation, and
the results of the host; `fuzz_cuda.py` makes more of them.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_cuda.programs import inputs, source, write
from reference.interpreter import run_reference

import ptxsim
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse

BATCH = Path(__file__).parents[1] / "random_cuda" / "batch"
CHECKS = ("memory", "races", "barriers")  # not "init": the compiler copies the padding of structures


@pytest.fixture(scope="module", params=sorted(p.stem for p in BATCH.glob("*.ptx")))
def batch(request: pytest.FixtureRequest) -> tuple[Module, dict[str, Any]]:
    path = BATCH / f"{request.param}.ptx"
    launches = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return parse(path.read_text(encoding="utf-8"), path.name), launches


def expected(launch: dict[str, Any]) -> Any:
    return np.frombuffer(bytes.fromhex(launch["results"]), np.uint64)


def test_programs_compute_what_the_host_computes(batch: tuple[Module, dict[str, Any]]) -> None:
    module, launches = batch
    given = np.array(inputs(), np.uint32)
    for name, launch in launches.items():
        out = np.zeros(len(expected(launch)), np.uint64)
        result = ptxsim.run(module.kernels[name], launch["grid"], launch["block"], [given, out], check=CHECKS)
        assert out.tolist() == expected(launch).tolist(), name
        assert result.problems == (), name


def test_the_other_runs_agree(batch: tuple[Module, dict[str, Any]]) -> None:
    """A timed run and the plain one, of the shortest program of each file."""
    module, launches = batch
    given = np.array(inputs(), np.uint32)
    name = min(launches, key=lambda n: len(module.kernels[n].instructions))
    launch = launches[name]
    for run in (ptxsim.launch, run_reference):
        out = np.zeros(len(expected(launch)), np.uint64)
        run(module.kernels[name], (launch["grid"],), tuple(launch["block"]), [given, out])
        assert out.tolist() == expected(launch).tolist(), name


def test_the_same_seed_writes_the_same_program() -> None:
    assert source([write(7, "p")]) == source([write(7, "p")])
    assert write(7, "p").text != write(8, "p").text
