"""Scripts with Triton itself, unchanged but for the driver: autotuning, views, tensor cores. Skipped without Triton."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ptxsim

triton: Any = pytest.importorskip("triton")
tl: Any = pytest.importorskip("triton.language")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]


@pytest.fixture
def simulator(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    yield ptxsim.simulate_triton(gpu="gtx-titan-x")
    triton.knobs.runtime.add_stages_inspection_hook = None
    triton.runtime.driver._active = None


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside), mask=inside)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": size}, num_warps=warps) for size, warps in ((64, 1), (1024, 4), (256, 4))
    ],
    key=["n"],
)
@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * factor, mask=at < n)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, k, a_row, b_row, c_row, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, k, BLOCK):
        along = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + rows[:, None] * a_row + along[None, :])
        b = tl.load(b_ptr + along[:, None] * b_row + columns[None, :])
        total += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * c_row + columns[None, :], total)


def test_a_launch_in_place(simulator: Any) -> None:
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    tensor = simulator.tensor(x)
    add[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](
        tensor, simulator.tensor(y), tensor, 1000, BLOCK=128
    )
    assert (x == np.arange(1, 1001)).all()
    assert len(simulator.results) == 1


def test_autotuning_takes_the_fewest_cycles(simulator: Any) -> None:
    x, out = np.arange(20000, dtype=np.float32), np.zeros(20000, np.float32)
    grid = lambda meta: (triton.cdiv(20000, meta["BLOCK"]),)  # noqa: E731  (as scripts write it)
    scale[grid](simulator.tensor(x), simulator.tensor(out), 20000, 3.0)
    assert (out == 3 * x).all()
    times = {config.kwargs["BLOCK"]: time[0] for config, time in scale.configs_timings.items()}
    assert len(set(times.values())) == 3
    assert scale.best_config.kwargs["BLOCK"] == min(times, key=lambda size: times[size])
    assert len(simulator.results) == 1


def test_a_product_of_a_view_on_tensor_cores(simulator: Any) -> None:
    rng = np.random.default_rng(0)
    left = rng.standard_normal((64, 128)).astype(np.float16)
    right, out = rng.standard_normal((64, 64)).astype(np.float16), np.zeros((64, 64), np.float32)
    a, b, c = simulator.tensor(left[:, 32:96]), simulator.tensor(right), simulator.tensor(out)
    product[(2, 2)](a, b, c, 64, a.stride(0), b.stride(0), c.stride(0), BLOCK=32)
    assert np.allclose(out, left[:, 32:96].astype(np.float32) @ right.astype(np.float32), atol=1e-2)
