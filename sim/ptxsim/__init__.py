"""The streaming-multiprocessor simulator: `launch` runs a kernel functionally exactly and times it cycle by cycle.

`run` does the first half only, and quicker: what a kernel computes, without time. A `Machine` runs several kernels in
a row, with or without time, and keeps memory and caches between them. `from_numba` and `from_triton` make
kernels written in Python launchable on it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxsim.frontends.numba_kernels import from_numba
    from ptxsim.frontends.triton_kernels import from_triton
    from ptxsim.functional.tracing import Trace, selection
    from ptxsim.functional_run import FunctionalResult, run
    from ptxsim.launcher import launch
    from ptxsim.machine import Machine
    from ptxsim.memory_image.texture_objects import Sampler, Surface, Texture
    from ptxsim.observe.timeline import Timeline
    from ptxsim.timing.dynamic_execution import DynamicExecution, DynamicResult
    from ptxtool.results.simulation import SimResult, StallPoint, Totals

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
    "DynamicExecution": "ptxsim.timing.dynamic_execution",
    "DynamicResult": "ptxsim.timing.dynamic_execution",
    "FunctionalResult": "ptxsim.functional_run",
    "Machine": "ptxsim.machine",
    "Sampler": "ptxsim.memory_image.texture_objects",
    "SimResult": "ptxtool.results.simulation",
    "StallPoint": "ptxtool.results.simulation",
    "Surface": "ptxsim.memory_image.texture_objects",
    "Texture": "ptxsim.memory_image.texture_objects",
    "Timeline": "ptxsim.observe.timeline",
    "Totals": "ptxtool.results.simulation",
    "Trace": "ptxsim.functional.tracing",
    "from_numba": "ptxsim.frontends.numba_kernels",
    "from_triton": "ptxsim.frontends.triton_kernels",
    "launch": "ptxsim.launcher",
    "run": "ptxsim.functional_run",
    "selection": "ptxsim.functional.tracing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ptxsim' has no attribute '{name}'")
    from importlib import import_module

    if name in ("run", "launch", "Machine"):
        from ptxsim.base.notice import say_if_compiling

        say_if_compiling(name)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
