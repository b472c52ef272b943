"""Triton's compiler for NVIDIA, without its last stage: it compiles the PTX, and neither ptxas nor a GPU is needed.

Scripts compile for the target that the driver names, which Triton's own compiler takes. What `torch.compile` generates
for tensors on the CPU has the target "cpu": the class here takes that, and compiles for the driver's.

Reference: triton-lang, python/triton/backends/__init__.py (`_discover_backends`) and knobs.py (`PipelineStagesHook`);
pytorch, torch/_inductor/runtime/triton_heuristics.py (`_precompile_config`).
"""

from importlib import import_module
from typing import Any

from triton import knobs
from triton.backends.nvidia import compiler as nvidia


class Compiler(nvidia.CUDABackend):  # type: ignore[misc, unused-ignore]
    """For the target "cpu", which Triton's own compiler does not take."""

    def __new__(cls, target: Any) -> Any:
        """Triton's own compiler, for the driver's target."""
        runtime: Any = import_module("triton.runtime")  # which imports this module
        return nvidia.CUDABackend(runtime.driver.active.get_current_target())

    @staticmethod
    def supports_target(target: Any) -> bool:
        """Triton's own compiler takes all others."""
        return bool(target.backend == "cpu")


def keep_ptx(backend: Any = None, stages: Any = None, *_: Any) -> tuple[str, str] | None:
    """Triton's hook for the stages of its compiler; without arguments it asks for a key of its cache."""
    if stages is None:
        return "ptxtool", "ptxtool"
    stages["cubin"] = lambda ptx, metadata: ptx.encode()
    return None


knobs.runtime.add_stages_inspection_hook = keep_ptx
