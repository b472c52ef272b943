"""Kernels in CUDA that nvcc compiled four ways, with and without optimisation and for three targets, against numpy.

Each runs without time, under all checks, which find nothing, and timed. Those with a switch and with printf are in
`test_corpus_calls.py`.
"""

from collections.abc import Callable
from itertools import pairwise
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.parse import parse

Execute = Callable[..., Any]
WAYS = ("run", "checked", "launch")
BUILDS = ("sm75", "sm75.G", "cuda11.sm35", "sm90.lineinfo")
CHECKS = ("memory", "init", "races", "barriers")
RACY = ("bfs_step",)
"""Threads read distances that others write meanwhile; whichever they see, the result is the same."""


@pytest.fixture(params=[(build, way) for build in BUILDS for way in WAYS], ids="-".join)
def execute(request: pytest.FixtureRequest, shared: Path) -> Execute:
    build, way = request.param
    path = shared / "corpus" / "ptx" / "cuda" / f"own_kernels.{build}.ptx"
    module = parse(path.read_bytes(), path.name)

    def run(kernel: str, grid: Any, block: Any, args: list[Any], **more: Any) -> None:
        function = module.kernels[f"own_{kernel}"]
        if way == "launch":
            ptxsim.launch(function, grid, block, args, **more)
            return
        check = [c for c in CHECKS if c != "races" or kernel not in RACY] if way == "checked" else ()
        result = ptxsim.run(function, grid, block, args, check=check, **more)
        assert not result.problems, "\n".join(str(d) for d in result.problems)

    return run


def whole(shape: Any, seed: int, most: int = 9) -> Any:
    """Small whole numbers, whose products and sums are exact in f32."""
    return np.random.default_rng(seed).integers(-most, most + 1, shape).astype(np.float32)


def test_matrix_product(execute: Execute) -> None:
    a, b = whole((2, 48, 48), 1)
    c = np.full_like(a, np.nan)
    execute("matmul_tiled", (3, 3), (16, 16), [a, b, c, 48])
    assert c.tolist() == (a @ b).tolist()


def test_transpose(execute: Execute) -> None:
    a = whole((50, 70), 2)
    b = np.full((70, 50), np.nan, np.float32)
    execute("transpose", (3, 2), (32, 8), [a, b, 70, 50])
    assert b.tolist() == a.T.tolist()


def test_reduce(execute: Execute) -> None:
    data, total = np.random.default_rng(3).integers(-99, 99, 1000).astype(np.int32), np.zeros(1, np.int32)
    execute("reduce", 4, 128, [data, total, 1000], dynamic_shared=512)
    assert total[0] == data.sum()


def test_scan_of_blocks(execute: Execute) -> None:
    data, out = np.random.default_rng(4).integers(-99, 99, 700).astype(np.int32), np.zeros(700, np.int32)
    execute("scan_block", 3, 256, [data, out, 700])
    assert out.tolist() == [v for k in range(0, 700, 256) for v in np.cumsum(data[k : k + 256]).tolist()]


def test_stencil(execute: Execute) -> None:
    width, height, steps = 40, 24, 5
    heat, power = np.random.default_rng(5).random((2, height, width), np.float32)
    out = np.zeros_like(heat)
    execute("stencil5", (3, 2), (18, 18), [heat, power, out, width, height, 0.1, 0.2, 0.05, steps])
    expected = np.zeros((32, 48))
    padded, source = np.zeros((34, 50)), np.zeros((34, 50))
    padded[1 : height + 1, 1 : width + 1], source[1 : height + 1, 1 : width + 1] = heat, power
    for y in range(0, 32, 16):
        for x in range(0, 48, 16):  # a tile keeps its border
            t, p = padded[y : y + 18, x : x + 18].copy(), source[y + 1 : y + 17, x + 1 : x + 17]
            for _ in range(steps):
                c = t[1:-1, 1:-1].copy()
                rows, columns = t[:-2, 1:-1] + t[2:, 1:-1] - 2 * c, t[1:-1, :-2] + t[1:-1, 2:] - 2 * c
                t[1:-1, 1:-1] = p + c + 0.2 * rows + 0.1 * columns - 0.05 * c
            expected[y : y + 16, x : x + 16] = t[1:-1, 1:-1]
    np.testing.assert_allclose(out, expected[:height, :width], rtol=0, atol=2e-6)


def test_breadth_first_search(execute: Execute) -> None:
    random, n = np.random.default_rng(6), 120
    start = np.zeros(n + 1, np.int32)
    start[1:] = np.cumsum(random.integers(0, 4, n))
    edge = random.integers(0, n, start[-1]).astype(np.int32)
    distance = np.full(n, -1, np.int32)
    distance[0] = 0
    expected, level = distance.copy(), 0
    while True:
        changed = np.zeros(1, np.int32)
        execute("bfs_step", 2, 64, [start, edge, distance, changed, level, n])
        for v in np.flatnonzero(expected == level):
            reached = edge[start[v] : start[v + 1]]
            expected[reached[expected[reached] < 0]] = level + 1
        assert distance.tolist() == expected.tolist()
        assert changed[0] == (level + 1 in expected)
        if not changed[0]:
            break
        level += 1
    assert level > 3


def test_wavefront(execute: Execute) -> None:
    width, penalty = 17, 3
    score = np.random.default_rng(7).integers(-9, 9, (17, width)).astype(np.int32)
    table = np.zeros_like(score)
    table[0], table[:, 0] = -penalty * np.arange(17), -penalty * np.arange(17)
    expected = table.copy()
    for i in range(1, 17):
        for j in range(1, 17):
            gap = max(expected[i, j - 1], expected[i - 1, j]) - penalty
            expected[i, j] = max(expected[i - 1, j - 1] + score[i, j], gap)
    execute("wavefront", 1, 16, [table, score, width, penalty])
    assert table.tolist() == expected.tolist()


def test_gauss_elimination_step(execute: Execute) -> None:
    n, k = 20, 2
    a, m = whole((2, n, n), 8)
    b = whole(n, 9)
    rows = slice(k + 1, n)
    expected, right = a.copy(), b.copy()
    expected[rows, k:] -= m[rows, k, None] * a[k, k:]
    right[rows] -= m[rows, k] * b[k]
    execute("gauss_elim", (2, 2), (16, 16), [a, m, b, n, k])
    assert a.tolist() == expected.tolist()
    assert b.tolist() == right.tolist()


def test_sparse_matrix_times_vector(execute: Execute) -> None:
    random, n = np.random.default_rng(10), 30
    start = np.zeros(n + 1, np.int32)
    start[1:] = np.cumsum(random.integers(0, 150, n))
    column = random.integers(0, n, start[-1]).astype(np.int32)
    value, x = whole(start[-1], 11).astype(np.float64), whole(n, 12).astype(np.float64)
    y = np.full(n, np.nan)
    execute("spmv_csr", 8, 128, [start, column, value, x, y, n])
    assert y.tolist() == [(value[a:b] * x[column[a:b]]).sum() for a, b in pairwise(start)]


def test_histogram(execute: Execute) -> None:
    data, bins = np.random.default_rng(13).binomial(255, 0.4, 3000).astype(np.uint8), np.zeros(256, np.int32)
    execute("hist", 3, 96, [data, bins, 3000])
    assert bins.tolist() == np.bincount(data, minlength=256).tolist()


def test_option_prices(execute: Execute) -> None:
    random, n, rate, spread = np.random.default_rng(14), 200, 0.03, 0.3
    price, strike = random.uniform(20, 80, (2, n)).astype(np.float32)
    years = random.uniform(0.1, 3, n).astype(np.float32)
    out = np.zeros(n, np.float32)
    execute("price", 1, 128, [out, price, strike, years, rate, spread, n])
    s, k, t = (v.astype(np.float64) for v in (price, strike, years))
    d1 = (np.log(s / k) + (rate + spread**2 / 2) * t) / (spread * np.sqrt(t))
    below = np.vectorize(lambda d: (1 + erf(d / 2**0.5)) / 2)
    expected = s * below(d1) - k * np.exp(-rate * t) * below(d1 - spread * np.sqrt(t))
    np.testing.assert_allclose(out, expected, rtol=2e-5, atol=2e-5)


def test_local_array(execute: Execute) -> None:
    n = 96
    data = np.random.default_rng(15).integers(0, 1000, n).astype(np.int32)
    out = np.zeros(n, np.int32)
    execute("localarr", 3, 32, [data, out, n])
    for i in range(n):
        local = [int(data[(i + k) % n]) for k in range(24)]
        for v in data.tolist():
            local[v % 24] += local[(v % 24 * 5 + 1) % 24]
        assert int(out[i]) % 2**32 == local[int(data[i]) % 24] % 2**32


def test_vectors_of_four(execute: Execute) -> None:
    a, b = whole((2, 50, 4), 16)
    c, before = np.zeros((50, 2), np.float32), a.copy()
    execute("vec4", 2, 32, [a, b, c, 50])
    x, y, z, w = before.T
    columns = [x + b[:, 0], y * b[:, 1], z - b[:, 2], np.maximum(w, b[:, 3])]
    assert a.tolist() == np.stack(columns, axis=1).tolist()
    assert c.tolist() == np.stack([x, b[:, 3]], axis=1).tolist()


def test_texture_and_surface(execute: Execute) -> None:
    texels = whole((6, 20), 17)
    copied, out = np.zeros_like(texels), np.zeros_like(texels)
    execute("texobj", 6, 20, [ptxsim.Texture(texels), ptxsim.Surface(copied), out, 20])
    assert out.tolist() == texels.tolist()
    assert copied.tolist() == texels.tolist()
