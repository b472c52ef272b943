"""Runs of a sweep that were not made: for tests of tables, charts and exports."""

from typing import Any

from ptxtool.results.sweeps import Configuration, Record, StoredResult, SweepResult


def record(
    kernel: str, scheme: str, ipc: float | None, status: Any = "done", instructions: int = 1000, **axes: Any
) -> Record:
    """The record of a run with some counters; without a thread IPC it has none."""
    configuration = Configuration(kernel, scheme=scheme, **axes)
    counters: dict[str, Any] = {}
    if ipc is not None:
        slots = {"idle": 1, "stall": int(ipc)}
        counters = {
            "thread_ipc": ipc,
            "cycles": 100,
            "thread_instructions": instructions,
            "limiter": "registers",
            "slots": slots,
            "stats": {"l1d_hits": 3},
        }
        counters |= {"grid": [2, 1, 1], "block": [32, 1, 1], "stall_points": []}
    problems = () if status == "done" else ({"code": "E404", "message": "out of bounds", "text": "reported"},)
    outcome = StoredResult(status, counters, ("x",), problems, "m")
    return Record(f"{kernel}/{scheme}", configuration.axes, "k", outcome)


RESULT = SweepResult(
    "ladder",
    (
        record("a", "base", 100.0),
        record("a", "shared", 125.0, share_registers=90),
        record("b", "base", 200.0),
        record("b", "shared", 160.0, share_registers=90),
        record("c", "base", 50.0),
        record("c", "shared", None, "failed", share_registers=90),
    ),
)
