"""CUDA programs with packed halves, bfloats, 8-bit floats, bytes and bits, compiled by nvcc: both runs against numpy.

Source and PTX: tests/cuda/packed.cu and what lies beside it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from checkout import TESTS

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.parse import parse

CUDA = TESTS / "cuda"
N = 200
BLOCK = 64


def both(target: str, kernel: str, arguments: Sequence[Any]) -> list[Any]:
    """The arguments as the run without time leaves them; the timed run must leave the same."""
    path = CUDA / f"packed.{target}.ptx"
    function = parse(path.read_text(encoding="utf-8"), str(path)).kernels[kernel]
    found = []
    for run in (functional.run, ptxsim.launch):
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        run(function, (-(-N // BLOCK),), (BLOCK,), given)  # type: ignore[operator]
        found.append(given)
    for a, b in zip(*found, strict=True):
        assert not isinstance(a, np.ndarray) or a.tobytes() == b.tobytes()
    return found[0]


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def words(seed: int) -> np.ndarray:
    values = random(seed).integers(0, 1 << 32, N, dtype=np.uint32)
    values[:8] = [0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x80808080, 0x7F7F7F7F, 0x8000FFFF]
    return values


def test_halves() -> None:
    """Small whole numbers, so that sums are exact in whatever order they are taken."""
    x = 2 * random(1).integers(-1, 2, (N, 2)).astype(np.float16)
    y = random(2).integers(-2, 3, (N, 2)).astype(np.float16)
    given = [x, y, np.float32(1.5), N, np.zeros(2, np.float16), np.zeros(1, np.float32)]
    _, out, _, _, sums, most = both("sm_90", "axpy_halves", given)
    exact = np.maximum(1.5 * x.astype(np.float64) + y, 0)
    assert (out == exact).all()
    assert (sums == exact.sum(axis=0) / 8).all()
    assert most[0] == exact.max() == 5


def bfloat(values: np.ndarray) -> np.ndarray:
    """f64 rounded to bfloat16, as f64: to nearest, halves to even, for normal numbers."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, 8)), exponent - 8)


def test_bfloats() -> None:
    x, y = (random(s).standard_normal((N, 2)).astype(np.float32).view(np.uint32) >> 16 for s in (3, 4))
    given = [v.astype(np.uint16) for v in (x, y)]
    a, b = ((v << 16).astype(np.uint32).view(np.float32).astype(np.float64) for v in (x, y))
    *_, out, _ = both("sm_90", "bfloats", [*given, np.zeros((N, 4, 2), np.uint16), N])
    found = (out.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    assert (found[:, 0] == bfloat(a + b)).all()
    assert (found[:, 1] == bfloat(a * b + np.abs(a))).all()
    assert (found[:, 2] == np.minimum(a, -b)).all()
    assert (found[:, 3] == (a < b)).all()


def values_of(mantissa_bits: int, bias: int, n: int) -> np.ndarray:
    """The first n codes of a format, as numbers."""
    codes = np.arange(n)
    field, rest = codes >> mantissa_bits, codes & ((1 << mantissa_bits) - 1)
    hidden = np.where(field > 0, 1 << mantissa_bits, 0)
    return np.ldexp((rest + hidden).astype(np.float64), np.maximum(field, 1) - bias - mantissa_bits)


def test_bytes_of_floats() -> None:
    x = random(5).standard_normal((N, 2)) * np.exp2(random(6).uniform(-18, 18, (N, 2)))
    x = x.astype(np.float32)
    x[:4] = [[448, 464], [465, -1e9], [0.0, -0.0], [2.0**-10, 3 * 2.0**-10]]
    codes, back = np.zeros((N, 2), np.uint16), np.zeros((N, 2, 2), np.float16)
    _, codes, back, _ = both("sm_90", "bytes_of_floats", [x, codes, back, N])
    for k, table in enumerate((values_of(3, 7, 0x7F), values_of(2, 15, 0x7C))):
        found = np.ascontiguousarray(codes[:, k]).view(np.uint8).reshape(N, 2)
        size = np.abs(x.astype(np.float64))
        distance = np.abs(size[:, :, None] - table)
        near = distance.min(axis=2, keepdims=True) == distance
        even = near & (np.arange(len(table)) % 2 == 0)
        code = np.where(even.any(axis=2), even.argmax(axis=2), near.argmax(axis=2))
        assert (found == (code | np.where(np.signbit(x), 0x80, 0))).all()
        assert (back[:, k] == np.where(np.signbit(x), -1, 1) * table[code]).all()


def test_count() -> None:
    x = random(7).integers(0, 1 << 16, N).astype(np.uint16)
    _, counts, _ = both("sm_90", "count", [x, np.zeros(8, np.uint16), N])
    assert (counts[:7] == np.bincount(x % 7, minlength=7)).all()


def lanes(values: np.ndarray, kind: str) -> np.ndarray:
    """Words as rows of smaller integers, in 64 bits."""
    return values.view(kind).reshape(len(values), -1).astype(np.int64)


def packed(values: np.ndarray, bits: int) -> np.ndarray:
    """The reverse."""
    cut = values & ((1 << bits) - 1)
    return sum(cut[:, k] << bits * k for k in range(cut.shape[1])).astype(np.uint32)


@pytest.mark.parametrize("target", ["sm_75", "sm_90"])
def test_video(target: str) -> None:
    x, y = words(8), words(9)
    *_, out, _ = both(target, "video", [x, y, np.zeros((N, 8), np.uint32), N])
    a, b, p, q = lanes(x, "u1"), lanes(y, "u1"), lanes(x, "i1"), lanes(y, "i1")
    h, g, s, t = lanes(x, "u2"), lanes(y, "u2"), lanes(x, "i2"), lanes(y, "i2")
    assert (out[:, 0] == packed(np.minimum(a + b, 255), 8)).all()
    assert (out[:, 1] == packed(np.abs(p - q), 8)).all()
    assert (out[:, 2] == packed(np.maximum(s, t), 16)).all()
    assert (out[:, 3] == packed((a + b + 1) >> 1, 8)).all()
    assert (out[:, 4] == packed(np.where(h > g, 0xFFFF, 0), 16)).all()
    assert (out[:, 5] == ((s[:, 1] + b[:, 2] + x) & 0xFFFFFFFF)).all()
    assert (out[:, 6] == np.abs(a - b).sum(axis=1) + 1000).all()
    assert (out[:, 7] == (h[:, 0] | (s[:, 1] >= t[:, 1]).astype(np.int64) << 16)).all()


@pytest.mark.parametrize("target", ["sm_75", "sm_90"])
def test_bits(target: str) -> None:
    x, y = words(10), words(11)
    *_, out, _ = both(target, "bits", [x, y, np.zeros((N, 8), np.uint32), N])
    p, q = lanes(x, "i1"), lanes(y, "i1")
    assert (out[:, 0] == ((p * q).sum(axis=1) + 100) & 0xFFFFFFFF).all()
    for k, (u, v) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        both_ = v << 32 | u
        picked = [both_ >> 8 * n & 0xFF for n in (4, 1, 6, 2)]
        n = min(v & 63, 32)
        expected = [
            int.from_bytes(bytes(picked), "little"),
            (v << 32 | u) << n >> 32 & 0xFFFFFFFF,
            int(f"{u:032b}"[::-1], 2) ^ v.bit_count(),
            ((u & -u).bit_length() + 100 * (32 - v.bit_length())) & 0xFFFFFFFF,
            u * v >> 32,
            (u << 32 | v) // (u | 1) & 0xFFFFFFFF,
            abs(int(np.int32(np.uint32(u))) - int(np.int32(np.uint32(v)))) + 7 & 0xFFFFFFFF,
        ]
        assert out[k, 1:].tolist() == expected
