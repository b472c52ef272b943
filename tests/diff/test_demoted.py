"""Kernels with registers in shared memory leave what they left before: every row by hand, a sample, the corpus, ptxas.

As in `test_allocated.py`, names that share a place spoil one another (`clobber.py`).
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clobber import clobbered
from hand_kernels import files, hand_kernels
from kernels import sample
from ptxas import needs_ptxas, ptxas_errors
from reference.interpreter import run_reference
from reference_kernels import kernels as reference_module
from reference_kernels import launches

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite
from ptxtool.runs.tuning_variants import without_other_kernels

RULES = ("accesses", "frequency", "conflicts")
PTX_FILES = [p for p in files() if p.suffix == ".ptx" and p.name != "vector_registers.ptx"]

REFERENCE_KERNELS = (
    "hotspot",
    "conv_rows",
    "dgemm_small",
    "nw_diag",
    "reduce",
    "transpose",
    "divergent_switch",
)
"""Short ones: CTAs of one, two and many warps in one and two dimensions, static and dynamic shared memory, pairs."""


AFTER = ",substitute-demotion-registers,drop-redundant-demotions,hoist-demotion-loads"
"""The passes that change the accesses to slots."""


def demoted(module: Module, options: str, passes: str = "") -> Module:
    """Physical registers, some of them in shared memory; a unit's other names are spoiled."""
    return clobbered(rewrite(rewrite(module, "allocate").module, f"demote{{{options}}}{passes}").module)


@pytest.mark.parametrize("passes", ["", AFTER], ids=["demote", "after"])
@pytest.mark.parametrize("path", PTX_FILES, ids=lambda p: p.name)
def test_every_row_computes_the_same(path: Path, passes: str) -> None:
    """As many registers as can be demoted for CTAs of 128 threads, the least frequent first."""
    kernels = [k for k in hand_kernels(path) if k.semantics == "hardware"]
    after = demoted(kernels[0].kernel.module, "count=255,threads=128", passes)
    again = [replace(k, kernel=after.kernels[k.kernel.name]) for k in kernels]
    wrong = [line for kernel in again for line in kernel.differences(functional.run)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("rule", "passes"), [*((rule, "") for rule in RULES), ("frequency", f"{AFTER},compact")]
)
@pytest.mark.parametrize("name", ["saxpy"])
def test_sample(name: str, rule: str, passes: str) -> None:
    """In both runs, and by the reference interpreter."""
    launch, kernel = sample(name)
    after = demoted(kernel.module, f"count=4,rule={rule},threads=256", passes)

    def memory(module: Module, run: Any, **more: Any) -> list[bytes]:
        arguments = launch.arguments()
        run(module.kernels[str(launch.kernel)], launch.grid, launch.block, arguments, **more)
        return [a.tobytes() for a in arguments if isinstance(a, np.ndarray)]

    wanted = memory(kernel.module, ptxsim.run)
    assert memory(after, ptxsim.run) == wanted
    assert memory(after, ptxsim.launch) == wanted
    ctas = [(0, 0, 0), (launch.grid[0] - 1, 0, 0)]
    assert memory(after, run_reference, ctas=ctas) == memory(kernel.module, run_reference, ctas=ctas)


@pytest.mark.parametrize("passes", ["", AFTER], ids=["demote", "after"])
def test_reference_kernels(shared: Path, passes: str) -> None:
    """Their results are a C++ program's."""
    modules: dict[tuple[str, int], Module] = {}
    for launch in launches(shared):
        shape = launch.data
        name, threads = shape["kernel"], int(np.prod(shape["block"]))
        if name not in REFERENCE_KERNELS:
            continue
        if (name, threads) not in modules:
            alone = without_other_kernels(reference_module(shared).kernels[name])
            modules[name, threads] = demoted(alone, f"count=3,threads={threads}", passes)
        arguments, buffers = launch.arguments()
        kernel = modules[name, threads].kernels[name]
        dynamic = shape["dynamic_shared_bytes"]
        ptxsim.run(
            kernel,
            shape["grid"],
            shape["block"],
            arguments,
            dynamic_shared=dynamic,
            constants=launch.constants(),
        )
        launch.check(buffers)


REFUSED = {"base_sm50.ptx"}
"""A name that shares a unit is first written under a guard."""


@needs_ptxas
def test_ptxas_takes_the_corpus(shared: Path) -> None:
    for path in sorted((shared / "corpus").rglob("*.ptx")):
        if path.stat().st_size > 60_000:
            continue
        module = rewrite(parse(path.read_bytes(), path.name), "allocate").module
        if path.name in REFUSED:
            with pytest.raises(PtxError, match="not physical for certain"):
                rewrite(module, "demote{count=8,threads=1024}")
            continue
        text = rewrite(module, f"demote{{count=8,threads=1024}}{AFTER}").module.source.text
        target = re.search(r"^\s*\.target\s+sm_(\d+)(\w?)", text, re.MULTILINE)
        assert target is not None
        assert ptxas_errors(text, f"sm_{max(int(target[1]), 75)}{target[2]}") == {}, path.name
