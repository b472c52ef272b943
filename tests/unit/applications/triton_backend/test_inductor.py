"""What torch calls when it is imported sets Inductor's defaults, under `exec` alone. Skipped without torch and Triton.

Whole scripts: `tests/applications/test_python_scripts.py`.
"""

from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

from ptxtool.applications.triton_backend.inductor import name_operations, use_triton


def test_defaults_of_inductor(monkeypatch: pytest.MonkeyPatch) -> None:
    config: Any = import_module("torch._inductor.config")
    benchmarking: Any = import_module("torch._inductor.runtime.benchmarking")
    before = dict(benchmarking._BENCHMARK_DISPATCH)
    monkeypatch.setattr(benchmarking, "_BENCHMARK_DISPATCH", dict(before))
    modules: Any = import_module("torch._inductor.codecache").PyCodeCache
    monkeypatch.setattr(modules, "load_by_key_path", modules.load_by_key_path)
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


def test_operations_that_torch_computes(capfd: pytest.CaptureFixture[str]) -> None:
    """Comments name all operations of the graph, the head of a module those that it may use."""
    module = """
aten = torch.ops.aten
alloc_from_pool = torch.ops.inductor._alloc_from_pool
# %mm : call_function[target=torch.ops.aten.cos.default]
        extern_kernels.addmm(a, b, out=c)
        buf1 = torch.ops.aten.sort.stable(c)
"""
    name_operations(module)
    name_operations(module + "        extern_kernels.mm(a, b, out=c)\n")
    name_operations(module)
    assert capfd.readouterr().err.splitlines() == [
        "ptxtool exec: computed by torch on the CPU, not simulated: addmm, sort",
        "ptxtool exec: computed by torch on the CPU, not simulated: mm",
    ]
