"""Weights of branches: where LLVM gets them, for which functions, and how branches are counted."""

import json
from collections import Counter
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from ptxsim.base import jit
from ptxsim.base.compiler import branch_weights
from ptxsim.base.jit import types

pytestmark = pytest.mark.skipif(jit.JIT_DISABLED, reason="without compilation there is no code to lay out")


def doubled_until(a, b):  # type: ignore[no-untyped-def]
    if a < 1 or b > 90:
        return 0
    while a < b:
        a += a
    return a


NAME = f"{__name__}.doubled_until"
DIGEST = branch_weights._digest(doubled_until.__code__)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    known: dict[str, Any] = {}
    monkeypatch.setattr(branch_weights, "_known", lambda: known)
    return known


def compiled(function: FunctionType) -> Any:
    return jit.uncached(types.int64(types.int64, types.int64))(function)


def code(function: FunctionType) -> str:
    """LLVM's code of a compiled function."""
    (found,) = compiled(function).overloads.values()
    text: str = found.library.get_llvm_str()
    return text


def test_a_branch_has_the_weights_of_its_line_and_place(nothing_known: dict[str, Any]) -> None:
    """Line 3 is tested before the loop and in it. Of the two of line 1 LLVM makes one."""
    nothing_known[NAME] = {"digest": DIGEST, "3/2": [600_000, 700_000]}
    text = code(doubled_until)
    assert "i32 600001, i32 400001" in text
    assert "i32 700001, i32 300001" in text


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"digest": "of another text", "3/2": [600_000, 700_000]},
        {"digest": DIGEST, "3/3": [600_000, 700_000, 0], "2/1": [600_000]},
    ],
    ids=["not measured", "changed since", "no such line"],
)
def test_others_are_left_to_llvm(nothing_known: dict[str, Any], known: dict[str, Any]) -> None:
    nothing_known[NAME] = known
    assert "i32 600001" not in code(doubled_until)


def test_branches_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """1, 2, 4, 8: the loop's condition holds three times, then it does not."""
    counts = np.zeros((100, 2), np.int64)
    counted: dict[tuple[str, str, str, int], int] = {}
    monkeypatch.setattr(branch_weights, "counters", counts)
    monkeypatch.setattr(branch_weights, "counted", counted)
    assert compiled(doubled_until)(1, 5) == 8
    found: Counter[tuple[str, bool]] = Counter()
    for (function, digest, line, _), at in counted.items():
        if function == NAME:
            assert digest == DIGEST
            found += Counter({(line[:2], True): counts[at, 0], (line[:2], False): counts[at, 1]})
    assert found == {("1/", False): 2, ("3/", True): 3, ("3/", False): 1}


def test_most_functions_are_as_they_were_measured() -> None:
    """A function that has changed is compiled without weights, and the simulator gets slower."""
    known = json.loads(branch_weights.FILE.read_text(encoding="utf-8"))
    changed, n = [], 0
    for function, lines in known.items():
        module, name = function.rsplit(".", 1)
        if ".generated_" not in module:  # of functions that are written when they are compiled
            n += 1
            found = getattr(import_module(module), name)
            code = getattr(found, "py_func", found).__code__
            if branch_weights._digest(code) != lines["digest"]:
                changed.append(function)
    assert len(changed) < 0.2 * n, f"run benchmarks/measure_branches.py: {changed}"
