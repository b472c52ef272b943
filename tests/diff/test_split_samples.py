"""The benchmarks with their last live ranges split into private registers leave identical memory on the reference."""

import numpy as np
import pytest
from kernels import sample
from reference.interpreter import run_reference

from ptxtool.ir.nodes import Module
from ptxtool.passes.pipeline import rewrite


@pytest.mark.parametrize(
    ("name", "share", "moved"),
    [
        ("sgemm", 50, "16 live ranges moved"),
        ("backprop", 60, "1 live range moved"),
        ("btree", 70, "1 value copied"),
    ],
)
def test_the_end_of_a_sample(name: str, share: int, moved: str) -> None:
    launch, kernel = sample(name)
    options = f"share={share},registers={launch.registers}"
    before = rewrite(kernel.module, "unroll-decls,reorder-decls{order=text}").module
    split = rewrite(before, f"split-tail-ranges{{{options}}}")
    assert split.remarks[0].message.startswith(moved)
    after = rewrite(split.module, f"release-registers{{{options}}}").module

    def memory(module: Module) -> list[bytes]:
        arguments = launch.arguments()
        run_reference(
            module.kernels[str(launch.kernel)],
            launch.grid,
            launch.block,
            arguments,
            launch.dynamic_shared,
            ctas=[(0, 0, 0)],
        )
        return [a.tobytes() for a in arguments if isinstance(a, np.ndarray)]

    assert memory(after) == memory(before)
