"""The rows of a store as records, checked: a row that another program wrote, or that a disk has damaged, is an error.

What reports and exports take from counters is checked for its kind; the rest is what the simulator wrote.
"""

import json
from typing import Any

import msgspec

from ptxtool.results.sweeps import AXES, WAITING, Record, StoredResult

_Number = int | float
_ADDED: dict[str, str | int | float | bool] = {"register_scheme": "", "replica": ""}
"""Axes that stores of earlier versions do not have."""


class _StallPoint(msgspec.Struct):
    instruction: int
    line: int
    register: str
    sequence: int
    warps: int
    warp_cycles: int


class _Counters(msgspec.Struct):
    """The counters that are looked for by name."""

    stats: dict[str, str | _Number]
    thread_ipc: _Number | None = None
    cycles: int | None = None
    thread_instructions: int | None = None
    grid: list[int] = []
    block: list[int] = []
    slots: dict[str, _Number] = {}
    dynamic: dict[str, Any] | None = None
    stall_points: list[_StallPoint] = []


class _Problem(msgspec.Struct):
    code: str
    message: str
    text: str


def record_of(label: Any, axes: Any, key: Any, outcome: Any) -> Record:
    """The record of a row of texts, two of them JSON; without an outcome the run waits. Raises ValueError."""
    try:
        named = _ADDED | msgspec.convert(json.loads(axes), dict[str, str | int | float | bool])
        stored = StoredResult.from_dict(json.loads(outcome)) if outcome else WAITING
        if stored.counters:
            msgspec.convert(stored.counters, _Counters)
        msgspec.convert(stored.problems, list[_Problem])
        record = Record(msgspec.convert(label, str), named, msgspec.convert(key, str), stored)
    except (TypeError, ValueError, RecursionError) as problem:
        raise ValueError(str(problem)) from None
    missing = [axis for axis in AXES if axis not in named]
    if missing:
        raise ValueError(f"no axis '{missing[0]}'")
    return record
