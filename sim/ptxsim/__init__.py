"""The streaming-multiprocessor simulator: `launch` executes a kernel exactly and times it cycle by cycle.

`run` only executes it, without time and quicker. A `Machine` runs several kernels in a row, with or without time, and
keeps memory and caches between them. `from_numba` and `from_triton` make kernels written in Python launchable on it,
and `simulate_triton` whole Triton scripts.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxsim.frontends.numba_kernels import from_numba as from_numba
    from ptxsim.frontends.triton_driver import simulate_triton as simulate_triton
    from ptxsim.frontends.triton_kernels import from_triton as from_triton
    from ptxsim.functional.tracing import Trace as Trace
    from ptxsim.functional.tracing import selection as selection
    from ptxsim.functional_run import FunctionalResult as FunctionalResult
    from ptxsim.functional_run import run as run
    from ptxsim.launch_options import LaunchOptions as LaunchOptions
    from ptxsim.launcher import launch as launch
    from ptxsim.machine import Machine as Machine
    from ptxsim.memory_image.fixed_memory import FixedMemory as FixedMemory
    from ptxsim.memory_image.tensor_maps import TensorMap as TensorMap
    from ptxsim.memory_image.texture_objects import Sampler as Sampler
    from ptxsim.memory_image.texture_objects import Surface as Surface
    from ptxsim.memory_image.texture_objects import Texture as Texture
    from ptxsim.observe.timeline import Timeline as Timeline
    from ptxsim.streams import Event as Event
    from ptxsim.streams import Stream as Stream
    from ptxsim.timing.dynamic_execution import DynamicExecution as DynamicExecution
    from ptxsim.timing.dynamic_execution import DynamicResult as DynamicResult
    from ptxtool.results.concurrency import ConcurrentResult as ConcurrentResult
    from ptxtool.results.simulation import SimResult as SimResult
    from ptxtool.results.simulation import StallPoint as StallPoint
    from ptxtool.results.simulation import Totals as Totals

_HOMES = {
    "ConcurrentResult": "ptxtool.results.concurrency",
    "DynamicExecution": "ptxsim.timing.dynamic_execution",
    "DynamicResult": "ptxsim.timing.dynamic_execution",
    "Event": "ptxsim.streams",
    "FixedMemory": "ptxsim.memory_image.fixed_memory",
    "FunctionalResult": "ptxsim.functional_run",
    "LaunchOptions": "ptxsim.launch_options",
    "Machine": "ptxsim.machine",
    "Sampler": "ptxsim.memory_image.texture_objects",
    "SimResult": "ptxtool.results.simulation",
    "StallPoint": "ptxtool.results.simulation",
    "Stream": "ptxsim.streams",
    "Surface": "ptxsim.memory_image.texture_objects",
    "TensorMap": "ptxsim.memory_image.tensor_maps",
    "Texture": "ptxsim.memory_image.texture_objects",
    "Timeline": "ptxsim.observe.timeline",
    "Totals": "ptxtool.results.simulation",
    "Trace": "ptxsim.functional.tracing",
    "from_numba": "ptxsim.frontends.numba_kernels",
    "from_triton": "ptxsim.frontends.triton_kernels",
    "launch": "ptxsim.launcher",
    "run": "ptxsim.functional_run",
    "selection": "ptxsim.functional.tracing",
    "simulate_triton": "ptxsim.frontends.triton_driver",
}
"""The public names and their modules, which are imported on first use (a test holds the types above to them)."""

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ptxsim' has no attribute '{name}'")
    if name in ("run", "launch", "Machine"):
        from ptxsim.base.notice import say_if_compiling

        say_if_compiling(name)
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
