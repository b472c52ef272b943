"""Original and rewritten samples leave identical memory on the reference interpreter."""

import numpy as np
import pytest
from kernels import sample
from reference.interpreter import run_reference

from ptxtool.ir.nodes import Module
from ptxtool.passes.pipeline import rewrite

PIPELINES = (
    "unroll-decls",
    "unroll-decls,reorder-decls{order=text}",
    "unroll-decls,reorder-decls{order=cfg}",
    "unroll-decls,reorder-decls{order=late,share=50},delay-first-use{share=50},release-registers{share=50}",
    "unroll-decls,hoist-last-access{share=90,registers=63}",
)


@pytest.mark.parametrize("name", ["sgemm", "hotspot", "reduction", "saxpy"])
def test_rewriting_changes_no_result(name: str) -> None:
    launch, kernel = sample(name)

    def memory(module: Module) -> tuple[list[bytes], tuple[int, int]]:
        arguments = launch.arguments()
        found = run_reference(
            module.kernels[str(launch.kernel)],
            launch.grid,
            launch.block,
            arguments,
            launch.dynamic_shared,
            ctas=[(0, 0, 0), (launch.grid[0] - 1, launch.grid[1] - 1, 0)],
        )
        counts = (found.warp_instructions, found.thread_instructions)
        return [a.tobytes() for a in arguments if isinstance(a, np.ndarray)], counts

    module = kernel.module
    original = memory(module)
    for pipeline in PIPELINES:
        result = rewrite(module, pipeline)
        assert result.module is not module
        assert memory(result.module) == original, pipeline
