"""Registers that `demote` moved to shared memory: their accesses have no bank conflicts (RegDem, section 3.2).

On RegDem's GPU. A kernel's own accesses to shared memory have as many conflicts before as after.
"""

import numpy as np
import pytest
from kernels import sample

import ptxsim
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite
from ptxtool.results.simulation import SimResult

GPU = "gtx-titan-x"
# sample, CTAs: of one and two dimensions, with 64-bit registers, with shared memory of their own and without
SAMPLES = [
    ("saxpy", (24,)),
    ("conv1", (24, 2)),
    ("lavamd", (4, 4)),
    ("nw1", (4,)),
    ("srad1", (4, 4)),
    ("srad2", (4, 4)),
    ("regdem/conv", (24, 2)),
    ("regdem/md", (24,)),
]


def run(name: str, grid: tuple[int, ...], module: Module) -> tuple[SimResult, bytes]:
    launch, kernel = sample(name)
    arguments = launch.arguments()
    result = ptxsim.launch(
        module.kernels[kernel.name],
        grid,
        launch.block,
        arguments,
        gpu=GPU,
        dynamic_shared=launch.dynamic_shared,
        constants=launch.constants(),
    )
    return result, b"".join(a.tobytes() for a in arguments if isinstance(a, np.ndarray))


@pytest.mark.parametrize(("name", "grid"), SAMPLES)
def test_demoted_accesses_have_no_bank_conflicts(name: str, grid: tuple[int, ...]) -> None:
    launch, kernel = sample(name)
    threads = int(np.prod(launch.block))
    physical = rewrite(kernel.module, "allocate").module
    demoted = rewrite(physical, f"demote:count=6:threads={threads},compact:banks=true").module
    (before, expected), (after, found) = run(name, grid, physical), run(name, grid, demoted)
    assert found == expected
    assert after.core["shared_accesses"] > before.core["shared_accesses"]
    assert after.core["bank_conflict_cycles"] == before.core["bank_conflict_cycles"]


def test_the_slots_of_a_thread_side_by_side_would_conflict() -> None:
    """Words two apart in neighbouring threads: each of 16 banks has two of a warp's, a cycle more for every access."""
    _, kernel = sample("saxpy")
    text = rewrite(kernel.module, "allocate,demote:count=2:threads=256").module.source.text
    assert (text.count("shl.b32 %r14, %r14, 2;"), text.count("[%r13+1024]")) == (1, 3)
    planted = text.replace("shl.b32 %r14, %r14, 2;", "shl.b32 %r14, %r14, 3;").replace("+1024]", "+4]")
    (apart, expected), (beside, found) = (run("saxpy", (24,), parse(t, "k.ptx")) for t in (text, planted))
    assert found == expected
    assert apart.core["bank_conflict_cycles"] == 0
    assert beside.core["bank_conflict_cycles"] == beside.core["shared_accesses"] > 0
