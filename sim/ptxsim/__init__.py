"""The streaming-multiprocessor simulator: `launch` runs a kernel functionally exactly and times it cycle by cycle.

`run` does the first half only, and quicker: what a kernel computes, without time. A `Machine` runs several kernels in
a row, with or without time, and keeps memory and caches between them. `from_numba` and `from_triton` make
kernels written in Python launchable on it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxsim.dynamic import DynamicExecution, DynamicResult
    from ptxsim.functional import FunctionalResult, run
    from ptxsim.launcher import launch
    from ptxsim.numba_kernels import from_numba
    from ptxsim.sequence import Machine
    from ptxsim.stats import SimResult, StallPoint
    from ptxsim.textures import Sampler, Surface, Texture
    from ptxsim.timeline import Timeline
    from ptxsim.totals import Totals
    from ptxsim.tracing import Trace, selection
    from ptxsim.triton_kernels import from_triton

__all__ = [
    "DynamicExecution",
    "DynamicResult",
    "FunctionalResult",
    "Machine",
    "Sampler",
    "SimResult",
    "StallPoint",
    "Surface",
    "Texture",
    "Timeline",
    "Totals",
    "Trace",
    "from_numba",
    "from_triton",
    "launch",
    "run",
    "selection",
]

_HOMES = {
    "DynamicExecution": "ptxsim.dynamic",
    "DynamicResult": "ptxsim.dynamic",
    "FunctionalResult": "ptxsim.functional",
    "Machine": "ptxsim.sequence",
    "Sampler": "ptxsim.textures",
    "SimResult": "ptxsim.stats",
    "StallPoint": "ptxsim.stats",
    "Surface": "ptxsim.textures",
    "Texture": "ptxsim.textures",
    "Timeline": "ptxsim.timeline",
    "Totals": "ptxsim.totals",
    "Trace": "ptxsim.tracing",
    "from_numba": "ptxsim.numba_kernels",
    "from_triton": "ptxsim.triton_kernels",
    "launch": "ptxsim.launcher",
    "run": "ptxsim.functional",
    "selection": "ptxsim.tracing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ptxsim' has no attribute '{name}'")
    from importlib import import_module

    if name in ("run", "launch", "Machine"):
        from ptxsim.notice import say_if_compiling

        say_if_compiling(name)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
