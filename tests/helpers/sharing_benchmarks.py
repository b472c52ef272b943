"""What the samples in `samples/sharing` compute, once more, and how many CTAs of them the papers have on an SM.

Each function takes the arguments and constants of the launch by name, as they were before it, and returns the buffers
that the kernel writes; `grids` are the CTAs of the launches in a list. Where a sample of another shape computes the
same, its reference serves both.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import paper_benchmarks
import scratchpad_benchmarks
import suffix_tree
from resident_ctas import REGISTERS, SCRATCHPAD

Values = Mapping[str, Any]

OF_THE_PAPERS = {
    "conv1": "CONV1",
    "conv2": "CONV2",
    "lavamd": "lavaMD",
    "lib": "LIB",
    "mri-q": "mri-q",
    "mum": "MUM",
    "nw1": "NW1",
    "nw2": "NW2",
    "sgemm": "sgemm",
    "srad1": "SRAD1",
    "srad2": "SRAD2",
}
"""The papers' names of the samples in `samples/sharing`."""
BY_REGISTERS = tuple(name for name, app in OF_THE_PAPERS.items() if app in REGISTERS)
BY_SCRATCHPAD = tuple(name for name, app in OF_THE_PAPERS.items() if app in SCRATCHPAD)


AS_THE_PAPERS = "as-the-papers.toml"
"""The launch file of a sample whose results are wrong in GPGPU-Sim 3.2.2."""


def launch_files(name: str) -> tuple[str, ...]:
    """The launch files of a sample: that of its name, and others of the same kernel, the one with another grid last."""
    faulty = (AS_THE_PAPERS,) if name in ("lavamd", "mum") else ()
    return ("launch.toml", *faulty, "second-grid.toml")


def boxes(sides: tuple[int, int, int]) -> np.ndarray:
    """`lavamd`'s boxes, 164 words each: x, y, z, number, offset (2 words), neighbours, 0; each neighbour as the box."""
    places = [place[::-1] for place in np.ndindex(*sides[::-1])]
    number = {place: n for n, place in enumerate(places)}
    words = np.zeros((len(places), 164), np.int32)
    for n, (x, y, z) in enumerate(places):
        near = [(x + dx - 1, y + dy - 1, z + dz - 1) for dz, dy, dx in np.ndindex(3, 3, 3)]
        found = [place for place in near if place in number and number[place] != n]
        words[n, :8] = x, y, z, n, 100 * n, 0, len(found), 0
        for k, place in enumerate(found):
            words[n, 8 + 6 * k : 14 + 6 * k] = *place, number[place], 100 * number[place], 0
    return words


@cache
def tree() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`mum`'s nodes, their children, and the reference: 80,000 random letters between `s` and `$`, four of a column."""
    letters = "".join("ACGT"[k] for k in np.random.default_rng(1).integers(0, 4, 80_000))
    text = np.frombuffer(f"s{letters}$\0\0".encode(), np.int8)
    return *suffix_tree.textures(letters, columns=512), text.reshape(-1, 4).T


FILES: Mapping[str, Mapping[str, Callable[[], np.ndarray]]] = {
    "lavamd": {"boxes.npy": lambda: boxes((3, 3, 4)), "boxes-10.npy.zst": lambda: boxes((10, 10, 10))},
    "mum": {
        "nodes.npy.zst": lambda: tree()[0],
        "children.npy.zst": lambda: tree()[1],
        "reference.npy.zst": lambda: tree()[2],
    },
}
"""Sample -> file beside it -> what it holds."""


def lavamd(given: Values) -> dict[str, np.ndarray]:
    """Box by box and neighbour by neighbour; nothing with the papers' semantics, where the number of boxes is 0."""
    is_empty = given["ptxplus_semantics"] == "gpgpu-sim"
    number_boxes = 0 if is_empty else int(np.frombuffer(given["sizes"].tobytes(), np.int64)[2])
    table = given["boxes"]
    near = [table[n, 11 : 11 + 6 * table[n, 6] : 6] for n in range(number_boxes)]
    return scratchpad_benchmarks.lavamd(
        {
            **given,
            "boxes": number_boxes,
            "alpha": np.frombuffer(given["parameters"].tobytes(), np.float64)[0],
            "particles": np.full(len(table), 100),
            "first_neighbour": np.concatenate(([0], np.cumsum([len(each) for each in near]))).astype(int),
            "neighbour": np.concatenate([*near, []]).astype(int),
        }
    )


def mum(given: Values) -> dict[str, np.ndarray]:
    """Suffixes of queries looked up by their first 20 letters, and followed from the root of the tree."""
    text = given["reference"].T.tobytes()
    letters = text[1 : text.index(b"$")]
    least = int(given["min_length"])
    places: dict[bytes, int] = {letters[k : k + least]: k for k in range(len(letters) - least + 1)}
    assert len(places) == len(letters) - least + 1
    matches = np.zeros(given["matches"].shape, np.uint32)
    for number, row in enumerate(given["queries"]):
        query = row.tobytes()[1:-1]
        for start in range(len(query) - least + 1):
            suffix = query[start:]
            if (k := places.get(suffix[:least])) is not None:
                n = len(suffix_tree.common_prefix(suffix, letters[k:]))
                matches[number, start] = suffix_tree.locus(
                    given["nodes"], given["children"], letters[k : k + n], columns=512
                )
    return {"matches": matches}


def nw1(given: Values) -> dict[str, np.ndarray]:
    """The diagonals of the launches, counted from the upper left corner."""
    return scratchpad_benchmarks.aligned({**given, "tiles": 128}, [length - 1 for length in given["grids"]])


def nw2(given: Values) -> dict[str, np.ndarray]:
    """On the way to the lower right corner."""
    return scratchpad_benchmarks.aligned({**given, "tiles": 128}, [255 - length for length in given["grids"]])


def sgemm(given: Values) -> dict[str, np.ndarray]:
    """Column of C by column."""
    a, b, c = (given[name].astype(np.float64) for name in "abc")
    sums = [sum(a[k] * factor for k, factor in enumerate(column)) for column in b.T]
    return {"c": float(given["alpha"]) * np.array(sums) + float(given["beta"]) * c}


def lib(given: Values) -> dict[str, np.ndarray]:
    """Rate by rate; the derivative by the last initial rate is a central difference."""

    def value(last: float) -> float:
        steps, delta = int(given["n_steps"]), float(given["delta"])
        rates = np.full(int(given["n_rates"]), np.float64(np.float32(0.05)))
        rates[-1] += last
        for step in range(steps):
            drift = 0.0
            for i in range(step + 1, len(rates)):
                sigma = float(given["volatility"][i - step - 1])
                drift += delta * sigma * rates[i] / (1 + delta * rates[i])
                rates[i] *= np.exp(
                    delta * sigma * drift + sigma * np.sqrt(delta) * 0.3 - delta * sigma**2 / 2
                )
        bonds = np.cumprod(1 / (1 + delta * rates[steps:]))
        paid = [
            max(1 - bonds[m - 1] - rate * delta * bonds[:m].sum(), 0)
            for m, rate in zip(given["maturity"], given["swap_rate"].astype(np.float64), strict=True)
        ]
        return 100 * sum(paid) / float(np.prod(1 + delta * rates[:steps]))

    paths = int(given["paths"])
    slope = (value(1e-5) - value(-1e-5)) / 2e-5
    return {"value": np.full(paths, value(0.0)), "derivative": np.full(paths, slope)}


def srad1(given: Values) -> dict[str, np.ndarray]:
    """The rows before and after the image are not part of it."""
    return scratchpad_benchmarks.srad1({**given, "image": given["image"][1:-1]})


def srad2(given: Values) -> dict[str, np.ndarray]:
    """Nor is the row after the coefficients."""
    return scratchpad_benchmarks.srad2({**given, "coefficient": given["coefficient"][:-1]})


REFERENCES: Mapping[str, Callable[[Values], dict[str, np.ndarray]]] = {
    "conv1": scratchpad_benchmarks.conv1,
    "conv2": scratchpad_benchmarks.conv2,
    "lavamd": lavamd,
    "lib": lib,
    "mri-q": paper_benchmarks.mri_q,
    "mum": mum,
    "nw1": nw1,
    "nw2": nw2,
    "sgemm": sgemm,
    "srad1": srad1,
    "srad2": srad2,
}
