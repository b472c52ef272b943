"""The streaming-multiprocessor simulator: `launch` runs a kernel functionally exactly and times it cycle by cycle."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxsim.launcher import launch
    from ptxsim.stats import SimResult, StallPoint

__all__ = ["SimResult", "StallPoint", "launch"]

_HOMES = {"launch": "ptxsim.launcher", "SimResult": "ptxsim.stats", "StallPoint": "ptxsim.stats"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ptxsim' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
