"""Runs of a comparison of register schemes that were not made: kernel a is split by RegMutex, b stays, c is refused."""

from typing import Any

from ptxtool.results.sweeps import Configuration, Record, StoredResult, SweepResult
from ptxtool.sweep.reproduction.register_schemes.matrix import Column, Machine, Matrix

MATRIX = Matrix(
    ("a", "b", "c"),
    tuple(Column(name, name) for name in ("none", "regmutex", "unified")),
    (Machine("gpu", ()),),
)
REFUSED = StoredResult("failed", problems=({"code": "E301", "message": "cannot split 'c': it is PTXPlus"},))


def counters(cycles: int, **changes: Any) -> dict[str, Any]:
    return {
        "cycles": cycles,
        "energy": {"total_uj": cycles / 10},
        "resident_average": 4.0,
        "storage_bits": 0,
        "extended_marks": 0,
        "text_instructions": 100,
        "warp_instructions": 1000,
        "block": [48, 1, 1],
        "cta_cycles": 5000,
    } | changes


def record(kernel: str, scheme: str, outcome: StoredResult | dict[str, Any]) -> Record:
    found = outcome if isinstance(outcome, StoredResult) else StoredResult("done", outcome, memory="m")
    axes = Configuration(kernel, gpu="gpu", scheme=scheme, name=kernel).axes
    return Record(f"{kernel}/{scheme}", axes, "k", found)


SPLIT = counters(
    800,
    resident_average=6.0,
    storage_bits=512,
    extended_marks=4,
    text_instructions=105,
    warp_instructions=1020,
    pool={"base": 24, "extended": 10, "wait_cycles": 250},
)
RESULT = SweepResult(
    "schemes",
    (
        record("a", "none", counters(1000)),
        record("a", "regmutex", SPLIT),
        record("a", "unified", counters(1250, resident_average=8.0)),
        record("b", "none", counters(1000)),
        record("b", "regmutex", counters(1000, storage_bits=512)),
        record("b", "unified", counters(990)),
        record("c", "none", counters(1000)),
        record("c", "regmutex", REFUSED),
        record("c", "unified", StoredResult("lost")),
    ),
)
