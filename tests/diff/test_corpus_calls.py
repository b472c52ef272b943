"""Real PTX with calls: builds of one program agree, and what Numba and Triton print is what their source says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

BUILDS = ("sm75", "sm75.G", "cuda11.sm35", "sm90.lineinfo")  # .G: without optimisation, every helper a call


def kernel(shared: Path, folder: str, name: str, begin: str = "") -> Function:
    path = shared / "corpus" / "ptx" / folder / f"{name}.ptx"
    module = parse(path.read_bytes(), path.name)
    return next(k for n, k in module.kernels.items() if n.startswith(begin))


def test_builds_of_a_switch_with_calls_agree(shared: Path) -> None:
    given = np.random.default_rng(0).integers(0, 1 << 32, 1000, dtype=np.uint32)
    outputs: list[Any] = []
    for build in BUILDS:
        out = np.zeros(1000, np.uint32)
        ptxsim.run(kernel(shared, "cuda", f"own_kernels.{build}", "own_switch"), 8, 128, [given, out, 1000])
        outputs.append(out)
    assert all(np.array_equal(out, outputs[0]) for out in outputs)
    assert len(np.unique(outputs[0])) > 700


@pytest.mark.parametrize("build", BUILDS)
def test_printf_of_cuda(shared: Path, build: str) -> None:
    values = np.array([-2, -1, 0, 1] * 8, np.int32)
    result = ptxsim.run(kernel(shared, "cuda", f"own_kernels.{build}", "own_printf"), 1, 32, [values])
    expected = [f"neg {t} 1.500000\n" for t in range(32) if t % 4 < 2]
    assert result.printed == "".join(expected)


def test_print_of_numba(shared: Path) -> None:
    """`print("neg", i, x[i])`: the array comes as seven arguments, of which data, shape and strides matter."""
    values = np.array([5, -7, 0, -1], np.int32)
    arguments = [0, 0, 4, 4, values, 4, 4]
    result = ptxsim.run(kernel(shared, "numba", "printer.sm75"), 1, 4, arguments)
    assert result.printed == "neg 1 -7\nneg 3 -1\n"


def test_print_and_assert_of_triton(shared: Path) -> None:
    values = np.array([3, 4], np.int32)
    found = kernel(shared, "triton", "print_assert.sm75")
    result = ptxsim.run(found, 2, 128, [values, 2, np.zeros(1, np.uint8)])
    lines = result.printed.splitlines()
    assert len(lines) == 256
    for p, v in ((0, 3), (1, 4)):  # the first warp of each; thread 0 doubles the value before the others come
        assert lines[128 * p : 128 * p + 32] == [f"pid ({p}, 0, 0) idx () v: {v}"] * 32
    assert values.tolist() == [6, 8]
    with pytest.raises(PtxError, match=r"E413.*assertion 'neg' failed at .*trit\.py:80 in 'unknown'"):
        ptxsim.run(found, 1, 128, [np.array([-3], np.int32), 2, np.zeros(1, np.uint8)])
