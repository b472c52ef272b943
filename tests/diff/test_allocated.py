"""Kernels with physical registers leave what they leave with virtual ones: allocated, spilled, compacted.

What runs is every kernel worked out by hand (a kernel per row of the instruction table), the PTX sample, and what nvcc,
Numba and Triton compiled (skipped where the corpus is absent), whose tests stand in other files: they are run once more
on rewritten modules. Names that share a place spoil one another here (`clobber.py`), and ptxas takes all texts.
`tests/programs` do the same for programs in CUDA.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from allocated import HOW, How, least, physical
from clobber import clobbered
from hand_kernels import files, hand_kernels
from kernels import sample
from ptxas import needs_ptxas, ptxas_errors
from reference.interpreter import run_reference
from reference_kernels import ReferenceLaunch, launch_named, launches
from reference_kernels import kernels as reference_module
from scripts import module_of

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

Run = Callable[..., Any]
WITH_VECTOR_REGISTERS = "vector_registers.ptx"


# ---- by hand: every row of the instruction table


def jumps_anywhere(kernel: Function) -> bool:
    """PTXPlus: whether a kernel has an indirect branch without targets."""
    return any(x.opcode.base == "brx" and len(x.operands) == 1 for x in kernel.instructions)


@pytest.mark.parametrize(
    "path", [p for p in files() if p.name != WITH_VECTOR_REGISTERS], ids=lambda p: p.name
)
def test_every_row_computes_the_same(path: Path) -> None:
    """Compacted; and PTX in as few registers as can be."""
    kernels = [k for k in hand_kernels(path) if k.semantics == "hardware" and not jumps_anywhere(k.kernel)]
    module = kernels[0].kernel.module
    others = [k for k in module.kernels.values() if jumps_anywhere(k)]
    module = parse(splice(module.source.text, [TextEdit(k.start, k.end, "") for k in others]), path.name)
    if module.is_ptxplus:
        versions = [rewrite(module, "compact").module]
    else:
        tightest = rewrite(module, f"allocate{{max-regs={least(module)}}}").module
        versions = [physical(module, "compacted"), clobbered(tightest)]
    for after in versions:
        again = [replace(k, kernel=after.kernels[k.kernel.name]) for k in kernels]
        wrong = [line for kernel in again for line in kernel.differences(functional.run)]
        assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("pipeline", ["allocate", "compact"])
def test_registers_of_vector_type_are_refused(pipeline: str) -> None:
    module = hand_kernels(next(p for p in files() if p.name == WITH_VECTOR_REGISTERS))[0].kernel.module
    with pytest.raises(PtxError, match=r"E301.*vector type"):
        rewrite(module, pipeline)


def test_branches_to_unknown_places_are_refused() -> None:
    module = hand_kernels(next(p for p in files() if p.name == "control.ptxplus"))[0].kernel.module
    with pytest.raises(PtxError, match=r"E301.*jumps to an address that the text does not name"):
        rewrite(module, "compact")


# ---- the sample


@pytest.mark.parametrize("how", [*HOW, "compacted"])
def test_sample(how: How) -> None:
    launch, kernel = sample("saxpy")
    name, ctas = str(launch.kernel), [(0, 0, 0), (launch.grid[0] - 1, 0, 0)]

    def memory(module: Module, run: Run, **more: Any) -> list[bytes]:
        arguments = launch.arguments()
        run(module.kernels[name], launch.grid, launch.block, arguments, **more)
        return [a.tobytes() for a in arguments if isinstance(a, np.ndarray)]

    after = physical(kernel.module, how)
    assert memory(after, ptxsim.run) == memory(kernel.module, ptxsim.run)
    assert memory(after, run_reference, ctas=ctas) == memory(kernel.module, run_reference, ctas=ctas)


# ---- the corpus: reference kernels, whose results a C++ program computed


@cache
def _reference_module(shared: Path, how: How) -> Module:
    return physical(reference_module(shared), how)


@pytest.mark.parametrize("how", HOW)
def test_reference_kernels(shared: Path, how: How) -> None:
    for launch in launches(shared):
        _run_reference_kernel(shared, launch, ptxsim.run, how)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", ["fma_chain_w1", "fma_ilp_w1", "pointer_chase_w1"])
def test_reference_kernels_on_the_interpreter(shared: Path, name: str, how: How) -> None:
    _run_reference_kernel(shared, launch_named(shared, name), run_reference, how)


def _run_reference_kernel(shared: Path, launch: ReferenceLaunch, run: Run, how: How) -> None:
    arguments, buffers = launch.arguments()
    kernel, shape = _reference_module(shared, how).kernels[launch.data["kernel"]], launch.data
    dynamic = shape["dynamic_shared_bytes"]
    run(
        kernel, shape["grid"], shape["block"], arguments, dynamic_shared=dynamic, constants=launch.constants()
    )
    try:
        launch.check(buffers)
    except AssertionError as problem:
        raise AssertionError(f"{launch}: {problem}") from problem


# ---- the corpus: the tests of other files


_cuda = module_of(Path(__file__).with_name("test_corpus_cuda.py"))
_python = module_of(Path(__file__).with_name("test_corpus_kernels.py"))


@cache
def _corpus_module(path: Path, how: How) -> Module:
    return physical(parse(path.read_bytes(), path.name), how)


@pytest.fixture(params=[(build, how) for build in _cuda.BUILDS for how in HOW], ids="-".join)
def execute(request: pytest.FixtureRequest, shared: Path) -> Run:
    """What the tests of `test_corpus_cuda.py` run kernels with."""
    build, how = request.param
    module = _corpus_module(shared / "corpus" / "ptx" / "cuda" / f"own_kernels.{build}.ptx", how)

    def run(kernel: str, grid: Any, block: Any, args: list[Any], **more: Any) -> None:
        ptxsim.run(module.kernels[f"own_{kernel}"], grid, block, args, **more)

    return run


_MOST_TO_SPILL = 100_000
"""Bytes of the largest file that is spilled: much more takes too long to run."""


def _how(path: Path) -> How:
    return "spilled" if path.stat().st_size <= _MOST_TO_SPILL else "allocated"


_python.parse = lambda text, name: physical(parse(text, name), "spilled")
_python.triton_text = lambda path: _corpus_module(path, _how(path)).source.text
globals().update(
    {name: test for m in (_cuda, _python) for name, test in vars(m).items() if name.startswith("test_")}
)


# ---- ptxas


@needs_ptxas
@pytest.mark.parametrize("how", ["allocated", pytest.param("tight", marks=pytest.mark.slow)])
def test_ptxas_takes_the_corpus(shared: Path, how: str) -> None:
    """As many registers as it takes; in as few as can be, but for the largest files."""
    for path in sorted((shared / "corpus").rglob("*.ptx")):
        if how == "tight" and path.stat().st_size > _MOST_TO_SPILL:
            continue
        module = parse(path.read_bytes(), path.name)
        pipeline = f"allocate{{max-regs={least(module)}}}" if how == "tight" else "allocate"
        target = re.search(r"^\s*\.target\s+sm_(\d+)(\w?)", module.source.text, re.MULTILINE)
        assert target is not None
        arch = f"sm_{max(int(target[1]), 75)}{target[2]}"
        text = rewrite(module, pipeline).module.source.text
        assert ptxas_errors(text, arch) == {}, (path.name, pipeline)
