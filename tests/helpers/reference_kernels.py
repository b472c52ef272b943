"""The reference kernels of the corpus: their launches, inputs by formula, expected outputs, and recorded runs."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import ptxsim
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "u32": np.uint32, "u8": np.uint8}


def _hash(i: np.ndarray, seed: int) -> np.ndarray:
    """`U(i, seed)` of launches.json: 32-bit unsigned."""
    with np.errstate(over="ignore"):
        x = i.astype(np.uint32) + np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
        x ^= x >> np.uint32(16)
        x *= np.uint32(0x7FEB352D)
        x ^= x >> np.uint32(15)
        x *= np.uint32(0x846CA68B)
        return (x ^ (x >> np.uint32(16))).astype(np.int64)


def make(type_: str, count: int, formula: str, p: list[Any]) -> np.ndarray:
    """A buffer from its formula."""
    i = np.arange(count, dtype=np.int64)
    dtype = DTYPES[type_]
    if formula == "const":
        return np.full(count, p[0], dtype)
    if formula == "uniform":
        fraction = ((_hash(i, p[0]) & ((1 << p[1]) - 1)) / (1 << p[1])).astype(dtype)
        return (fraction * dtype(p[2])).astype(dtype) + dtype(p[3])
    if formula == "mod":
        values = p[1] + (_hash(i, p[0]) % p[2] if p[2] else _hash(i, p[0]))
    elif formula == "mod2":
        values = _hash(i, p[0]) % p[1] + _hash(i, p[2]) % p[3]
    elif formula == "gate":
        u = _hash(i, p[0])
        values = np.where(u % p[2] < p[1], p[3] + u // p[2] % p[4], p[5])
    elif formula == "affine":
        values = (p[0] * i + p[1]) & 0xFFFFFFFF & p[2]
    elif formula == "ring":
        values = (i // p[0] + i % p[0] + p[1] - p[0] // 2) % p[1]
    elif formula == "prefix_mod":
        steps = p[1] + _hash(i, p[0]) % p[2]
        values = np.concatenate(([0], np.cumsum(steps)[:-1]))
    else:
        return _btree(formula, count, p).astype(dtype)
    return values.astype(np.uint64).astype(dtype) if dtype is np.uint8 else values.astype(dtype)


def _btree(formula: str, count: int, p: list[int]) -> np.ndarray:
    order, f0, f1 = p
    node, slot = np.divmod(np.arange(count, dtype=np.int64), order + 1)
    level = np.where(node == 0, 0, np.where(node <= f0, 1, 2))
    place = np.choose(level, [np.zeros_like(node), node - 1, node - 1 - f0])
    fan = np.array([f0, f1, order])[level]
    below = np.array([f1 * order, order, 1])[level]
    if formula == "btree_keys":
        return np.where(slot <= fan, 16 * (place * fan + slot) * below, 2147483647)
    child = np.choose(level, [1 + slot, 1 + f0 + place * f1 + slot, place * order + slot])
    return np.where(slot >= fan, 0, child)


@dataclass
class ReferenceLaunch:
    """One launch of launches.json, with fresh arguments."""

    data: dict[str, Any]

    def __str__(self) -> str:
        return str(self.data["id"])

    def arguments(self) -> tuple[list[Any], dict[str, np.ndarray]]:
        """The arguments in order, and the buffers by name."""
        args: list[Any] = []
        buffers: dict[str, np.ndarray] = {}
        for a in self.data["arguments"]:
            if a["kind"] == "buffer":
                buffers[a["name"]] = make(a["type"], a["count"], a["init"]["formula"], a["init"]["params"])
                args.append(buffers[a["name"]])
            else:
                args.append(DTYPES[a["type"]](a["value"]))
        return args, buffers

    def constants(self) -> dict[str, np.ndarray]:
        return {
            c["name"]: make(c["type"], c["count"], c["init"]["formula"], c["init"]["params"])
            for c in self.data["constant_symbols"]
        }

    def check(self, buffers: dict[str, np.ndarray]) -> None:
        """Compare with the plain C++ reference: bit by bit, or samples and the sum within its tolerance."""
        for expected in self.data["expected_outputs"]:
            found = buffers[expected["name"]]
            if self.data["bit_exact"]:
                assert hashlib.sha256(found.tobytes()).hexdigest() == expected["sha256"], expected["name"]
                continue
            tolerance = self.data["relative_tolerance"] * expected["max_abs"]
            n = len(expected["first"])
            np.testing.assert_allclose(found[:n], expected["first"], rtol=0, atol=tolerance)
            np.testing.assert_allclose(found[-n:], expected["last"], rtol=0, atol=tolerance)
            np.testing.assert_allclose(
                found.sum(dtype=np.float64), expected["sum"], rtol=0, atol=tolerance * len(found)
            )


@cache
def launches(shared: Path) -> tuple[ReferenceLaunch, ...]:
    text = (shared / "corpus" / "reference_kernels" / "launches.json").read_text(encoding="utf-8")
    return tuple(ReferenceLaunch(launch) for launch in json.loads(text)["launches"])


def launch_named(shared: Path, name: str) -> ReferenceLaunch:
    return next(launch for launch in launches(shared) if str(launch) == name)


@cache
def kernels(shared: Path) -> Module:
    """The module of all of them."""
    text = (shared / "corpus" / "reference_kernels" / "kernels.sm35.ptx").read_bytes()
    return parse(text, name="kernels.sm35.ptx")


def recorded_runs(shared: Path) -> list[dict[str, Any]]:
    """The runs of GPGPU-Sim 4.2: a row is a launch, a configuration such as C2050-lrr, and counters."""
    text = (shared / "reference" / "reference_runs.json").read_text(encoding="utf-8")
    runs: list[dict[str, Any]] = json.loads(text)["runs"]
    return runs


def recorded_run(shared: Path, launch: str, config: str) -> dict[str, Any]:
    """The row of a launch in a configuration."""
    (row,) = (r for r in recorded_runs(shared) if r["launch"] == launch and r["config"] == config)
    return row


def simulate(
    shared: Path, launch: ReferenceLaunch, arguments: list[Any], grid: Any = None, **options: Any
) -> ptxsim.SimResult:
    """Run a launch, by default on the machine that GPGPU-Sim 4.2 simulated."""
    return ptxsim.launch(
        kernels(shared).kernels[launch.data["kernel"]],
        grid or launch.data["grid"],
        launch.data["block"],
        arguments,
        dynamic_shared=launch.data["dynamic_shared_bytes"],
        constants=launch.constants(),
        **({"gpu": "gpgpusim42-c2050"} | options),
    )


def simulate_recorded(shared: Path, row: dict[str, Any], **options: Any) -> ptxsim.SimResult:
    """Run the launch of a row with its registers; what it computes is compared with the plain C++ results."""
    launch = launch_named(shared, row["launch"])
    arguments, buffers = launch.arguments()
    result = simulate(shared, launch, arguments, registers=row["registers_per_thread"], **options)
    launch.check(buffers)
    return result
