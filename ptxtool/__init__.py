"""A toolchain for GPU assembly: parse, analyse, rewrite and simulate PTX and PTXPlus.

    module = ptxtool.load("kernel.ptxplus")
    kernel = module.kernels["name"]
    print(ptxtool.first_use(kernel))

The names are those of `ptxtool.api`, imported when first used: `import ptxtool` is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxtool.api import *  # noqa: F403

# The first import of a subpackage binds its name in this module. The subpackages that share their name with a public
# function are imported first, and the names unbound: from then on they are the functions, whatever is imported later.
for _name in ("cfg", "emit", "isa", "parse", "sweep"):
    import_module(f"ptxtool.{_name}")
    del globals()[_name]

_PUBLIC = """
Configuration PassResult PtxError Remark TextEdit
load parse emit fmt save check check_recovered kernel
first_use shared_use liveness pressure register_need register_counts
cfg dominators post_dominators reconvergence_points loops uniformity diff gate
gpu gpus fitting_gpu samples
occupancy switched_occupancy unified_split register_curve demotion_targets static_scratchpad
isa overhead
rewrite prove write_vectors read_vectors load_launch load_recording
run simulate run_application run_sequence simulate_sequence run_recording simulate_recording
page compare compare_schemes compare_recording compare_recording_schemes tune sweep reproduce load_sweep plot
""".split()  # noqa: SIM905
"""The names of `ptxtool.api`, which is imported on first use (a test compares the two)."""

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name != "api" and name not in __all__:
        raise AttributeError(f"module 'ptxtool' has no attribute '{name}'")
    api = import_module("ptxtool.api")
    value = globals()[name] = api if name == "api" else getattr(api, name)
    return value


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
