"""What the papers' benchmarks compute, in numpy and from the arguments of their launch files: `REFERENCES[sample]`.

Written from the algorithms, not from the kernels or the expressions of the launch files; searches and paths go another
way than the kernels do. `FILES` are the `.npy` files of samples, which `benchmarks/make_samples.py` writes and
`tests/sim/programs/test_paper_benchmarks.py` makes again.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ptxtool.base.resources import resource_dir
from ptxtool.emit import emit
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

Arguments = Mapping[str, Any]


def arguments(name: str) -> Arguments:
    """The arguments and the constants of a sample, by name."""
    launch = load_launch(resource_dir("samples") / name / "launch.toml")
    return {given.name: given.value for given in (*launch.inputs, *launch.constant_inputs)}


def backprop(a: Arguments) -> dict[str, np.ndarray]:
    """Delta rule with momentum, row by row: the bias is an input of 1."""
    w, oldw = a["w"].astype(np.float64), a["oldw"].astype(np.float64)
    for row, value in enumerate(np.concatenate(([1.0], a["layer"][1:]))):
        oldw[row, 1:] = 0.3 * a["delta"][1:] * value + 0.3 * oldw[row, 1:]
    w[:, 1:] += oldw[:, 1:]
    return {"w": w, "oldw": oldw}


def btree(a: Arguments) -> dict[str, np.ndarray]:
    """Binary search in all keys of the leaves."""
    leaf, slot = np.nonzero((a["nodes"][:, 1019] == 1)[:, None] & (a["nodes"][:, 510:1019] < 2**31 - 1))
    keys, records = a["nodes"][leaf, 510 + slot], a["nodes"][leaf, 1 + slot]
    first, last = np.searchsorted(keys, a["first"]), np.searchsorted(keys, a["last"])
    return {
        "first_node": leaf[first],
        "last_node": leaf[last],
        "record": records[first],
        "length": records[last] - records[first] + 1,
    }


def lib(a: Arguments) -> dict[str, np.ndarray]:
    """All paths at once, in double precision; drifts and discount factors are sums and products along the rates."""
    delta, volatility = float(a["delta"]), a["volatility"].astype(np.float64)[:, None]
    steps, n = a["shocks"].shape[0], volatility.size
    rates = np.full((n, a["paths"]), float(a["rate"]))
    for step in range(steps):
        later, sigma = rates[step + 1 :], volatility[: n - step - 1]
        drift = np.cumsum(delta * sigma * later / (1 + delta * later), axis=0)
        shock = np.sqrt(delta) * a["shocks"][step].astype(np.float64)
        rates[step + 1 :] = later * np.exp(delta * sigma * drift + sigma * shock - delta * sigma**2 / 2)
    bonds = np.cumprod(1 / (1 + delta * rates[steps:]), axis=0)
    annuities = delta * np.cumsum(bonds, axis=0)
    expiry = a["maturity"] - steps
    swaps = bonds[expiry] + a["swap_rate"].astype(np.float64)[:, None] * annuities[expiry] - 1
    return {"value": 100 * np.maximum(-swaps, 0).sum(axis=0) / np.prod(1 + delta * rates[:steps], axis=0)}


def mum(a: Arguments) -> dict[str, np.ndarray]:
    """Longest matches from the neighbours of each suffix of a query among the sorted suffixes of the reference."""
    length, n = int(a["length"]), int(a["reference_length"])
    weights = 5 ** np.arange(length - 1, -1, -1, dtype=np.int64)

    def cut(text: np.ndarray) -> np.ndarray:
        """The words of `length` letters from each place on, in the digits 1 to 4, and 0 after the end."""
        padded = np.concatenate((text + 1, np.zeros((*text.shape[:-1], length), text.dtype)), axis=-1)
        return np.lib.stride_tricks.sliding_window_view(padded, length, axis=-1)[..., : text.shape[-1], :]

    words = cut(a["reference"])
    codes = words @ weights
    order = np.argsort(codes)
    wanted = cut(a["queries"])[:, : length - int(a["min_match"]) + 1]
    place = np.searchsorted(codes[order], wanted @ weights)
    longest = np.zeros(place.shape, np.int64)
    for neighbour in (np.maximum(place - 1, 0), np.minimum(place, n - 1)):
        same = (words[order[neighbour]] == wanted) & (wanted > 0)
        longest = np.maximum(longest, np.cumprod(same, axis=-1, dtype=np.int8).sum(axis=-1))
    best, start = longest.max(axis=1), longest.argmax(axis=1)
    reference = a["reference"].tobytes()
    found = [
        reference.find(q[s : s + n].tobytes()) for q, s, n in zip(a["queries"], start, best, strict=True)
    ]
    packed = best << 24 | start << 16 | np.array(found)
    return {"matches": packed.astype(np.uint32)}


def mri_q(a: Arguments) -> dict[str, np.ndarray]:
    """Complex exponentials, a sample at a time."""
    place = np.stack([a[name].astype(np.float64) for name in "xyz"])
    total = np.zeros(place.shape[1], np.complex128)
    for *k, magnitude in a["samples"].astype(np.float64)[: a["n_samples"]]:
        total += magnitude * np.exp(2j * np.pi * (np.array(k) @ place))
    return {"real": a["real"] + total.real, "imaginary": a["imaginary"] + total.imag}


def stencil(a: Arguments) -> dict[str, np.ndarray]:
    """The sum over the six directions, rolled; edges stay as they were."""
    cells = a["before"].astype(np.float64)
    neighbours = sum(np.roll(cells, way, axis) for axis in range(3) for way in (-1, 1))
    result = a["after"].astype(np.float64)
    inner = (slice(1, -1),) * 3
    result[inner] = (neighbours * float(a["c1"]) - cells * float(a["c0"]))[inner]
    return {"after": result}


def bfs(a: Arguments) -> dict[str, np.ndarray]:
    """The union of the frontier's neighbours, as sets of nodes."""
    edges = a["edges"].tolist()
    reached: set[int] = set()
    for start, n in a["nodes"][a["frontier"] != 0].tolist():
        reached.update(edges[start : start + n])
    new = np.array(sorted(reached - set(np.flatnonzero(a["visited"]).tolist())))
    cost, updating = a["cost"].copy(), a["updating"].copy()
    cost[new] = a["cost"].max() + 1
    updating[new] = 1
    return {"cost": cost, "updating": updating, "frontier": np.zeros_like(a["frontier"])}


def gaussian(a: Arguments) -> dict[str, np.ndarray]:
    """Rows below the pivot, one by one."""
    t, matrix, right = int(a["t"]), a["a"].astype(np.float64), a["b"].astype(np.float64)
    for row in range(t + 1, int(a["size"])):
        matrix[row, t:] -= a["m"][row, t] * matrix[t, t:]
        right[row] -= a["m"][row, t] * right[t]
    return {"a": matrix, "b": right}


REFERENCES: dict[str, Callable[[Arguments], dict[str, np.ndarray]]] = {
    "backprop": backprop,
    "btree": btree,
    "lib": lib,
    "mum": mum,
    "mri-q": mri_q,
    "stencil": stencil,
    "bfs": bfs,
    "gaussian": gaussian,
}


def suffix_tree(text: bytes) -> np.ndarray:
    """The suffix tree of a text of the letters 0 to 3 as `mum` reads it: four children, link, first place, length, 0.

    From the sorted suffixes: inner nodes are the intervals of suffixes that have a beginning in common which no longer
    interval has. A suffix that ends where a node ends has no leaf: nothing follows it.
    """
    order = sorted(range(len(text)), key=lambda i: text[i : i + 64])
    common = []
    for a, b in pairwise(order):
        n = next((n for n in range(64) if text[a + n : a + n + 1] != text[b + n : b + n + 1]), 64)
        assert n < 64  # the beginnings decided the order
        common.append(n)
    lengths, first, below = [0], [len(text)], [[]]  # of nodes; what hangs below: nodes, or -1 - suffix
    stack = [0]
    for rank, suffix in enumerate(order):
        height = common[rank] if rank < len(common) else 0
        hanging = -1 - suffix
        if lengths[stack[-1]] < height:  # the suffix opens a node
            stack.append(len(lengths))
            lengths.append(height)
            first.append(suffix)
            below.append([hanging])
            continue
        below[stack[-1]].append(hanging)
        first[stack[-1]] = min(first[stack[-1]], suffix)
        while lengths[stack[-1]] > height:
            closed = stack.pop()
            if lengths[stack[-1]] < height:
                stack.append(len(lengths))
                lengths.append(height)
                first.append(first[closed])
                below.append([])
            below[stack[-1]].append(closed)
            first[stack[-1]] = min(first[stack[-1]], first[closed])
    inner = len(lengths)
    by_length = sorted(
        range(inner), key=lambda node: lengths[node]
    )  # what all searches pass lies close together
    number = {node: new for new, node in enumerate(by_length)}
    by_text = {text[p : p + n]: node for node, (p, n) in enumerate(zip(first, lengths, strict=True))}
    nodes = np.zeros((inner, 8), np.uint16)
    for node, hanging in enumerate(below):
        place, n = first[node], lengths[node]
        if node:
            nodes[number[node], 4:7] = number[by_text[text[place + 1 : place + n]]], place, n
        for each in hanging:
            start = first[each] if each >= 0 else -1 - each
            if start + n < len(text):
                nodes[number[node], text[start + n]] = number[each] if each >= 0 else inner + start
    return nodes


def lowered(name: str) -> str:
    """The PTXPlus of a sample's PTX, in the registers that its launch file allocates."""
    folder = resource_dir("samples") / name
    launch = load_launch(folder / "launch.toml")
    module = parse((folder / "kernel.ptx").read_bytes(), str(folder / "kernel.ptx"))
    return emit(rewrite(module, f"lower-ptxplus{{regs={launch.registers}}}").module)


# sample -> file -> what it holds, from the arguments that do not come from a file
FILES: dict[str, dict[str, Callable[[Arguments], np.ndarray]]] = {
    "mum": {
        "nodes.npy": lambda a: suffix_tree(a["reference"].tobytes()),
        "matches.npy": lambda a: mum(a)["matches"],
    },
}
