"""`torch.compile` under `ptxtool exec`: Inductor generates Triton kernels for tensors on the CPU, which are simulated.

torch calls `use_triton` when it is imported, by an entry point. Inductor then has the CPU in the place of a GPU: it
chooses among configurations by simulated time, and compiles in the script's own process, which has the device.
Operations for which Inductor generates no kernel (products of matrices, convolutions) are torch's own, on the CPU: a
note names each, where the module that Inductor writes around its kernels is loaded.

Reference: pytorch, torch/__init__.py (`_import_device_backends`), torch/_inductor/config.py (`cpu_backend`),
runtime/benchmarking.py (`register_benchmarker`) and codecache.py (`PyCodeCache`).
"""

import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

_OPERATION = re.compile(r"\bextern_kernels\.(\w+)\(|\btorch\.ops\.(?!inductor\b)\w+\.(\w+)[.(]")
_named: set[str] = set()


def use_triton() -> None:
    """Set Inductor's defaults, where this process runs under `ptxtool exec`."""
    if "PTXTOOL_EXEC" not in os.environ:
        return
    config: Any = import_module("torch._inductor.config")
    config.cpu_backend = "triton"
    config.compile_threads = 1
    benchmarking: Any = import_module("torch._inductor.runtime.benchmarking")
    benchmarking.register_benchmarker("cpu", _milliseconds, override=True)
    modules: Any = import_module("torch._inductor.codecache").PyCodeCache
    load = modules.load_by_key_path

    def load_and_name(key: str, path: str, *args: Any, **others: Any) -> Any:
        name_operations(Path(path).read_text("utf-8"))
        return load(key, path, *args, **others)

    modules.load_by_key_path = load_and_name


def name_operations(module: str) -> None:
    """Name, once each, the operations that a module of Inductor's leaves to torch."""
    lines = (line for line in module.splitlines() if not line.lstrip().startswith("#"))
    found = {name or other for line in lines for name, other in _OPERATION.findall(line)} - _named
    if found:
        _named.update(found)
        print(
            f"ptxtool exec: computed by torch on the CPU, not simulated: {', '.join(sorted(found))}",
            file=sys.stderr,
        )


def _milliseconds(_: Any, call: Any, **__: Any) -> Any:
    return import_module("triton").runtime.driver.active.get_benchmarker()(call)
