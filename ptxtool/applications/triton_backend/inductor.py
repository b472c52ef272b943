"""`torch.compile` under `ptxtool exec`: Inductor generates Triton kernels for tensors on the CPU, which are simulated.

torch calls `use_triton` when it is imported, by an entry point. Inductor then has the CPU in the place of a GPU: it
chooses among configurations by simulated time, and compiles in the script's own process, which has the device.
Operations for which Inductor generates no kernel (products of matrices, convolutions) are torch's own, on the CPU.

Reference: pytorch, torch/__init__.py (`_import_device_backends`), torch/_inductor/config.py (`cpu_backend`) and
runtime/benchmarking.py (`register_benchmarker`).
"""

import os
from importlib import import_module
from typing import Any


def use_triton() -> None:
    """Set Inductor's defaults, where this process runs under `ptxtool exec`."""
    if "PTXTOOL_EXEC" not in os.environ:
        return
    config: Any = import_module("torch._inductor.config")
    config.cpu_backend = "triton"
    config.compile_threads = 1
    benchmarking: Any = import_module("torch._inductor.runtime.benchmarking")
    benchmarking.register_benchmarker("cpu", _milliseconds, override=True)


def _milliseconds(_: Any, call: Any, **__: Any) -> Any:
    return import_module("triton").runtime.driver.active.get_benchmarker()(call)
