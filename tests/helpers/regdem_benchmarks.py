"""What the samples in `samples/regdem` compute, once more, and the rows of RegDem's evaluation.

Written from the algorithms, not from the expressions in the launch files: step by step, a face, neighbour or key at a
time. Each function takes the arguments and constants of the launch by name, as they were before it, and returns the
buffers that the kernel writes.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

Values = Mapping[str, Any]


class Row(NamedTuple):
    """Threads of a CTA, registers before and after, registers demoted and their bytes."""

    threads: int
    before: int
    after: int
    demoted: int
    bytes: int


ROWS: Mapping[str, Row] = {
    "cfd": Row(192, 68, 56, 14, 10752),
    "conv": Row(128, 35, 32, 5, 2560),
    "gauss": Row(64, 43, 40, 5, 1280),
    "md": Row(256, 33, 32, 3, 3072),
    "md5hash": Row(256, 33, 32, 3, 3072),
}
"""P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register spilling",
2019, section 5, and the scripts published with it."""


def cfd(given: Values) -> dict[str, np.ndarray]:
    """Face by face: what a wing, the far field or another cell adds."""
    cells = given["variables"].astype(np.float64)
    far = np.repeat(given["far_field"].astype(np.float64)[:, None], cells.shape[1], axis=1)
    far_flux = given["far_flux"].astype(np.float64).reshape(4, 3)

    def pressure(u: np.ndarray) -> np.ndarray:
        return 0.4 * (u[4] - (u[1] ** 2 + u[2] ** 2 + u[3] ** 2) / (2 * u[0]))

    def flux(u: np.ndarray, direction: int) -> np.ndarray:
        speed = u[1 + direction] / u[0]
        along = speed * u
        along[1 + direction] += pressure(u)
        along[4] += speed * pressure(u)
        return along

    def fastest(u: np.ndarray) -> np.ndarray:
        return np.sqrt(u[1] ** 2 + u[2] ** 2 + u[3] ** 2) / u[0] + np.sqrt(1.4 * pressure(u) / u[0])

    for direction in range(3):
        there = [*far_flux[:3, direction], far_flux[3, direction]]
        np.testing.assert_allclose(flux(far, direction)[1:, 0], there, rtol=1e-6)
    total = np.zeros_like(cells)
    for behind, normal in zip(
        given["neighbour"], given["normals"].astype(np.float64).swapaxes(0, 1), strict=True
    ):
        other = np.where(behind >= 0, cells[:, behind], far)
        added = sum(
            normal[direction] / 2 * (flux(cells, direction) + flux(other, direction))
            for direction in range(3)
        )
        spread = 0.2 / 2 * np.linalg.norm(normal, axis=0) * (fastest(cells) + fastest(other))
        added += np.where(behind >= 0, spread * (other - cells), 0.0)
        wing = np.zeros_like(cells)
        wing[1:4] = normal * pressure(cells)
        total += np.where(behind == -1, wing, added)
    return {"fluxes": total}


def conv(given: Values) -> dict[str, np.ndarray]:
    """Column by column, zeros around."""
    image, weights = given["image"].astype(np.float64), given["weights"].astype(np.float64)
    return {"out": np.array([np.convolve(column, weights, mode="same") for column in image.T]).T}


def gauss(given: Values) -> dict[str, np.ndarray]:
    """Row by row in single precision, as the filter is defined."""
    pixels = given["image"].astype(np.float32) * np.float32(1 / 255)
    a0, a1, a2, a3, b1, b2 = (given[name] for name in ("a0", "a1", "a2", "a3", "b1", "b2"))

    def levels(color: np.ndarray) -> np.ndarray:
        return (np.clip(color, 0, 1) * np.float32(255)).astype(np.uint8)

    down = np.empty_like(given["image"])
    x1, y1 = pixels[0], given["coefp"] * pixels[0]
    y2 = y1
    for row, x0 in enumerate(pixels):
        y1, y2, x1 = a0 * x0 + a1 * x1 - b1 * y1 - b2 * y2, y1, x0
        down[row] = levels(y1)
    result = np.empty_like(down)
    x1, y1 = pixels[-1], given["coefn"] * pixels[-1]
    x2, y2 = x1, y1
    for row in range(len(pixels) - 1, -1, -1):
        y1, y2 = a2 * x1 + a3 * x2 - b1 * y1 - b2 * y2, y1
        x1, x2 = pixels[row], x1
        result[row] = levels(down[row] * np.float32(1 / 255) + y1)
    return {"result": result}


def md(given: Values) -> dict[str, np.ndarray]:
    """Neighbour by neighbour, from the derivative of the potential a / r^12 - b / r^6."""
    position, neighbours = given["position"][:, :3], given["neighbour"]
    force = np.zeros((len(position), 4))
    for n in range(neighbours.shape[1]):
        away = position - position[neighbours[:, n].ravel()]
        r = np.linalg.norm(away, axis=1)
        strength = np.where(r**2 < given["cutoff2"], 1.5 / r**13 - 2.0 / r**7, 0.0)
        force[:, :3] += strength[:, None] * away / r[:, None]
    return {"force": force}


def md5hash(given: Values) -> dict[str, np.ndarray]:
    """The digests of all keys."""
    wanted = np.array([given[f"wanted{n}"] for n in range(4)], np.uint32)
    n, values = int(given["bytes"]), int(given["values"])
    keys = (bytes(k // values**i % values for i in range(n)) for k in range(given["keys"]))
    (found,) = ((k, key) for k, key in enumerate(keys) if hashlib.md5(key).digest() == wanted.tobytes())
    key = np.frombuffer((found[1] + b"\x80").ljust(8, b"\0"), np.uint8)
    return {"found_index": np.array([found[0]]), "found_key": key, "found_digest": wanted}


REFERENCES: Mapping[str, Callable[[Values], dict[str, np.ndarray]]] = {
    f.__name__: f for f in (cfd, conv, gauss, md, md5hash)
}
"""By the sample's name within `samples/regdem`."""
