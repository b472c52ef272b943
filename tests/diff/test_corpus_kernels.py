"""Kernels that numba and Triton compiled give what numpy does. Skipped where the corpus is absent.

Of each file the PTX alone is known, so what it computes was read from it. Those that print are in test_corpus_calls.py.
"""

import math
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ptxsim
import ptxtool
from ptxsim.frontends.python_kernels import entry_name
from ptxtool.parse import parse

RANDOM = np.random.default_rng(5)
MOST_SHARED = 97 * 1024  # three stages of 32 KB, and mbarriers


def numba(shared: Path, name: str, grid: Any, block: Any, *args: Any) -> Any:
    """Run a kernel of numba: an array is what numba makes of one."""
    path = shared / "corpus" / "ptx" / "numba" / f"{name}.ptx"
    (kernel,) = parse(path.read_bytes(), path.name).kernels.values()
    flat: list[Any] = []
    for value in args:
        if isinstance(value, np.ndarray):
            flat += [0, 0, value.size, value.itemsize, value, *value.shape, *value.strides]
        else:
            flat.append(value)
    return ptxsim.run(kernel, grid, block, flat)


def triton_text(path: Path) -> str:
    """The PTX of a file that Triton made."""
    return path.read_text()


def triton(shared: Path, name: str, grid: Any, *args: Any, check: tuple[str, ...] = ()) -> Any:
    """Run a kernel of Triton, through `from_triton` and a stand-in for what `triton.compile` gives."""
    ptx = triton_text(shared / "corpus" / "ptx" / "triton" / f"{name}.ptx")
    metadata = SimpleNamespace(name=entry_name(ptx), shared=MOST_SHARED, num_warps=4)
    kernel = ptxsim.from_triton(SimpleNamespace(asm={"ptx": ptx}, metadata=metadata), check=check)
    return kernel[grid](*args, np.zeros(16, np.uint8))  # the last one is scratch memory


def normal(*shape: int, type_: Any = np.float32) -> Any:
    return RANDOM.normal(size=shape).astype(type_)


# ---- numba


def test_saxpy(shared: Path) -> None:
    x, y = normal(300), normal(300)
    expected = 1.5 * x.astype(np.float64) + y
    numba(shared, "saxpy.sm75", 3, 128, 1.5, x, y)
    np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("build", ["matmul.sm75", "matmul.sm75.lineinfo"])
def test_tiled_product(shared: Path, build: str) -> None:
    a, b, c = normal(40, 40), normal(40, 50), np.zeros((40, 50), np.float32)
    numba(shared, build, (4, 3), (16, 16), a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("build", ["warpsum.sm75", "warpsum.sm90"])
def test_sum_of_a_warp(shared: Path, build: str) -> None:
    x, out = RANDOM.integers(-9, 10, 256).astype(np.int32), np.zeros(8, np.int32)
    numba(shared, build, 2, 128, x, out)
    for warp in range(8):
        values = x[32 * warp : 32 * warp + 32].astype(np.int64)
        for distance in (16, 8, 4, 2, 1):  # a lane without a partner adds its own value
            partner = np.where(np.arange(32) + distance < 32, np.arange(32) + distance, np.arange(32))
            values = values + values[partner]
        assert out[warp] == values[0] + (values > 0).sum()


def test_local_array(shared: Path) -> None:
    x, out = np.arange(70.0), np.zeros(70)
    numba(shared, "localarr.sm75", 1, 70, x, out)
    sums = [sum(v * (j % 32) for j in range(v)) for v in range(70)]
    assert out.tolist() == [s // 3 + s % 7 for s in sums]


def test_mandelbrot(shared: Path) -> None:
    out = np.zeros((12, 16), np.int32)
    numba(shared, "mandel.sm75", (2, 2), (8, 8), out, 30, -2.0, 1.0, -1.0, 1.0)

    def steps(row: int, column: int) -> int:
        c = complex(3.0 * column / 16 - 2, 2.0 * row / 12 - 1)
        x = y = 0.0
        for n in range(1, 30):
            x, y = c.real + (x * x - y * y), c.imag + float(Fraction(x) * Fraction(y) + Fraction(x * y))
            if float(Fraction(x) ** 2 + Fraction(y * y)) >= 4:
                return n
        return 30

    assert out.tolist() == [[steps(i, j) for j in range(16)] for i in range(12)]


def test_histogram_compiled_for_debugging(shared: Path) -> None:
    x, counts = RANDOM.integers(2, 100, 300).astype(np.int32), np.zeros(100, np.int32)
    numba(shared, "hist.sm75.debug", 2, 64, x, counts)
    expected = np.bincount(x, minlength=100)
    expected[:2] = x.max(), 5  # atomic maximum of all; compare and swap of 0 with 5
    assert np.array_equal(counts, expected)


def test_black_scholes(shared: Path) -> None:
    price, strike, years = (
        RANDOM.uniform(5, 30, 100),
        RANDOM.uniform(1, 100, 100),
        RANDOM.uniform(0.2, 9, 100),
    )
    one, two = np.zeros(100), np.zeros(100)
    numba(shared, "blacks.sm75", 4, 32, one, two, price, strike, years, 0.02, 0.3)
    d = (np.log(price / strike) + (0.02 + 0.5 * 0.3 * 0.3) * years) / (0.3 * np.sqrt(years))
    k = 1 / (1 + 0.2316419 * abs(d))
    tail = 0.39894228040143267794 * np.exp(-0.5 * d * d) * (k * (0.319381530 + k * (-0.356563782 + k * 1.78)))
    normal_below = np.where(d > 0, 1 - tail, tail)
    expected = price * normal_below - strike * np.exp(-0.02 * years) * (d - 0.3 * np.sqrt(years))
    np.testing.assert_allclose(one, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(two, expected + strike, rtol=1e-6, atol=1e-6)


def test_mathematics_in_double_precision(shared: Path) -> None:
    x, out = np.linspace(0.05, 9, 256), np.zeros(256)
    numba(shared, "mathk.sm75.fastmath", 2, 128, x, out)
    rest = [math.erf(v) + math.gamma(v) + math.atan2(v, v) for v in x]
    smooth = np.sin(x) + np.cos(x) * np.exp(x) + np.log(x) + np.sqrt(x) + np.tanh(x) + x**1.5
    np.testing.assert_allclose(out, smooth + rest, rtol=1e-12)


# ---- Triton


@pytest.mark.parametrize(
    ("name", "type_"),
    [("vadd_f32.sm90", np.float32), ("vadd_f64.sm80", np.float64), ("vadd_i8.sm80", np.int8)],
)
def test_sum(shared: Path, name: str, type_: Any) -> None:
    x, y = (RANDOM.integers(-60, 60, 1000).astype(type_) for _ in "xy")
    out = np.zeros(1000, type_)
    triton(shared, name, 8, x, y, out, 1000)
    assert np.array_equal(out, x + y)


def test_softmax(shared: Path) -> None:
    x = normal(3, 1500)
    out = np.zeros_like(x)
    triton(shared, "softmax.sm75", 3, x, out, 1500, 1500)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-6)


def test_normalised_layer(shared: Path) -> None:
    x, weight, bias = normal(3, 300, type_=np.float16), normal(300), normal(300)
    out = np.zeros_like(x)
    triton(shared, "layernorm.sm80", 3, x, out, weight, bias, 300, 1e-5)
    exact = x.astype(np.float64)
    spread = np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    expected = (exact - exact.mean(1, keepdims=True)) / spread * weight + bias
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-3)


def test_transpose(shared: Path) -> None:
    x = normal(128, 128, type_=np.float16)
    out = np.zeros_like(x)
    triton(shared, "transpose.sm75", (2, 2), x, out, 128, 128)
    assert np.array_equal(out, x.T)


def test_atomics(shared: Path) -> None:
    x, memory = RANDOM.integers(0, 1000, 700).astype(np.int32), np.zeros(5000, np.int32)
    triton(shared, "hist_atomic.sm75", 3, x, memory, 700)
    assert np.array_equal(memory[:1000], np.bincount(x, minlength=1000))
    largest = np.zeros(1000, np.int32)
    np.maximum.at(largest, x, x)
    assert np.array_equal(memory[1024:2024], largest)
    assert memory[2048] == 1  # exchanged
    assert memory[4096] == 0  # a lock that each program takes and gives back


def philox(seed: int, offsets: Any) -> Any:
    """First words of Philox 4x32-10 with counters (offset, 0, 0, 0): Salmon et al., "Parallel random numbers", 2011."""
    c0, c1, c2, c3 = offsets.astype(np.uint64), *(np.zeros(len(offsets), np.uint64) for _ in range(3))
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    for _ in range(10):
        a, b = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            (b >> half) ^ c1 ^ np.uint64(k0),
            b & mask,
            (a >> half) ^ c3 ^ np.uint64(k1),
            a & mask,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0.astype(np.uint32)


@pytest.mark.parametrize("seed", [42, -7])
def test_dropout(shared: Path, seed: int) -> None:
    x, out = normal(1500), np.zeros(1500, np.float32)
    triton(shared, "dropout.sm75", 2, x, out, 1500, 0.3, seed)
    words = philox(seed, np.arange(1500)).view(np.int32)
    uniform = np.where(words < 0, -words - 1, words).astype(np.float32) * np.float32(4.6566127342e-10)
    expected = np.where(uniform > np.float32(0.3), x / (1 - np.float32(0.3)), 0)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert 300 < (out == 0).sum() < 600


def test_scan_sort_and_histogram(shared: Path) -> None:
    x = RANDOM.integers(0, 50, 1024).astype(np.int32)
    sums, out = np.zeros(1024, np.int32), np.zeros(1024 + 256, np.int32)
    triton(shared, "scan_sort.sm75", 1, x, sums, out)
    assert np.array_equal(sums, np.cumsum(x))
    assert np.array_equal(out[:1024], np.sort(x))
    assert np.array_equal(out[1024:], np.bincount(x, minlength=256))


def test_mathematics_in_single_precision(shared: Path) -> None:
    x, out = np.linspace(0.05, 3, 256, dtype=np.float32), np.zeros(256, np.float32)
    triton(shared, "math.sm75", 1, x, out)
    v = x.astype(np.float64)
    rest = [math.erf(a) + math.lgamma(a) for a in v]
    smooth = np.exp(v) + np.log(v) + np.sin(v) * np.cos(v) + np.sqrt(v) + v**-0.5 + np.tanh(v) + v**v
    np.testing.assert_allclose(out, smooth + rest + np.floor(v) + abs(v) + v / 3, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "type_", "error"),
    [
        ("matmul_fp16.sm75", np.float16, 0.02),
        ("matmul_fp32.sm75", np.float32, 1e-4),
        ("matmul_fp16.sm90", np.float16, 0.02),  # wgmma
        ("matmul_fp16.sm100", np.float16, 0.02),  # tcgen05
    ],
)
def test_products(shared: Path, name: str, type_: Any, error: float) -> None:
    a, b = normal(128, 128, type_=type_), normal(128, 128, type_=type_)
    c = np.zeros((128, 128), type_)
    is_asynchronous = name.endswith(("sm90", "sm100"))
    result = triton(
        shared, name, 1, a, b, c, 128, 128, 128, 128, 128, 128, check=("all",) if is_asynchronous else ()
    )
    assert result.problems == (), "\n".join(map(str, result.problems))
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=error)


@pytest.mark.slow
def test_flash_attention(shared: Path) -> None:
    heads, n, size = 2, 256, 64
    q, k, v = (normal(heads, n, size, type_=np.float16) for _ in "qkv")
    out, sums = np.zeros_like(q), np.zeros((heads, n), np.float32)
    triton(shared, "flash_f16.sm80", (n // 128, heads), q, k, v, out, sums, 0.1, n)
    scores = 0.1 * np.einsum("hnd,hmd->hnm", q.astype(np.float64), k.astype(np.float64))
    weights = np.exp2(scores - scores.max(-1, keepdims=True))  # the scale that is passed has log2(e) in it
    expected = np.einsum("hnm,hmd->hnd", weights / weights.sum(-1, keepdims=True), v.astype(np.float64))
    np.testing.assert_allclose(out, expected, atol=2e-3)


@pytest.mark.parametrize("way", ["checked", "late", "allocated", "timed"])
def test_a_product_through_tensor_maps(shared: Path, way: str) -> None:
    """A times B transposed; the kernel makes its tensor maps in scratch memory, 3 of 128 bytes for each CTA. M and N
    are no multiples of the tile of 128."""
    path = shared / "corpus" / "ptx" / "triton" / "matmul_tma_f16.sm90.ptx"
    module = parse(path.read_bytes(), path.name)
    module = ptxtool.rewrite(module, "allocate").module if way == "allocated" else module
    kernel = module.kernels["matmul_tma"]
    m, n, k = 200, 136, 160
    a, b = (RANDOM.integers(-4, 5, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    c, scratch = np.zeros((m, n), np.float16), np.zeros(4 * 384, np.uint8)
    launched = kernel, (2, 2), 128, [a, b, c, m, n, k, scratch]
    if way == "timed":
        ptxsim.launch(*launched, dynamic_shared=MOST_SHARED, gpu="gpgpusim42-rtx3070")
    elif way == "checked":
        assert ptxsim.run(*launched, dynamic_shared=MOST_SHARED, check=("all",)).problems == ()
    else:
        ptxsim.run(*launched, dynamic_shared=MOST_SHARED, asynchronous="late")
    assert np.array_equal(c, a @ b.T)  # small integers: sums are exact
