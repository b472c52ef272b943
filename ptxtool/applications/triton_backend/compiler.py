"""The compiler that a Triton backend must have: none of its own, because Triton's for NVIDIA compiles the PTX.

The stage of that compiler which would make machine code keeps the PTX instead: neither ptxas nor a GPU is needed.

Reference: triton-lang, python/triton/backends/__init__.py (`_discover_backends`) and knobs.py (`PipelineStagesHook`).
"""

from typing import Any

from triton import knobs
from triton.backends.nvidia import compiler as nvidia


class NoCompiler(nvidia.CUDABackend):  # type: ignore[misc, unused-ignore]
    """A backend's compiler for no target."""

    @staticmethod
    def supports_target(target: Any) -> bool:
        """Triton's own compiler takes the target that the driver names."""
        return False


def keep_ptx(backend: Any = None, stages: Any = None, *_: Any) -> tuple[str, str] | None:
    """Triton's hook for the stages of its compiler; without arguments it asks for a key of its cache."""
    if stages is None:
        return "ptxtool", "ptxtool"
    stages["cubin"] = lambda ptx, metadata: ptx.encode()
    return None


knobs.runtime.add_stages_inspection_hook = keep_ptx
