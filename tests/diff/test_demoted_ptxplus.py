"""Kernels of PTXPlus with registers in shared memory leave what they left before: every row by hand, all samples."""

from dataclasses import replace
from pathlib import Path

import pytest
from hand_kernels import files, hand_kernels
from kernels import sample
from random_ptx.demotions import CHANGED, ORDERS

from ptxsim import functional_run as functional
from ptxtool.ir.nodes import Function
from ptxtool.passes.demotion.kernel_demotion import needed_registers
from ptxtool.passes.pipeline import rewrite
from ptxtool.runs.functional_runs import run_functional
from ptxtool.runs.launch_runs import run_launch
from ptxtool.runs.pass_context import pass_context

PTXPLUS_FILES = [p for p in files() if p.suffix == ".ptxplus"]
OF_SHARED_MEMORY = ":dynamic-shared=64"
"""Rows that access what they do not declare have no more of it."""
SAMPLES = (
    *("backprop", "bfs", "btree", "gaussian", "hotspot", "layerforward", "lib"),
    *("mri-q", "mum", "nn", "reduction", "sgemm", "stencil"),
)


def jumps_anywhere(kernel: Function) -> bool:
    return any(x.opcode.base == "brx" and len(x.operands) == 1 for x in kernel.instructions)


@pytest.mark.parametrize("passes", ["", CHANGED], ids=["demote", "after"])
@pytest.mark.parametrize("path", PTXPLUS_FILES, ids=lambda p: p.name)
def test_every_row_computes_the_same(path: Path, passes: str) -> None:
    """As many registers as can be demoted: halves, pairs, post-increments, conditions."""
    kernels = [k for k in hand_kernels(path) if k.semantics == "hardware" and not jumps_anywhere(k.kernel)]
    for name in {k.kernel.name for k in kernels}:
        pipeline = f"demote:count=255:threads=128{OF_SHARED_MEMORY}{passes}".replace(",", f":kernel={name},")
        after = rewrite(kernels[0].kernel.module, f"{pipeline}:kernel={name}").module.kernels[name]
        again = [replace(k, kernel=after) for k in kernels if k.kernel.name == name]
        wrong = [line for kernel in again for line in kernel.differences(functional.run)]
        assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("passes", ["", CHANGED], ids=["demote", "after"])
@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name: str, passes: str) -> None:
    """All that can be demoted, with the launch's CTAs and shared memory, which some samples do not declare."""
    launch, kernel = sample(name)
    context = pass_context(kernel.module, launch)
    for pipeline in (
        f"demote:count=255:rule=conflicts{passes}",
        f"demote:count=255:rule=frequency{passes},compact",
    ):
        result = rewrite(kernel.module, pipeline, context=context)
        assert "registers demoted" in result.remarks[0].message
        after = result.module.kernels[kernel.name]
        assert run_functional(after, launch).problems == ()


@pytest.mark.slow
def test_any_passes_in_any_order() -> None:
    """In both runs; after each pass a thread needs as many registers at most."""
    launch, kernel = sample("nn")
    context = pass_context(kernel.module, launch)
    demoted = rewrite(kernel.module, "demote:count=255", context=context).module
    for order in ORDERS:
        module, need = demoted, needed_registers(demoted.kernels[kernel.name])
        for one in order.split(",")[1:]:
            module = rewrite(module, one).module
            assert needed_registers(module.kernels[kernel.name]) <= need, order
        after = module.kernels[kernel.name]
        assert run_functional(after, launch).problems == (), order
        assert run_launch(after, launch).problems == (), order


@pytest.mark.slow
@pytest.mark.parametrize("passes", ["", CHANGED], ids=["demote", "after"])
@pytest.mark.parametrize("name", ["layerforward", "nn", "reduction"])
def test_samples_with_time(name: str, passes: str) -> None:
    """Declared shared memory, none, and dynamic."""
    launch, kernel = sample(name)
    context = pass_context(kernel.module, launch)
    result = rewrite(kernel.module, f"demote:count=4{passes},compact", context=context)
    assert run_launch(result.module.kernels[kernel.name], launch).problems == ()
