"""Compiled semantics against the reference interpreter: the same memory after every instruction form.

Every form runs on 128 lanes: all pairs of the edge values of its types, and seeded random bits. A NaN equals every
other NaN, since the two need not choose the same one where the manual leaves the choice.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from form_kernels import LANES, batches, build, inputs
from instruction_forms import ATOMIC, GROUPS, MEMORY, WARP
from kernels import sample
from reference.interpreter import run_reference

from ptxsim import functional_run as functional


def compare(
    is_ptxplus: bool,
    bodies: list[str],
    kind: str,
    nan_bits: int = 0,
    tolerance: int = 0,
    semantics: str = "hardware",
) -> None:
    """Run bodies both ways; `nan_bits` is the width of floating-point results, `tolerance` in their last places."""
    found = build(is_ptxplus, bodies)
    given = inputs(kind)
    results = []
    for run in (run_reference, functional.run):
        run_it: Callable[..., Any] = run  # type: ignore[assignment]
        source, target = given.copy(), np.zeros((len(bodies), LANES), np.uint64)
        more = {"dynamic_shared": 2048 if is_ptxplus else 0, "ptxplus_semantics": semantics}
        run_it(found, (1,), (LANES,), [source, target], **more)
        results.append((source, target))
    (source, reference), (other, compiled) = results
    same = reference == compiled
    if nan_bits:
        width, dtype = {16: ("u2", "f2"), 32: ("u4", "f4"), 64: ("u8", "f8")}[nan_bits]
        a, b = (r.astype(width).view(dtype) for r in (reference, compiled))
        same |= np.isnan(a) & np.isnan(b)
        if tolerance:
            same |= np.abs(a.view(width).astype(np.int64) - b.view(width).astype(np.int64)) <= tolerance
    lines = [
        f"{body}: {np.count_nonzero(~row)} lanes differ; {[hex(int(v)) for v in given[lane]]} -> "
        f"reference {int(reference[k, lane]):#x}, compiled {int(compiled[k, lane]):#x}"
        for k, (body, row) in enumerate(zip(bodies, same, strict=True))
        for lane in np.flatnonzero(~row)[:1].tolist()
    ]
    assert not lines, "\n".join([f"{len(lines)} of {len(bodies)} bodies", *lines])
    assert (source == other).all()


@pytest.mark.parametrize(
    ("name", "part"),
    [(name, part) for name, group in GROUPS.items() for part in range(len(batches(group[1])))],
)
def test_every_form(name: str, part: int) -> None:
    is_ptxplus, bodies, kind, nan_bits, tolerance = GROUPS[name]
    compare(is_ptxplus, batches(bodies)[part], kind, nan_bits, tolerance)


@pytest.mark.parametrize(
    ("name", "part"),
    [(n, part) for n, group in GROUPS.items() if group[0] for part in range(len(batches(group[1])))],
)
def test_every_form_as_gpgpu_sim(name: str, part: int) -> None:
    is_ptxplus, bodies, kind, nan_bits, tolerance = GROUPS[name]
    compare(is_ptxplus, batches(bodies)[part], kind, nan_bits, tolerance, "gpgpu-sim")


@pytest.mark.parametrize("body", MEMORY + ATOMIC + WARP)
def test_memory_and_warps(body: str) -> None:
    """One at a time: they meet in shared memory."""
    compare(False, [body], "b")


@pytest.mark.parametrize("name", ["sgemm", "hotspot", "reduction", "saxpy"])
def test_whole_samples(name: str) -> None:
    """The compiled run of a whole launch gives what its file expects."""
    launch, kernel = sample(name)
    arguments = launch.arguments()
    functional.run(kernel, launch.grid, launch.block, arguments, dynamic_shared=launch.dynamic_shared)
    assert [str(d) for d in launch.check(arguments)] == []
