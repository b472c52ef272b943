"""Calls that stop the optimiser: one compiled function reached by its symbol instead of being linked into its callers.

numba links a callee's whole code into every caller and optimises it again there, level after level: with the lane
operations below the cycle loop that would cost as much compile time once more per level. Across a boundary a
function is compiled once, its address registered under a name of our own (`machine_code.define`), and callers declare
that name. The module that defines the boundary must be imported before such a caller is loaded, which holds because the
caller imports it. What takes records of SMs has a second signature, for wide ones, which only a run on these compiles.
"""

from functools import cache
from typing import Any

from ptxsim.base import machine_code
from ptxsim.base.jit import JIT_DISABLED, for_records, njit
from ptxsim.base.later import Function, Later

_for_wide: list[tuple[str, Function]] = []


class Boundary(Later):
    """A function as one that other compiled functions call by its symbol."""

    def __init__(self, symbol: str, function: Function, wide: Any):
        self.symbol, self.function, self.wide = symbol, function, wide
        super().__init__(self._call)

    def _call(self) -> Any:
        from ptxsim.base.compiler import numba_compiler

        return numba_compiler.call_across(
            self.symbol, self.function.signature, self.wide, machine_code.define
        )


def boundary(name: str, function: Any, wide: Any = None, part: str = "") -> Any:
    """`function`, which has one explicit signature, for other compiled functions.

    `wide`: its signature for calls whose first argument is a wide record; `compile_wide` compiles it for these.
    `part`: what of a program needs it (execute/parts.py), if not all do.
    """
    if JIT_DISABLED:
        return function
    symbol = f"ptxsim_{name}"
    machine_code.declare(symbol, function, part)
    if wide is not None:
        _for_wide.append((f"{symbol}_wide", for_records(njit(wide)(function.py_func), "wide")))
    return Boundary(symbol, function, wide)


@cache
def compile_wide() -> None:
    """Compile the functions that have a signature for wide records: before a loop over these is compiled or loaded."""
    for symbol, function in _for_wide:
        machine_code.declare(symbol, function)
