"""What the samples of the papers' second and third set compute, once more: plain loops over numpy arrays.

Written from the descriptions of the algorithms, not from the expressions in the launch files. Each function takes the
arguments of the launch by name, as they were before it, and returns the buffers that the kernel writes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Values = Mapping[str, Any]
SIDE = 16
"""Threads and pixels, letters or units in a row of a tile."""


def _convolved(image: np.ndarray, weights: np.ndarray, axis: int) -> np.ndarray:
    """`out[x] = sum over j of weights[8 - j] * image[x + j]`, zeros around: a convolution along one axis."""
    lines = np.moveaxis(image.astype(np.float64), axis, -1)
    rows = [np.convolve(line, weights.astype(np.float64), mode="same") for line in lines]
    return np.moveaxis(np.array(rows), -1, axis)


def conv1(given: Values) -> dict[str, np.ndarray]:
    return {"out": _convolved(given["image"], given["weights"], 1)}


def conv2(given: Values) -> dict[str, np.ndarray]:
    return {"out": _convolved(given["image"], given["weights"], 0)}


def lavamd(given: Values) -> dict[str, np.ndarray]:
    """Box by box and neighbour by neighbour: the formula of the potential, and its gradient from the differences."""
    position, charge = given["position"].astype(np.float64), given["charge"].astype(np.float64)
    particles, first, neighbour = given["particles"], given["first_neighbour"], given["neighbour"]
    force = given["force"].astype(np.float64)
    for box in range(given["boxes"]):
        home = position[box, : particles[box]]
        for other in (box, *neighbour[first[box] : first[box + 1]]):
            there, q = position[other, : particles[other]], charge[other, : particles[other]]
            product = sum(np.multiply.outer(home[:, k], there[:, k]) for k in (1, 2, 3))
            distance = np.add.outer(home[:, 0], there[:, 0]) - product
            potential = q * np.exp(-2.0 * float(given["alpha"]) ** 2 * distance)
            force[box, : len(home), 0] += potential.sum(axis=1)
            for k in (1, 2, 3):
                difference = np.subtract.outer(home[:, k], there[:, k])
                force[box, : len(home), k] += (2.0 * potential * difference).sum(axis=1)
    return {"force": force}


def aligned(given: Values, diagonals: Sequence[int]) -> dict[str, np.ndarray]:
    """Score by score in the tiles whose row and column make one of the sums `diagonals`, all such tiles at once."""
    tiles, penalty = int(given["tiles"]), int(given["penalty"])
    side = tiles * SIDE + 1
    score = given["score"].astype(np.int64).reshape(-1, side, side)
    similarity = given["similarity"].reshape(-1, side, side)
    places = [
        (matrix, slice(row * SIDE, (row + 1) * SIDE + 1), slice(column * SIDE, (column + 1) * SIDE + 1))
        for matrix in range(len(score))
        for row in range(tiles)
        for column in range(tiles)
        if row + column in diagonals
    ]
    cells = np.array([score[place] for place in places])
    letters = np.array([similarity[place] for place in places])
    for y in range(1, SIDE + 1):
        for x in range(1, SIDE + 1):
            pair = cells[:, y - 1, x - 1] + letters[:, y, x]
            gap = np.maximum(cells[:, y, x - 1], cells[:, y - 1, x]) - penalty
            cells[:, y, x] = np.maximum(pair, gap)
    for (matrix, rows, columns), done in zip(places, cells, strict=True):
        score[matrix, rows.start + 1 : rows.stop, columns.start + 1 : columns.stop] = done[1:, 1:]
    return {"score": score.reshape(given["score"].shape)}


def nw1(given: Values) -> dict[str, np.ndarray]:
    return aligned(given, [int(given["tiles"]) - 1])


def nw2(given: Values) -> dict[str, np.ndarray]:
    return aligned(given, [int(given["tiles"])])


def nw1_diagonals(given: Values) -> dict[str, np.ndarray]:
    """Diagonals of 8, 24, ..., 120 tiles, counted from the upper left corner."""
    return aligned(given, [length - 1 for length in range(8, 128, 16)])


def nw2_diagonals(given: Values) -> dict[str, np.ndarray]:
    """Diagonals of 120, 104, ..., 8 tiles, on the way to the lower right corner."""
    return aligned(given, [2 * int(given["tiles"]) - 1 - length for length in range(8, 128, 16)])


def lavamd_no_boxes(given: Values) -> dict[str, np.ndarray]:
    return {"force": given["force"]}


def srad1(given: Values) -> dict[str, np.ndarray]:
    image = given["image"].astype(np.float64)
    rows, columns = np.arange(image.shape[0]), np.arange(image.shape[1])
    north = image[np.maximum(rows - 1, 0)] - image
    south = image[np.minimum(rows + 1, len(rows) - 1)] - image
    west = image[:, np.maximum(columns - 1, 0)] - image
    east = image[:, np.minimum(columns + 1, len(columns) - 1)] - image
    gradient = (north * north + south * south + west * west + east * east) / (image * image)
    laplacian = (north + south + west + east) / image
    variation = (gradient / 2 - laplacian * laplacian / 16) / (1 + laplacian / 4) ** 2
    q0 = float(given["q0"])
    coefficient = 1 / (1 + (variation - q0) / (q0 * (1 + q0)))
    return {
        "north_d": north,
        "south_d": south,
        "west_d": west,
        "east_d": east,
        "coefficient": np.minimum(np.maximum(coefficient, 0), 1),
    }


def srad2(given: Values) -> dict[str, np.ndarray]:
    c = given["coefficient"].astype(np.float64)
    below = np.vstack([c[1:], c[-1:]])
    right = np.hstack([c[:, 1:], c[:, -1:]])
    divergence = (
        c * given["north_d"] + below * given["south_d"] + c * given["west_d"] + right * given["east_d"]
    )
    return {"image": given["image"] + float(given["rate"]) / 4 * divergence}


def layerforward(given: Values) -> dict[str, np.ndarray]:
    """A step of the tree adds to row 0, 2w, 4w, ... of a tile the row that is w below."""
    weight, value = given["weight"].astype(np.float64), given["input"]
    partial = np.zeros(given["partial"].shape)
    for tile in range(len(partial)):
        rows = slice(tile * SIDE + 1, (tile + 1) * SIDE + 1)
        products = weight[rows, 1:] * value[rows, None]
        step = 1
        while step < SIDE:
            products[:: 2 * step] += products[step :: 2 * step]
            step *= 2
        weight[rows, 1:] = products
        partial[tile] = products[0]
    return {"weight": weight, "partial": partial}


def nn(given: Values) -> dict[str, np.ndarray]:
    """Neuron by neuron, all images and maps at once; a filter has the weights of all maps below side by side."""
    below, weight = given["below"].astype(np.float64), given["weight"].astype(np.float64)
    out = np.zeros(given["out"].shape)
    for y in range(5):
        for x in range(5):
            window = below[:, :, 2 * y : 2 * y + 5, 2 * x : 2 * x + 5]
            inputs = window.transpose(0, 2, 3, 1).reshape(len(below), -1)
            sums = weight[:, 0] + inputs @ weight[:, 1:151].T
            out[:, :, y, x] = 1.7159 * np.tanh(sums * 2 / 3)
    return {"out": out}


Reference = Callable[[Values], dict[str, np.ndarray]]

REFERENCES: Mapping[str, Reference] = {
    f.__name__: f for f in (conv1, conv2, lavamd, nw1, nw2, srad1, srad2, layerforward, nn)
}
"""Of the samples' `launch.toml`."""

OTHER_LAUNCHES: Mapping[tuple[str, str], Reference] = {
    ("lavamd", "no-boxes.toml"): lavamd_no_boxes,
    ("nw1", "diagonals.toml"): nw1_diagonals,
    ("nw2", "diagonals.toml"): nw2_diagonals,
}
"""Of further launch files beside it."""
