"""Where machine code is kept on disk: a folder per compiled source, named by everything that its code depends on.

numba's disk cache hashes only the file of a function, so after an edit of a callee its callers would keep old code.
Here every source has a folder of its own, named by a hash of the source itself, of every source of ours that it
imports, directly or not, and of the versions of Python, numba and numpy. An edit compiles what depends on it.

A function called across a boundary (execute/boundary.py) is reached by its symbol and not linked in: the caller's
folder does not depend on it. Modules that only Python runs are left out too.
"""

import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from ptxsim.base.cache_root import cache_root

HOST_ONLY = (
    "ptxsim.base.options",
    "ptxsim.base.pool.record_pool",
    "ptxsim.base.sums",
    "ptxsim.concurrent_launcher",
    "ptxsim.execute.divergence",
    "ptxsim.execute.parts",
    "ptxsim.execute.progress",
    "ptxsim.frontends",
    "ptxsim.functional.cluster",
    "ptxsim.functional.interpreter",
    "ptxsim.functional.marking",
    "ptxsim.functional.threads",
    "ptxsim.functional.tracing",
    "ptxsim.functional.waiting",
    "ptxsim.functional_run",
    "ptxsim.launch_options",
    "ptxsim.launcher",
    "ptxsim.loaded_modules",
    "ptxsim.lowering",
    "ptxsim.machine",
    "ptxsim.memory_image",
    "ptxsim.observe",
    "ptxsim.prepare",
    "ptxsim.sanitizer.asynchronous.facts",
    "ptxsim.sanitizer.asynchronous.reports",
    "ptxsim.sanitizer.instrumentation",
    "ptxsim.sanitizer.prepare",
    "ptxsim.sanitizer.reports",
    "ptxsim.streams",
    "ptxsim.timing.banks",
    "ptxsim.timing.build",
    "ptxsim.timing.combinations",
    "ptxsim.timing.concurrent",
    "ptxsim.timing.core.plain_run",
    "ptxsim.timing.deadlock",
    "ptxsim.timing.drive",
    "ptxsim.timing.dynamic_execution",
    "ptxsim.timing.hotspots",
    "ptxsim.timing.livelock",
    "ptxsim.timing.machine_records",
    "ptxsim.timing.machine_state",
    "ptxsim.timing.memory.clock",
    "ptxsim.timing.memory.copied",
    "ptxsim.timing.memory.counts",
    "ptxsim.timing.run_record",
    "ptxsim.timing.simulation",
    "ptxsim.timing.workers.crew",
    "ptxsim.timing.workers.slices",
)
"""Modules and packages that no compiled function uses (a test checks this)."""

ACROSS_BOUNDARY = (
    "ptxsim.timing.core.reasons",
    "ptxsim.timing.timeline_events",
    "ptxsim.timing.memory.side.catch_up",
    "ptxsim.execute.bulk.copies",
    "ptxsim.execute.bulk.engines",
    "ptxsim.execute.calls",
    "ptxsim.execute.micro_operations",
    "ptxsim.execute.host",
    "ptxsim.sanitizer.asynchronous.note",
)
"""Modules from which other modules import only boundaries (a test checks this)."""

FACTS = {"ptxtool.isa.conditions": (), "ptxtool.isa.lanes": ("lanes.toml",)}
"""The modules of `ptxtool` that compiled code uses, and their data files (a test checks this)."""

_COMPILER = tuple(
    f"ptxsim.base.compiler.{name}"
    for name in ("numba_compiler", "branch_weights", "compiler_passes", "fixed_fields", "wide_types")
)
"""What makes all machine code, and is imported by name (base/jit.py)."""

_DATA = {**FACTS, "ptxsim.base.compiler.branch_weights": ("branch_weights.json",)}


def _numba_version() -> str:
    """The version of numba, which is not imported for it."""
    found = importlib.util.find_spec("numba")
    if found is None or found.origin is None:
        raise ImportError("numba is not installed")
    text = Path(found.origin).with_name("_version.py").read_text(encoding="utf-8")
    version = re.search(r'"version": "([^"]+)"', text)
    return version[1] if version else text


_IMPORT = re.compile(r"^[ \t]*(?:from (ptx[\w.]+) import (\([^)]*\)|.*)|import (ptx[\w.]+))", re.MULTILINE)
NUMBA_VERSION = _numba_version()
_VERSIONS = f"{sys.version}|{NUMBA_VERSION}|{np.__version__}"


def is_host_only(module: str) -> bool:
    """True for a module that no machine code depends on."""
    return any(module == host or module.startswith(f"{host}.") for host in HOST_ONLY)


def imported(text: str) -> Iterator[str]:
    """The names in a source's imports that may be modules of ours."""
    for source, names, module in _IMPORT.findall(text):
        yield source or module
        for name in re.findall(r"\w+", names):
            yield f"{source}.{name}"


@cache
def _path(module: str) -> Path | None:
    """The source of a module of ours; None if there is none of that name."""
    package, _, _ = module.partition(".")
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return None
    path = Path(found.submodule_search_locations[0]).joinpath(*module.split(".")[1:])
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((candidate for candidate in candidates if candidate.is_file()), None)


@cache
def _is_linked(module: str) -> bool:
    """True for a module whose code is linked into the modules that import it."""
    if module.startswith("ptxsim."):
        return not is_host_only(module) and module not in ACROSS_BOUNDARY and _path(module) is not None
    return module in FACTS


@cache
def _text(module: str) -> str:
    path = _path(module)
    assert path is not None
    beside = [path.parent / name for name in _DATA.get(module, ())]
    return "".join(each.read_text(encoding="utf-8") for each in [path, *beside])


@cache
def _imported_by(module: str) -> tuple[str, ...]:
    return tuple(name for name in imported(_text(module)) if _is_linked(name))


def closure(text: str) -> list[str]:
    """The modules of ours whose code is linked into a source's, without the source itself, by name."""
    found: set[str] = set()
    left = [name for name in imported(text) if _is_linked(name)]
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += _imported_by(module)
    return sorted(found)


@cache
def _digest(module: str) -> bytes:
    return hashlib.sha256(_text(module).encode()).digest()


def sources_of_text(text: str) -> str:
    """A hash of a source and of all sources of ours that its machine code depends on."""
    digest = hashlib.sha256(text.encode())
    for module in [*_COMPILER, *closure(text)]:
        digest.update(_digest(module))
    return digest.hexdigest()[:20]


@cache
def sources(module: str) -> str:
    """The same for an imported module, or one of ours."""
    file = getattr(sys.modules.get(module), "__file__", None)
    path = Path(file) if file else _path(module)
    return sources_of_text(path.read_text(encoding="utf-8") if path else module)


def folder_of_text(text: str) -> Path:
    """The folder of the machine code of a source."""
    return _folder(sources_of_text(text))


@cache
def folder(module: str) -> Path:
    """The folder of the machine code of an imported module, or of one of ours."""
    return _folder(sources(module))


def _folder(sources: str) -> Path:
    return cache_root() / hashlib.sha256(f"{_VERSIONS}|{sources}".encode()).hexdigest()[:20]
