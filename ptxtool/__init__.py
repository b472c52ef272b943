"""A toolchain for GPU assembly: parse, analyse, rewrite and simulate PTX and PTXPlus.

    module = ptxtool.load("kernel.ptxplus")
    kernel = module.kernels["name"]
    print(ptxtool.first_use(kernel))

The functions are those of `ptxtool.api`. They import modules when they are called: `import ptxtool` is cheap.
"""

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

# The first import of a subpackage binds its name in this module. The subpackages that share their name with a public
# function are imported first, so that the functions imported after them have the names for good.
for _name in ("cfg", "emit", "isa", "parse", "sweep"):
    import_module(f"ptxtool.{_name}")

from ptxtool import api  # noqa: E402

if TYPE_CHECKING:
    from ptxtool.api import *  # noqa: F403
    from ptxtool.base.diag import PtxError as PtxError
    from ptxtool.results.sweeps import Configuration as Configuration

_FUNCTIONS = [
    name for name, value in vars(api).items() if isinstance(value, FunctionType) and not name.startswith("_")
]
globals().update({name: getattr(api, name) for name in _FUNCTIONS})
_TYPES = {"Configuration": "ptxtool.results.sweeps", "PtxError": "ptxtool.base.diag"}
"""Public types and their modules, which are imported on first use."""

__all__ = sorted([*_FUNCTIONS, *_TYPES])


def __getattr__(name: str) -> Any:
    if name not in _TYPES:
        raise AttributeError(f"module 'ptxtool' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_TYPES[name]), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
