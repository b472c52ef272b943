"""PTXPlus from the converter of GPGPU-Sim against numpy: every run, with the meaning of hardware and of GPGPU-Sim.

The kernels use nothing of which the two have a different idea. Skipped where the corpus is absent.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.interpreter import run_reference

import ptxsim
from ptxtool.parse import parse

Execute = Callable[..., None]
CHECKS = ("memory", "init", "races", "barriers")
RANDOM = np.random.default_rng(20)


def checked(*args: Any, **more: Any) -> None:
    result = ptxsim.run(*args, check=CHECKS, **more)
    assert not result.problems, "\n".join(str(d) for d in result.problems)


WAYS: dict[str, Callable[..., Any]] = {
    "run": ptxsim.run,
    "checked": checked,
    "launch": ptxsim.launch,
    "reference": run_reference,
}


@pytest.fixture(params=[(w, s) for w in WAYS for s in ("hardware", "gpgpu-sim")], ids="-".join)
def execute(request: pytest.FixtureRequest, shared: Path) -> Execute:
    way, semantics = request.param

    def run(name: str, *args: Any, **more: Any) -> None:
        path = shared / "corpus" / "ptxplus" / f"{name}.ptxplus"
        (kernel,) = parse(path.read_bytes(), path.name).kernels.values()
        WAYS[way](kernel, *args, ptxplus_semantics=semantics, **more)

    return run


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("name", ["vectoradd_float", "vectoradd_float_multiblock"])
def test_vectors(execute: Execute, name: str) -> None:
    a, b, c = numbers(192), numbers(192), np.zeros(192, np.float32)
    execute(f"converted/{name}", 3, 64, [a, b, c])
    assert np.array_equal(c, a + b)


def test_nearest_neighbour(execute: Execute) -> None:
    places, distances = numbers(60, 2), np.zeros(64, np.float32)
    execute("converted/nn_euclid", (2, 1), 32, [places, distances, 60, 0.5, -0.25])
    np.testing.assert_allclose(distances[:60], np.hypot(0.5 - places[:, 0], -0.25 - places[:, 1]), rtol=1e-6)
    assert not distances[60:].any()


def test_product_of_matrices(execute: Execute) -> None:
    """Tiles of 32 x 32 in shared memory after the parameters, 0x30 and 0x1030; a constant cuts tid.y out of $r0."""
    a, b, c = numbers(64, 64), numbers(64, 64), np.zeros((64, 64), np.float32)
    constants = {"constant1_Z13MatrixMulCUDAPfS_S_ii": np.array([0x3FF], np.uint32)}
    more: dict[str, Any] = {"dynamic_shared": 0x2000, "constants": constants}
    execute("converted/matrixmul_shared", (2, 2), (32, 32), [c, a, b, 64, 64], **more)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def test_scalar_product(execute: Execute) -> None:
    """One warp: a tree of sums whose remainders come from a subroutine, by `callp`."""
    a, b = (RANDOM.integers(0, 1 << 20, 64).astype(np.uint32) for _ in "ab")
    a[32:] = 0
    c = np.zeros(64, np.uint32)
    execute("converted/scalar_product", 1, 32, [c, a, b, 32])
    assert c[0] == (a * b).sum(dtype=np.uint32)


def test_reduction_in_shared_memory(execute: Execute) -> None:
    values, sums = numbers(4 * 128), np.zeros(4, np.float32)
    execute("converted_handmade/hand_shared_reduce", 4, 128, [values, sums, 512], dynamic_shared=512)
    np.testing.assert_allclose(sums, values.reshape(4, 128).sum(1), rtol=1e-4, atol=1e-4)


def test_a_loop_that_breaks(execute: Execute) -> None:
    values = np.array([3, 5, 7, -1, 0, 9], np.int32)
    execute("converted_handmade/hand_break_loop", 1, 1, [values, 6])
    assert values.tolist() == [4, 5, 7, -1, 0, 9]


def test_a_sort(execute: Execute) -> None:
    """Odd and even pairs in turns, by one warp; the constant is the size of an element."""
    values = RANDOM.integers(0, 1 << 32, 64).astype(np.uint32)
    wanted = np.sort(values)
    execute(
        "converted/sort_v1",
        1,
        32,
        [values, 64],
        constants={"constant1_Z9TEST_progPii": np.array([4], np.uint32)},
    )
    assert np.array_equal(values, wanted)
