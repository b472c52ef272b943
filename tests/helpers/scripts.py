"""Python files that lie beside the package, as modules: for tests of what they have."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from checkout import CHECKOUT

BENCHMARKS = CHECKOUT / "benchmarks"


def module_of(path: Path) -> Any:
    """Run a file as the module of its name."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module: ModuleType = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
