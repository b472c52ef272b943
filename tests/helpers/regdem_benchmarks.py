"""What the samples in `samples/regdem` compute, once more, and the rows of RegDem's evaluation.

Written from the algorithms, not from the expressions in the launch files: step by step, a face, neighbour or key at a
time. Each function takes the arguments and constants of the launch by name, as they were before it, and returns the
buffers that the kernel writes.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

Values = Mapping[str, Any]


class Row(NamedTuple):
    """Threads of a CTA, registers demoted and their bytes; registers and occupancy before and after."""

    threads: int
    before: int
    after: int
    demoted: int
    bytes: int
    occupancy: tuple[float, float]


ROWS: Mapping[str, Row] = {
    "cfd": Row(192, 68, 56, 14, 10752, (0.375, 0.5625)),
    "conv": Row(128, 35, 32, 5, 2560, (0.75, 1.0)),
    "gauss": Row(64, 43, 40, 5, 1280, (0.625, 0.75)),
    "md": Row(256, 33, 32, 3, 3072, (0.75, 1.0)),
    "md5hash": Row(256, 33, 32, 3, 3072, (0.75, 1.0)),
    "nn": Row(192, 35, 32, 5, 3840, (0.75, 0.9375)),
    "pc": Row(256, 36, 32, 6, 6144, (0.75, 1.0)),
    "qtc": Row(64, 55, 48, 9, 2304, (0.5625, 0.625)),
    "vptree": Row(256, 34, 32, 4, 4096, (0.75, 1.0)),
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
    for neighbours, normals in zip(
        given["neighbour"], given["normals"].astype(np.float64).swapaxes(0, 1), strict=True
    ):
        other = np.where(neighbours >= 0, cells[:, neighbours], far)
        added = sum(
            normals[direction] / 2 * (flux(cells, direction) + flux(other, direction))
            for direction in range(3)
        )
        spread = 0.2 / 2 * np.linalg.norm(normals, axis=0) * (fastest(cells) + fastest(other))
        added += np.where(neighbours >= 0, spread * (other - cells), 0.0)
        wing = np.zeros_like(cells)
        wing[1:4] = normals * pressure(cells)
        total += np.where(neighbours == -1, wing, added)
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


def _distances(queries: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Between every query and every point, a point at a time."""
    wide = queries.astype(np.float64)
    return np.stack([np.linalg.norm(wide - point, axis=1) for point in points.astype(np.float64)], axis=1)


def nn(given: Values) -> dict[str, np.ndarray]:
    """By the distances to all points."""
    distances = _distances(given["queries"], given["training"])
    return {"closest": distances.argmin(axis=1), "closest_distance": distances.min(axis=1) ** 2}


def pc(given: Values) -> dict[str, np.ndarray]:
    """By the distances to all points: the leaves' boxes have no extent."""
    leaves = given["children"][:, 0] < 0
    distances = _distances(given["points"], given["boxes"][leaves, 0])
    return {"correlation": (distances < given["radius"]).sum(axis=1)}


def vptree(given: Values) -> dict[str, np.ndarray]:
    """By the distances to all points."""
    distances = _distances(given["targets"], given["points"])
    return {"nearest": distances.argmin(axis=1), "distance": distances.min(axis=1)}


def qtc(given: Values) -> dict[str, np.ndarray]:
    """Seed by seed: the point whose farthest member is closest joins, as long as it is within the threshold."""
    distance, free = given["distance"], given["clustered"] == 0
    found = []
    for seed in given["ungrouped"]:
        candidates = {int(p) for p in np.flatnonzero(free & (distance[seed] <= given["threshold"]))} - {
            int(seed)
        }
        members = [int(seed)]
        while candidates:
            reach, point = min((distance[p, members].max(), p) for p in candidates)
            if reach > given["threshold"]:
                break
            members.append(point)
            candidates.remove(point)
        found.append((len(members), seed))
    return {"cardinality": np.array(found)}


REFERENCES: Mapping[str, Callable[[Values], dict[str, np.ndarray]]] = {
    f.__name__: f for f in (cfd, conv, gauss, md, md5hash, nn, pc, qtc, vptree)
}
"""By the sample's name within `samples/regdem`."""


def _surface(n: int, dimensions: int) -> np.ndarray:
    """Points at random on the surface on which the queries of the launch files lie."""
    u, v = np.random.default_rng(1).random((2, n, 1))
    d = np.arange(dimensions)
    return np.sin(0.7 * (d + 1) * u + 1.7 * (d % 3 + 1) * v + d).astype(np.float32)


@cache
def _kd_tree(n: int, dimensions: int, leaf: int) -> dict[str, np.ndarray]:
    """A balanced tree in the order of its levels, split at medians of the longest sides; points in the leaves' order.

    `nodes`: axis (dimensions: a leaf), value (its bits), children (of a leaf: its points, from the first to one after
    the last).
    """
    points, n_nodes = _surface(n, dimensions), 2 * n // leaf - 1
    nodes, boxes = np.zeros((n_nodes, 4), np.int32), np.zeros((n_nodes, 2, dimensions), np.float32)
    ranges = [(0, n)]
    for node in range(n_nodes):
        first, end = ranges[node]
        part = points[first:end]
        boxes[node] = part.min(axis=0), part.max(axis=0)
        if end - first <= leaf:
            nodes[node] = dimensions, 0, first, end
            continue
        axis = int(np.argmax(boxes[node, 1] - boxes[node, 0]))
        points[first:end] = part[np.argsort(part[:, axis])]
        middle = (first + end) // 2
        nodes[node] = axis, points[middle, axis].view(np.int32), len(ranges), len(ranges) + 1
        ranges += [(first, middle), (middle, end)]
    return {"nodes": nodes, "boxes": boxes, "points": points}


@cache
def _vantage_tree(n: int, dimensions: int) -> dict[str, np.ndarray]:
    """A point a node: nearer points to the left, up to the median of the distances, the others to the right.

    `nodes`: threshold (its bits), left, right, parent; -1 where there is none.
    """
    points = _surface(n, dimensions)
    nodes, order = np.full((n, 4), -1, np.int32), np.zeros(n, np.int64)
    queue, numbered = [(np.arange(n), -1)], 1
    for node, (part, parent) in enumerate(queue):
        vantage, rest = part[0], part[1:]
        order[node] = vantage
        distances = np.linalg.norm(points[rest] - points[vantage], axis=1)
        rest = rest[np.argsort(distances)]
        half = (len(rest) + 1) // 2
        threshold = np.float32(np.sort(distances)[half - 1] if len(rest) else 0)
        nodes[node, 0], nodes[node, 3] = threshold.view(np.int32), parent
        for side, group in ((1, rest[:half]), (2, rest[half:])):
            if len(group):
                nodes[node, side] = numbered
                numbered += 1
                queue.append((group, node))
    return {"nodes": nodes, "points": points[order]}


FILES: Mapping[str, Mapping[str, Callable[[Values], np.ndarray]]] = {
    "nn": {
        "nodes.npy": lambda _: _kd_tree(256, 6, 4)["nodes"],
        "boxes.npy": lambda _: _kd_tree(256, 6, 4)["boxes"],
        "training.npy": lambda _: _kd_tree(256, 6, 4)["points"],
    },
    "pc": {
        "children.npy": lambda _: np.where(
            _kd_tree(128, 7, 1)["nodes"][:, :1] < 7, _kd_tree(128, 7, 1)["nodes"][:, 2:], np.int32(-1)
        ),
        "boxes.npy": lambda _: _kd_tree(128, 7, 1)["boxes"],
    },
    "qtc": {"cardinality.npy": lambda given: qtc(given)["cardinality"].astype(np.int32)},
    "vptree": {
        "nodes.npy": lambda _: _vantage_tree(255, 8)["nodes"],
        "points.npy": lambda _: _vantage_tree(255, 8)["points"],
    },
}
"""sample -> file -> what it holds, from the arguments that do not come from a file"""
