"""What torch calls when it is imported sets Inductor's defaults, under `exec` alone. Skipped without torch and Triton.

Whole scripts: `tests/applications/test_python_scripts.py`.
"""

from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

from ptxtool.applications.triton_backend.inductor import use_triton


def test_defaults_of_inductor(monkeypatch: pytest.MonkeyPatch) -> None:
    config: Any = import_module("torch._inductor.config")
    benchmarking: Any = import_module("torch._inductor.runtime.benchmarking")
    before = dict(benchmarking._BENCHMARK_DISPATCH)
    monkeypatch.setattr(benchmarking, "_BENCHMARK_DISPATCH", dict(before))
    with config.patch(cpu_backend="cpp", compile_threads=2):
        monkeypatch.delenv("PTXTOOL_EXEC", raising=False)
        use_triton()
        assert (config.cpu_backend, config.compile_threads, benchmarking._BENCHMARK_DISPATCH) == (
            "cpp",
            2,
            before,
        )
        monkeypatch.setenv("PTXTOOL_EXEC", "name")
        use_triton()
        assert (config.cpu_backend, config.compile_threads) == ("triton", 1)
        changed = {
            name for name, call in benchmarking._BENCHMARK_DISPATCH.items() if call is not before[name]
        }
        assert changed == {"cpu"}
