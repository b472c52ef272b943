"""A simulated run as columns for a page: its counters, its slots by reason, and the figures of every instruction."""

from collections.abc import Sequence
from typing import Any

from ptxtool.ir.nodes import Function
from ptxtool.results.hotspots import ISSUED, REASONS, Hotspot, Hotspots
from ptxtool.results.simulation import SimResult

COLUMNS = (
    "issues",
    "lanes",
    "active",
    "divergent",
    "memory",
    "transactions",
    "hits",
    "misses",
    "pending_hits",
    "caused",
)
"""The fields of a `Hotspot` that are numbers."""


def reasons_data() -> list[dict[str, str]]:
    """Every reason: its name, its label, and the kind of slot that it refines."""
    return [{"name": name, "label": reason.label, "kind": reason.kind} for name, reason in REASONS.items()]


def run_data(result: SimResult, functions: Sequence[Function]) -> dict[str, Any]:
    """The figures of a run; those of instructions for `functions` one after the other."""
    plain = result.to_dict()
    counters = {name: value for name, value in plain.items() if isinstance(value, str | int | float)}
    memory = {name: plain[name] for name in ("l1", "l2", "dram", "core")}
    found: dict[str, Any] = {"counters": counters, **memory, "slots": result.slots, "grid": list(result.grid)}
    found["block"] = list(result.block)
    found["energy"] = result.energy.total_uj
    found["remarks"] = list(result.remarks)
    found["stall_points"] = plain["stall_points"]
    if result.hotspots is not None:
        found["hotspots"] = hotspot_data(result.hotspots, functions)
    return found


def hotspot_data(hotspots: Hotspots, functions: Sequence[Function]) -> dict[str, Any]:
    """Slots by reason, and a list per column with a number for each instruction.

    `reasons` of an instruction are pairs: the number of the reason in `reasons_data`, and the slots.
    """
    spots = _in_order(hotspots, functions)
    number = {name: k for k, name in enumerate(REASONS)}
    return {
        "total": hotspots.slots,
        "issued": hotspots.reasons.get(ISSUED, 0),
        "reasons": {name: n for name, n in hotspots.reasons.items() if n and name != ISSUED},
        "kinds": hotspots.kinds(hotspots.reasons),
        "lost": [spot.lost for spot in spots],
        "of": [[x for name, n in spot.reasons.items() if n for x in (number[name], n)] for spot in spots],
        **{column: [getattr(spot, column) for spot in spots] for column in COLUMNS},
    }


def _in_order(hotspots: Hotspots, functions: Sequence[Function]) -> list[Hotspot]:
    """The instructions of the functions, each with the figures of all that ran in it; blank ones where it did not."""
    by_function: dict[str, list[Hotspot]] = {}
    for spot in hotspots.instructions:
        by_function.setdefault(spot.function, []).append(spot)
    spots: list[Hotspot] = []
    for function in functions:
        n = len(function.instructions)
        own = by_function.get(function.name, [])
        spots += own if len(own) == n else [_blank(function, i) for i in range(n)]
    return spots


def _blank(function: Function, i: int) -> Hotspot:
    zeros = dict.fromkeys(COLUMNS, 0)
    return Hotspot(i, function.name, function.line(i), function.text(i), "", reasons={}, **zeros)
