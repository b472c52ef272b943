"""`LaunchOptions`: one value for `launch`, `run`, `Machine` and the toolchain, and the same options as keywords."""

import ast
import dataclasses
import inspect
import subprocess
import sys
from itertools import pairwise
from typing import Any, get_type_hints

import numpy as np
import pytest

import ptxsim
import ptxtool
from ptxsim.functional.tracing import Trace
from ptxsim.launch_options import LaunchKeywords, LaunchOptions, RunKeywords
from ptxsim.memory_image.fixed_memory import FixedMemory
from ptxsim.observe.timeline import Timeline
from ptxsim.timing.drive import Progress
from ptxsim.timing.dynamic_execution import DynamicExecution
from ptxsim.timing.schedulers import Policy
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

TYPES = {
    "Trace": Trace,
    "Timeline": Timeline,
    "Progress": Progress,
    "DynamicExecution": DynamicExecution,
    "Policy": Policy,
    "FixedMemory": FixedMemory,
}
IDLE = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry idle(.param .u64 out)\n{\nret;\n}\n"


@pytest.fixture
def kernel() -> Any:
    return ptxtool.parse(IDLE).kernels["idle"]


def out() -> list[Any]:
    return [np.zeros(32, np.uint32)]


def test_the_keywords_are_those_of_the_options() -> None:
    expected = get_type_hints(LaunchOptions, localns=TYPES)
    launch, run = (get_type_hints(keywords, localns=TYPES) for keywords in (LaunchKeywords, RunKeywords))
    assert launch | run == expected
    assert not LaunchKeywords.__required_keys__ | RunKeywords.__required_keys__


def test_every_option_is_explained() -> None:
    body = ast.parse(inspect.getsource(LaunchOptions)).body[0].body  # type: ignore[attr-defined]
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign):
            assert isinstance(text, ast.Expr), ast.unparse(field)


def test_options_and_keywords_are_the_same(kernel: Any) -> None:
    options = LaunchOptions(gpu="gtx480", scheduler="gto", registers=40)
    by_options = ptxsim.launch(kernel, 2, 32, out(), options=options)
    assert by_options == ptxsim.launch(kernel, 2, 32, out(), gpu="gtx480", scheduler="gto", registers=40)
    assert (by_options.gpu, by_options.scheduler, by_options.registers) == ("gtx480", "gto", 40)
    changed = ptxsim.launch(kernel, 2, 32, out(), options=options, registers=8)
    assert (changed.scheduler, changed.registers) == ("gto", 8)


def test_the_options_of_a_machine_and_of_its_launches(kernel: Any) -> None:
    machine = ptxsim.Machine("gtx480", scheduler="gto")
    assert machine.launch(kernel, 1, 32, out()).scheduler == "gto"
    assert machine.launch(kernel, 1, 32, out(), scheduler="lrr").scheduler == "lrr"
    own = machine.launch(kernel, 1, 32, out(), options=LaunchOptions(registers=9))
    assert (own.gpu, own.scheduler, own.registers) == ("gtx480", machine.gpu.scheduler, 9)
    assert ptxsim.Machine(options=LaunchOptions(gpu="gtx480")).gpu is machine.gpu
    for refused in ({"gpu": "gtx480"}, {"options": LaunchOptions(gpu="tesla-c2050-16k")}):
        with pytest.raises(PtxError, match=r"E401.*a GPU for one launch of a machine"):
            machine.launch(kernel, 1, 32, out(), **refused)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("function", "option"),
    [("launch", {"check": "all"}), ("run", {"scheduler": "gto"}), ("run", {"gpu": "gtx480"})],
)
def test_an_option_of_the_other_function_is_refused(
    kernel: Any, function: str, option: dict[str, Any]
) -> None:
    other = "run" if function == "launch" else "launch"
    message = f"(?s)E401.*ptxsim.{function} has no option '{next(iter(option))}'.*ptxsim.{other}"
    with pytest.raises(PtxError, match=message):
        getattr(ptxsim, function)(kernel, 1, 32, out(), **option)
    with pytest.raises(PtxError, match=message):
        getattr(ptxsim, function)(kernel, 1, 32, out(), options=LaunchOptions(**option))
    with pytest.raises(TypeError, match="speed"):
        getattr(ptxsim, function)(kernel, 1, 32, out(), speed=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dynamic_shared": None}, "E401.*dynamic_shared = None"),
        ({"stack_bytes": 1 << 20}, "E401.*stack_bytes = 1048576.*at most 524288 is possible"),
        ({"heap_bytes": 8}, "E401.*heap_bytes = 8.*at least 64"),
        ({"max_instructions": 0}, "E401.*max_instructions = 0"),
        ({"registers": True}, "E401.*registers = True"),
        ({"scratchpad": -1}, "E401.*scratchpad = -1"),
        ({"share_scratchpad": 100}, "E502.*share_scratchpad = 100"),
        ({"ptxplus_semantics": "nvidia"}, "E502.*PTXPlus has no semantics 'nvidia'"),
        ({"scheme": "finreg"}, "E502.*no register scheme named 'finreg'"),
        ({"scheme": "none", "switching": "none"}, "E401.*'scheme' and 'switching' are two names"),
        ({"switching": "finreg"}, "E502.*no register scheme named 'finreg'.*did you mean 'finereg'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_options_check_themselves(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PtxError, match=f"(?s){message}"):
        LaunchOptions(**options)


def test_options_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        LaunchOptions().registers = 3  # type: ignore[misc]


def test_a_run_without_time_imports_no_timing_model() -> None:
    code = (
        "import sys, numpy, ptxsim, ptxtool\n"
        f"kernel = ptxtool.parse({IDLE!r}).kernels['idle']\n"
        "ptxsim.run(kernel, 1, 32, [numpy.zeros(32, numpy.uint32)], options=ptxsim.LaunchOptions(check='all'))\n"
        "print(*(name for name in sys.modules if name.startswith('ptxsim.timing')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_package_shows_its_api_and_nothing_else() -> None:
    assert [name for name in dir(ptxsim) if not name.startswith("__")] == sorted(ptxsim.__all__)


@pytest.mark.parametrize("function", [ptxsim.launch, ptxsim.run])
def test_the_variables_of_the_module_after_a_run(function: Any) -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 g[3];\n.const .u32 c = 7;\n"
    body = ".visible .entry k()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 258;\nst.global.u32 [g+4], %r1;\nret;\n}\n"
    found: dict[str, Any] = {}
    function(parse(text + body).kernels["k"], 1, 1, variables=found)
    assert {name: values.tolist() for name, values in found.items()} == {
        "g": [0] * 4 + [2, 1, 0, 0] + [0] * 4
    }
