"""numba's passes without their checks: the same results as with all of numba's own, and each call resolved once."""

import operator
import random
from typing import Any

import numba
import pytest
from numba import types
from numba.core.registry import cpu_target

from ptxsim.base import jit
from ptxsim.base.compiler import compiler_passes

pytestmark = pytest.mark.skipif(jit.JIT_DISABLED, reason="nothing is compiled")


def _collatz(n, most):  # type: ignore[no-untyped-def]
    """Loops, early returns, variables with several definitions."""
    steps, largest = 0, n
    while n != 1:
        if steps == most:
            return -largest
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        for k in range(3):
            if k == steps % 3:
                continue
            largest = max(largest, n + k)
        steps += 1
    found = 0.5 if steps > 20 else steps
    return largest + int(2 * found)


def test_the_results_are_those_of_numba() -> None:
    ours, numbas = jit.uncached(_collatz), numba.njit(_collatz)
    choose = random.Random(1)
    for _ in range(300):
        arguments = choose.randrange(1, 10_000), choose.randrange(200)
        assert ours(*arguments) == numbas(*arguments) == _collatz(*arguments)


def test_the_passes_are_numbas_own_but_for_two() -> None:
    names = [each.__name__ for each, _ in compiler_passes.Passes(_State()).passes]
    assert "NopythonTypeInference" in names
    assert "NativeLowering" in names
    assert not {"NopythonRewrites", "IRLegalization"} & {*names}


class _State(dict):  # type: ignore[type-arg]
    """What numba's pass builder looks at."""

    class flags:
        force_pyobject = no_rewrites = False
        enable_ssa = True

        class auto_parallel:
            enabled = False

    func_ir = None


def test_a_call_is_resolved_once_for_the_same_types(monkeypatch: pytest.MonkeyPatch) -> None:
    context = cpu_target.typing_context
    context.refresh()
    add = context.resolve_value_type(operator.add)
    asked: list[Any] = []

    def counted(function, context, arguments, keywords):  # type: ignore[no-untyped-def]
        asked.append(arguments)
        return original(function, context, arguments, keywords)

    original = compiler_passes._call_type
    monkeypatch.setattr(compiler_passes, "_call_type", counted)
    monkeypatch.setattr(compiler_passes, "_known", {})
    whole, real = (types.int64, types.int64), (types.float32, types.float32)
    for arguments in (whole, real, whole, real):
        found = compiler_passes.call_type(add, context, arguments, {})
        assert found == original(add, context, arguments, {})
    assert asked == [whole, real]
