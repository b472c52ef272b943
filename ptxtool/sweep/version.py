"""Which simulator a result is from: a hash of every source and table that a simulated run depends on.

What rewrites kernels is left out, as the text that it gives is known; so is what only reports. The versions of numba
and numpy belong to it: they make the machine code and the random numbers of launch files.
"""

import hashlib
import importlib.metadata
import importlib.util
from functools import cache
from pathlib import Path

from ptxtool.base.resources import resource_dir

_LAYERS = ("base", "isa", "ir", "parse", "cfg", "analysis", "formats", "results")
"""The rooms of `ptxtool` that the simulator may use (a test of the architecture holds it to them)."""
_RUNNERS = ("runs/launch_runs.py", "runs/launch_lists.py", "runs/launch_inputs.py", "sweep/task.py")
"""What runs a launch."""
_SUFFIXES = (".py", ".toml", ".lark")


@cache
def simulator_version() -> str:
    """The hash, in hexadecimal."""
    digest = hashlib.sha256()
    for package in ("numba", "numpy"):
        digest.update(f"{package} {importlib.metadata.version(package)}\n".encode())
    for root, path in _files():
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:20]


def _files() -> list[tuple[Path, Path]]:
    """Every file that counts, with the folder that its name is relative to."""
    spec = importlib.util.find_spec("ptxsim")
    assert spec is not None
    assert spec.submodule_search_locations
    simulator = Path(spec.submodule_search_locations[0])
    toolchain = Path(__file__).resolve().parent.parent
    found = [(simulator, path) for path in simulator.rglob("*")]
    found += [(toolchain, path) for layer in _LAYERS for path in (toolchain / layer).rglob("*")]
    found += [(toolchain, toolchain / name) for name in _RUNNERS]
    found += [(resource_dir("grammars"), path) for path in resource_dir("grammars").rglob("*")]
    return sorted((root, path) for root, path in found if path.suffix in _SUFFIXES)
