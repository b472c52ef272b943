"""CUDA programs with tensor cores, asynchronous copies and barriers, compiled by nvcc: both runs against numpy.

Sources and PTX are in tests/cuda; the comment above each source says how it was compiled.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from checkout import TESTS

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

CUDA = TESTS / "cuda"


def load(name: str, kernel: str) -> Function:
    path = CUDA / f"{name}.ptx"
    return parse(path.read_text(encoding="utf-8"), str(path)).kernels[kernel]


def both(
    kernel: Function, grid: tuple[int, ...], block: int, arguments: Sequence[Any], at: int
) -> np.ndarray:
    """Argument `at` as the run without time leaves it; the timed run must leave the same."""
    found = []
    for run in (functional.run, ptxsim.launch):
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        run(kernel, grid, (block,), given)  # type: ignore[operator]
        found.append(given[at])
    assert found[0].tobytes() == found[1].tobytes()
    return np.asarray(found[0])


def whole(shape: tuple[int, ...], seed: int, dtype: Any, most: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).integers(-most, most, shape).astype(dtype)


@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
def test_wmma_halves(target: str) -> None:
    n, k = 48, 64
    a, b = whole((32, k), 1, np.float16), whole((k, n), 2, np.float16)
    c = np.zeros((32, n), np.float32)
    found = both(load(f"tensor_cores.{target}", "wmma_gemm"), (n // 16, 2), 32, [a, b, c, n, k], 2)
    assert (found == 0.5 * (a.astype(np.float32) @ b.astype(np.float32))).all()


@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
def test_wmma_bytes(target: str) -> None:
    n, k = 32, 48
    a, b = whole((n, k), 3, np.int8, 128), whole((32, k), 4, np.int8, 128)
    c = np.zeros((32, n), np.int32)
    found = both(load(f"tensor_cores.{target}", "wmma_bytes"), (2, n // 16), 32, [a, b, c, n, k], 2)
    assert (a.astype(np.int32) @ b.astype(np.int32).T + 7 == found.T).all()


def test_double_buffered_product() -> None:
    """100 rows of 128: the last ones are not read but filled with zeros. Random numbers, in f32 accuracy."""
    m, n, k = 100, 128, 96
    generator = np.random.default_rng(5)
    a, b = (generator.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    found = both(load("tensor_cores.sm_80", "mma_gemm"), (n // 64, 2), 128, [a, b, c, m, n, k], 2)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    # a group of 8 loses at most 9 units of 2^-24 of its largest term, 12 groups and as many results cut to 2^-23
    assert (np.abs(found - exact) <= size * 12 * (9 * 2.0**-24 + 2.0**-23)).all()
    assert not (found == exact.astype(np.float32)).all()


def test_products_of_doubles() -> None:
    n, k = 16, 20
    generator = np.random.default_rng(6)
    a, b = generator.standard_normal((16, k)), generator.standard_normal((k, n))
    found = both(load("tensor_cores.sm_80", "mma_doubles"), (2, 2), 32, [a, b, np.zeros((16, n)), n, k], 2)
    assert np.allclose(found, a @ b, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90"])
def test_votes(target: str) -> None:
    values = whole((3, 96), 7, np.int32, 50)
    values[0, 95] = 42
    values[1, 0] = -200
    values[values == 42] = 41
    values[0, 95] = 42
    found = both(load(f"barriers.{target}", "votes"), (3,), 96, [values, np.zeros_like(values)], 1)
    counts = (values > 0).sum(1) * 4 + (values > -100).all(1) * 2 + (values == 42).any(1)
    assert (found == counts[:, None]).all()


@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize(
    ("target", "kernel"),
    [("sm_75", "ring"), ("sm_90", "ring"), ("sm_80", "mbarrier_ring"), ("sm_90", "mbarrier_ring")],
)
def test_rings(target: str, kernel: str, rounds: int) -> None:
    values = whole((rounds, 64), 8, np.int32, 1000)
    found = both(load(f"barriers.{target}", kernel), (1,), 128, [values, np.zeros_like(values), rounds], 1)
    assert (found == 3 * values[:, ::-1]).all()


def test_copies_arrive() -> None:
    values = whole((2, 128, 4), 9, np.int32, 1000)
    found = both(load("barriers.sm_80", "copied"), (2,), 128, [values, np.zeros_like(values)], 1)
    assert (found == np.roll(values, -1, axis=1)).all()


@pytest.mark.parametrize(
    ("name", "kernel", "block", "arguments"),
    [
        (
            "tensor_cores.sm_75",
            "wmma_gemm",
            32,
            [np.ones((16, 16), np.float16)] * 2 + [np.zeros((16, 16)), 16, 16],
        ),
        (
            "tensor_cores.sm_80",
            "wmma_bytes",
            32,
            [np.ones((16, 16), np.int8)] * 2 + [np.zeros((16, 16)), 16, 16],
        ),
        (
            "tensor_cores.sm_80",
            "mma_gemm",
            128,
            [np.ones((64, 64), np.float16)] * 2 + [np.zeros((64, 64), np.float32), 64, 64, 64],
        ),
        (
            "barriers.sm_80",
            "mbarrier_ring",
            128,
            [np.ones((4, 64), np.int32), np.zeros((4, 64), np.int32), 4],
        ),
        ("barriers.sm_75", "ring", 128, [np.ones((4, 64), np.int32), np.zeros((4, 64), np.int32), 4]),
        ("barriers.sm_80", "copied", 128, [np.ones((128, 4), np.int32), np.zeros((128, 4), np.int32)]),
    ],
)
def test_clean_under_all_checks(name: str, kernel: str, block: int, arguments: list[Any]) -> None:
    """Nothing is reported that is not wrong: copies, fragments and mbarriers count as written and ordered."""
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    result = functional.run(
        load(name, kernel), (1,), (block,), given, check=("memory", "init", "races", "barriers")
    )
    assert [str(d) for d in result.problems] == []
