"""A toolchain for GPU assembly: parse, analyse, rewrite and simulate PTX and PTXPlus.

    module = ptxtool.load("kernel.ptxplus")
    kernel = module.kernels["name"]
    print(ptxtool.first_use(kernel))

The functions are those of `ptxtool.api`, imported when first used: `import ptxtool` itself costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxtool.api import compare as compare
    from ptxtool.api import diff as diff
    from ptxtool.api import emit as emit
    from ptxtool.api import first_use as first_use
    from ptxtool.api import fmt as fmt
    from ptxtool.api import liveness as liveness
    from ptxtool.api import load as load
    from ptxtool.api import load_launch as load_launch
    from ptxtool.api import loops as loops
    from ptxtool.api import occupancy as occupancy
    from ptxtool.api import overhead as overhead
    from ptxtool.api import parse as parse
    from ptxtool.api import pressure as pressure
    from ptxtool.api import read_vectors as read_vectors
    from ptxtool.api import reconvergence_points as reconvergence_points
    from ptxtool.api import rewrite as rewrite
    from ptxtool.api import run as run
    from ptxtool.api import save as save
    from ptxtool.api import simulate as simulate
    from ptxtool.api import write_vectors as write_vectors
    from ptxtool.base.diag import PtxError as PtxError
    from ptxtool.results.sweeps import Configuration as Configuration

_HOMES = {
    **dict.fromkeys(
        (
            "compare",
            "diff",
            "first_use",
            "fmt",
            "liveness",
            "load",
            "load_launch",
            "loops",
            "occupancy",
            "overhead",
            "pressure",
            "read_vectors",
            "reconvergence_points",
            "rewrite",
            "run",
            "save",
            "simulate",
            "write_vectors",
        ),
        "ptxtool.api",
    ),
    "Configuration": "ptxtool.results.sweeps",
    "PtxError": "ptxtool.base.diag",
}
_CALLABLE_PACKAGES = ("emit", "parse")  # the function has its package's name, and the package can be called
_MODULES = ("api",)

__all__ = [*sorted(_HOMES), *_CALLABLE_PACKAGES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _CALLABLE_PACKAGES or name in _MODULES:
        return import_module(f"ptxtool.{name}")
    raise AttributeError(f"module 'ptxtool' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
