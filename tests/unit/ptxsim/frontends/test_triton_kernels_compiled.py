"""`from_triton` with Triton itself: functions are compiled for a GPU that is not there. Skipped without the package."""

import warnings
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError

triton: Any = pytest.importorskip("triton")
tl: Any = pytest.importorskip("triton.language")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    total = tl.load(x_ptr + offsets, mask=inside) + tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, total, mask=inside)


@triton.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * columns + at, e / tl.sum(e, 0), mask=inside)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, k, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    width = tl.num_programs(1) * BLOCK
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, k, BLOCK):
        along = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + rows[:, None] * k + along[None, :])
        b = tl.load(b_ptr + along[:, None] * width + columns[None, :])
        total += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * width + columns[None, :], total)


@triton.jit
def scalars(out_ptr, flag, small, large, real, maybe, SCALE: tl.constexpr):  # type: ignore[no-untyped-def]
    tl.store(out_ptr, tl.where(flag, small, -1))
    tl.store(out_ptr + 1, large >> 32)
    tl.store(out_ptr + 2, (real * SCALE).to(tl.int64))
    if maybe is not None:
        tl.store(out_ptr + 3, tl.load(maybe))


RANDOM = np.random.default_rng(3)


def compiled(types: dict[str, str], function: Any, constants: dict[str, Any]) -> Any:
    source = triton.compiler.ASTSource(
        function, signature=types | dict.fromkeys(constants, "constexpr"), constexprs=constants
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", 80, 32))


@pytest.mark.parametrize(("type_", "name"), [(np.float32, "fp32"), (np.float16, "fp16"), (np.int8, "i8")])
def test_compiled_kernels(type_: Any, name: str) -> None:
    x, y = (RANDOM.integers(-50, 50, 500).astype(type_) for _ in "xy")
    out = np.zeros_like(x)
    types = {"x_ptr": f"*{name}", "y_ptr": f"*{name}", "out_ptr": f"*{name}", "n": "i32"}
    ptxsim.from_triton(compiled(types, add, {"BLOCK": 128}))[(4,)](x, y, out, 500)
    assert np.array_equal(out, x + y)


@pytest.mark.parametrize("type_", [np.float64, np.uint16, np.int64])
def test_functions_are_compiled_for_their_arguments(type_: Any) -> None:
    x, y = (RANDOM.integers(0, 50, 500).astype(type_) for _ in "xy")
    out = np.zeros_like(x)
    kernel = ptxsim.from_triton(add)
    result = kernel[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](
        x, y, out, 500, BLOCK=128, num_warps=2
    )
    assert np.array_equal(out, x + y)
    assert result.ctas == 4
    assert kernel.kernel(x, y, out, 500, BLOCK=128, num_warps=2).directives[0].text.startswith("64")


def test_reductions() -> None:
    x = RANDOM.normal(size=(6, 200)).astype(np.float32)
    out = np.zeros_like(x)
    ptxsim.from_triton(softmax)[6](x, out, 200, BLOCK=256)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=2e-6)


def test_tensor_cores_and_shared_memory() -> None:
    a, b = (RANDOM.normal(size=(64, 64)).astype(np.float16) for _ in "ab")
    c = np.zeros((64, 64), np.float32)
    kernel = ptxsim.from_triton(product, check=("memory", "races", "barriers"))
    result = kernel[2, 2](a, b, c, 64, BLOCK=32)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4, atol=1e-4)
    assert result.problems == ()


def test_scalars_of_every_kind() -> None:
    out = np.zeros(4, np.int64)
    ptxsim.from_triton(scalars)[1](out, True, -7, 5 << 40, 2.5, None, SCALE=4)
    assert out.tolist() == [-7, 5 << 8, 10, 0]
    ptxsim.from_triton(scalars)[1](out, False, -7, 5 << 40, 2.5, np.array([9]), SCALE=4)
    assert out.tolist() == [-1, 5 << 8, 10, 9]


def test_timed_run() -> None:
    x = np.ones(64, np.float32)
    out = np.zeros_like(x)
    assert ptxsim.from_triton(add).timed()[1](x, x, out, 64, BLOCK=64).cycles > 0
    assert np.array_equal(out, x + x)


def test_errors() -> None:
    kernel = ptxsim.from_triton(add)
    x = np.ones(4, np.float32)
    for args, message in (
        ((x, x), "missing a required argument"),
        (([1], x, x, 4, 32), "argument 'x_ptr' is of"),
    ):
        with pytest.raises(PtxError, match=message):
            kernel[1](*args)
    with pytest.raises(PtxError, match="Autotuner chooses its constants on a GPU"):
        ptxsim.from_triton(triton.autotune([triton.Config({"BLOCK": 32})], key=["n"])(add))


@pytest.mark.parametrize("cc", [(9, 0), (12, 0)])
def test_instructions_of_newer_machines(cc: tuple[int, int]) -> None:
    """Triton makes matrix products of compute capability 9.0 of `wgmma`, those of 8.0 and 12.0 of `mma.sync`."""
    a, c = np.eye(64, dtype=np.float16), np.zeros((64, 64), np.float32)
    ptxsim.from_triton(product, cc=cc)[1, 1](a, a, c, 64, BLOCK=64)
    assert np.array_equal(c, a)
