"""The page of a sweep: every run with all its counters, to be filtered, pivoted and drawn by the reader."""

from typing import Any

from ptxtool.report.pages.page import page
from ptxtool.results.sweeps import AXES, SweepResult, counter_names

STYLES = ("sweep.css",)
SCRIPTS = ("sweep.js",)


def sweep_page(result: SweepResult) -> str:
    """The page as HTML."""
    return page(f"{result.name} - ptxtool", STYLES, SCRIPTS, {"sweep": sweep_data(result)})


def sweep_data(result: SweepResult) -> dict[str, Any]:
    """The axes that vary, with their values in the order of the runs; the runs; and a list per counter, None where a
    run does not have it."""
    names = list(dict.fromkeys(name for record in result for name in counter_names(record.counters)))
    values = {name: [_number(record.counters, name) for record in result] for name in names}
    axes = {axis: list(dict.fromkeys(record.axes[axis] for record in result)) for axis in AXES}
    return {
        "name": result.name,
        "complete": result.complete,
        "axes": {axis: found for axis, found in axes.items() if len(found) > 1},
        "fixed": {
            axis: found[0] for axis, found in axes.items() if len(found) == 1 and found[0] not in ("", 0)
        },
        "runs": [
            {
                "label": record.label,
                "axes": {axis: record.axes[axis] for axis, found in axes.items() if len(found) > 1},
                "status": record.status,
                "reason": record.outcome.reason,
            }
            for record in result
        ],
        "counters": {name: found for name, found in values.items() if any(n is not None for n in found)},
    }


def _number(counters: Any, name: str) -> float | None:
    """A counter by its name, "slots.stall" or one of GPGPU-Sim's; None for what is no number."""
    node: Any = counters
    for part in name.split("."):
        node = node.get(part) if isinstance(node, dict) else None
    if node is None:
        node = counters.get("stats", {}).get(name)
    return node if isinstance(node, int | float) and not isinstance(node, bool) else None
