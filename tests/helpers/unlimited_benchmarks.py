"""What the samples in `samples/unlimited` compute, once more: kernels of the register-sharing paper's Set-2.

Each function takes the arguments of the launch by name, as they were before it, and returns the buffers that the kernel
writes. The expected results of `FILES` are these, too long for an expression.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Values = Mapping[str, Any]

PRINTED = {
    "fan1": (512, 12, "threads"),
    "perimeter": (32, 36, "ctas"),
    "phimag": (512, 12, "threads"),
    "sha1": (128, 48, "scratchpad"),
}
"""Threads of a CTA, registers per thread and what limits the CTAs on an SM: table 3 of the register-sharing paper."""


def fan1(given: Values) -> dict[str, np.ndarray]:
    m, a, step = given["m"].copy(), given["a"], given["step"]
    m[step + 1 :, step] = a[step + 1 :, step] / a[step, step]
    return {"m": m}


def perimeter(given: Values) -> dict[str, np.ndarray]:
    m, k = given["m"].astype(np.float64), given["offset"]
    near, far = slice(k, k + 16), slice(k + 16, None)
    diagonal = m[near, near]
    m[near, far] = np.linalg.solve(np.tril(diagonal, -1) + np.eye(16), m[near, far])
    m[far, near] = np.linalg.solve(np.triu(diagonal).T, m[far, near].T).T
    return {"m": m.astype(np.float32)}


def phimag(given: Values) -> dict[str, np.ndarray]:
    return {"magnitude": np.hypot(given["real"], given["imaginary"]) ** 2}


def sha1(given: Values) -> dict[str, np.ndarray]:
    data = given["file"].astype("<u4").tobytes()
    digests = (
        hashlib.sha1(data[4 * i : 4 * i + 52], usedforsecurity=False).digest() for i in range(given["n"])
    )
    return {"digests": np.array([int.from_bytes(d[:4], "little") for d in digests], np.uint32)}


REFERENCES: dict[str, Callable[[Values], dict[str, np.ndarray]]] = {
    f.__name__: f for f in (fan1, perimeter, phimag, sha1)
}
FILES: dict[str, dict[str, Callable[[Values], np.ndarray]]] = {
    "perimeter": {"decomposed.npy": lambda given: perimeter(given)["m"]},
    "sha1": {"digests.npy": lambda given: sha1(given)["digests"]},
}
