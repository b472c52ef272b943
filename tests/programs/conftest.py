"""CUDA programs that run right: each a .cu file, its PTX (`build.py` makes it), and a test that compares with numpy.

A test that takes `execute` runs once for each target that its program is compiled for (`test_scan.py`: scan.cu) in
every way the simulator has: "run" (no time), "checked" (all checks on, and none may find anything), "launch" (timed);
those for sm_75 without time once more with their registers allocated, and with most of them spilled (`allocated.py`),
some also as PTXPlus ("lowered"). It calls `execute(kernel, grid, block, args)` as often as it likes.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from allocated import HOW, physical
from lowered import lowered

import ptxsim
import ptxtool
from ptxtool.ir.nodes import Module

HERE = Path(__file__).parent
CHECKS = ("memory", "init", "races", "barriers")
WAYS = ("run", "checked", "launch")
LOWERED = {
    *("fft", "hash_table", "interpreter", "mandelbrot", "pipeline", "queens", "scan", "search", "sort"),
    *("sparse", "stencil"),
}
"""Programs all of whose kernels for sm_75 are lowered to PTXPlus as well."""


@cache
def module(name: str, way: str = "run") -> Module:
    if way in HOW:
        return physical(module(name), way)
    return ptxtool.parse((HERE / name).read_text(encoding="utf-8"), name=name)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "execute" in metafunc.fixturenames:
        program = metafunc.module.__name__.rpartition(".test_")[2]
        names = sorted(p.name for p in HERE.glob(f"{program}.sm*.ptx"))
        cases = [(name, way) for name in names for way in WAYS]
        rewritten = (*HOW, "lowered") if program in LOWERED else HOW
        cases += [(name, way) for name in names if ".sm75." in name for way in rewritten]
        ids = [f"{name.split('.')[1]}-{way}" for name, way in cases]
        metafunc.parametrize("execute", cases, ids=ids, indirect=True)


@pytest.fixture
def execute(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs a kernel of the program on a grid of CTAs; arrays are updated in place."""
    name, way = request.param

    def run(kernel: str, grid: Any, block: Any, args: Sequence[Any], **more: Any) -> Any:
        function = module(name, way if way in HOW else "run").kernels[kernel]
        if way == "lowered":
            return ptxsim.run(lowered(function), grid, block, args, **more)
        if way == "launch":
            return ptxsim.launch(function, grid, block, args, **more)
        if way != "checked":
            return ptxsim.run(function, grid, block, args, **more)
        result = ptxsim.run(function, grid, block, args, check=CHECKS, **more)
        assert not result.problems, "\n".join(str(d) for d in result.problems)
        return result

    return run
