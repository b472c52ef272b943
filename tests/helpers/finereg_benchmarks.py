"""What the samples in `samples/finereg` compute, once more, and what limits them on `gtx980-finereg`.

Written from the algorithms, not from the expressions in the launch files: a column, cluster, face or velocity at a
time. Each function takes the arguments and constants of the launch by name, as they were before it, and returns the
buffers that the kernel writes.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from regdem_benchmarks import cfd

Values = Mapping[str, Any]


class Limits(NamedTuple):
    """Threads of a CTA, registers per thread, bytes of scratchpad, resident CTAs of an SM, and what admits no more."""

    threads: int
    registers: int
    scratchpad: int
    resident: int
    limiters: tuple[str, ...]


LIMITS: Mapping[str, Limits] = {
    "at": Limits(256, 42, 0, 5, ("registers",)),  # floor(65536 / (256 * 48))
    "bi": Limits(256, 21, 0, 8, ("threads",)),
    "cf": Limits(192, 76, 0, 4, ("registers",)),  # floor(65536 / (192 * 80))
    "fd": Limits(256, 12, 0, 8, ("threads",)),
    "km": Limits(256, 23, 0, 8, ("threads",)),
    "lb": Limits(120, 50, 0, 9, ("registers",)),  # floor(65536 / (4 warps * 32 * 56))
    "mc": Limits(256, 20, 2048, 8, ("threads",)),
    "sy2": Limits(256, 16, 0, 8, ("threads",)),
    "ta": Limits(256, 25, 13312, 7, ("scratchpad",)),  # floor(98304 / 13312)
    "tr": Limits(128, 47, 4224, 10, ("registers",)),  # floor(65536 / (128 * 48))
}
"""By the sample's name within `samples/finereg`."""


def _product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Column by column."""
    total = np.zeros(len(matrix))
    for column, factor in zip(matrix.T.astype(np.float64), vector, strict=True):
        total += factor * column
    return total


def at(given: Values) -> dict[str, np.ndarray]:
    return {"tmp": _product(given["A"], given["x"])}


def bi(given: Values) -> dict[str, np.ndarray]:
    return {"s": _product(given["A"].T, given["r"])}


def fd(given: Values) -> dict[str, np.ndarray]:
    """The curl of the electric field, sides of the cells one after the other."""
    ex, ey = given["ex"].astype(np.float64), given["ey"].astype(np.float64)
    curl = ex[:, 1:] - ex[:, :-1] + ey[1:] - ey[:-1]
    return {"hz": given["hz"] - 0.7 * curl}


def km(given: Values) -> dict[str, np.ndarray]:
    """Cluster by cluster."""
    centers = given["clusters"].astype(np.float64).reshape(given["n_clusters"], -1)
    squares = [((given["features"] - center[:, None]) ** 2).sum(axis=0) for center in centers]
    return {"membership": np.argmin(squares, axis=0)}


def mc(given: Values) -> dict[str, np.ndarray]:
    """Option by option."""
    sums = []
    for price, strike, drift, volatility in given["options"].astype(np.float64).reshape(-1, 4):
        paid = (price * np.exp(drift + volatility * given["samples"].astype(np.float64)) - strike).clip(0)
        sums.append((paid.sum(), paid @ paid))
    return {"sums": np.array(sums)}


def sy2(given: Values) -> dict[str, np.ndarray]:
    """Column by column of A and B."""
    total = given["beta"] * given["C"].astype(np.float64)
    for k in range(given["k_columns"]):
        outer = np.multiply.outer(given["A"][:, k].astype(np.float64), given["B"][:, k])
        total += given["alpha"] * (outer + outer.T)
    return {"C": total}


def cf(given: Values) -> dict[str, np.ndarray]:
    """Face by face, as `regdem/cfd`; what the cells contribute follows from their states."""
    density, *momentum, energy = given["variables"].astype(np.float64)
    speed = np.array(momentum) / density
    pressure = 0.4 * (energy - density * (speed**2).sum(axis=0) / 2)
    for direction, own in enumerate(given["contributions"]):
        along = [speed[direction] * m + (k == direction) * pressure for k, m in enumerate(momentum)]
        np.testing.assert_allclose(own, [*along, speed[direction] * (energy + pressure)], atol=1e-5)
    return cfd({**given, "far_flux": given["far_flux"].reshape(3, 5)[:, 1:].T})


_DIAGONALS = (1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)
LATTICE = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), *_DIAGONALS])
"""Of `lb`: no velocity, and one of each pair of opposite ones (x, y, z)."""


def lb(given: Values) -> dict[str, np.ndarray]:
    """Stream the whole arrays, velocity by velocity; collide; take what is in the box."""
    velocities = [LATTICE[0]] + [sign * v for v in LATTICE[1:] for sign in (1, -1)]
    weights = [{0: 1 / 3, 1: 1 / 18, 2: 1 / 36}[int(v @ v)] for v in velocities]
    before = given["before"].astype(np.float64)
    arrived = np.array([np.roll(f, v[::-1], axis=(0, 1, 2)) for f, v in zip(before, velocities, strict=True)])
    density = arrived.sum(axis=0)
    momentum = sum(f[..., None] * v for f, v in zip(arrived, velocities, strict=True))
    u = momentum / density[..., None]
    rest = 1.5 * (u**2).sum(axis=-1)
    after = np.zeros_like(before)
    box = (slice(1, -1), slice(1, -1), slice(1, 121))
    for n, (v, weight) in enumerate(zip(velocities, weights, strict=True)):
        equilibrium = weight * density * (1 + 3 * u @ v + 4.5 * (u @ v) ** 2 - rest)
        relaxed = -0.85 * arrived[n] + 1.85 * equilibrium
        back = 0 if n == 0 else (n - 1 ^ 1) + 1
        after[n][box] = np.where(given["wall"] != 0, arrived[back], relaxed)[box]
    return {"after": after}


def ta(given: Values) -> dict[str, np.ndarray]:
    """How many cosines reach each edge; the difference from the next edge is a bin's count."""
    cosines = given["sets"].astype(np.float64) @ given["points"].astype(np.float64).T
    reached = [(cosines >= edge).sum(axis=(1, 2)) for edge in given["edges"][1:-1]]
    everything = np.full(len(cosines), cosines[0].size)
    return {"counts": -np.diff([everything, *reached, 0 * everything], axis=0).T}


def tr(given: Values) -> dict[str, np.ndarray]:
    """Column by column."""
    matrix = given["matrix"]
    return {"out": np.array([matrix[:, column] for column in range(matrix.shape[1])])}


REFERENCES: Mapping[str, Callable[[Values], dict[str, np.ndarray]]] = {
    f.__name__: f for f in (at, bi, cf, fd, km, lb, mc, sy2, ta, tr)
}
"""By the sample's name within `samples/finereg`."""
