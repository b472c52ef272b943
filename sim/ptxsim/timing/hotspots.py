"""Hotspots on the host: the arrays that `timing/core/reasons.py` counts in, and the result read from them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ptxsim.base.program import Program
from ptxsim.timing.core import reason_codes as codes
from ptxsim.timing.sm_state import PENDING, STALL
from ptxtool.analysis.flow.cuda_lines import cuda_lines
from ptxtool.results.hotspots import ISSUED, REASONS, Hotspot, Hotspots

_KINDS = ("idle", "scoreboard", "stall")
"""Kinds of slots, in the order of `sm_state`'s codes."""


def count_hotspots(run: Any, n_sms: int, arrays: dict[str, Any]) -> None:
    """Let a run that has not begun count the reasons of its slots, in arrays that are kept in `arrays`."""
    n, warps = int(run["n_instructions"]), int(run["contexts"])
    shapes = {
        "slots": (n_sms, codes.N_REASONS),
        "reasons": (n + 1, codes.N_REASONS),
        "caused": (n,),
        "counts": (n, codes.N_COUNTS),
        "writer": (n_sms, warps, int(run["n_registers"])),
        "last_issued": (n_sms, warps),
        "missed": (n_sms, PENDING),
        "divergent_seen": (n_sms,),
    }
    record = np.zeros(1, codes.HOTSPOTS)
    counted = arrays["hotspots"] = {name: np.zeros(shape, np.int64) for name, shape in shapes.items()}
    for name, array in counted.items():
        record[name] = array.ctypes.data
    counted["record"] = record
    run["hotspots"] = record.ctypes.data


def read_hotspots(program: Program, sms: Any, arrays: dict[str, Any], lock_as_stall: bool) -> Hotspots:
    """The counts of a run. Its reasons sum to the kinds of slots of every SM, which is asserted."""
    counted = arrays["hotspots"]
    slots = np.asarray(sms["slots"]).sum(axis=1)  # [SMs][kinds]
    issued = slots[:, STALL + 1 :].sum(axis=1)
    per_sm = [{ISSUED: int(n), **_named(row)} for n, row in zip(issued, counted["slots"], strict=True)]
    functions = {id(function): function for function, _ in program.positions}
    cuda = {key: cuda_lines(function) for key, function in functions.items()}
    spots = tuple(_spot(program, arrays, i, cuda) for i in range(len(program.instructions)))
    total = {name: sum(reasons[name] for reasons in per_sm) for name in (ISSUED, *REASONS)}
    found = Hotspots(total, tuple(per_sm), spots, _nonzero(counted["reasons"][-1]), lock_as_stall)
    for row, reasons in zip(slots.tolist(), per_sm, strict=True):
        kinds = found.kinds(reasons)
        assert row[: STALL + 1] == [kinds[name] for name in _KINDS], "reasons do not sum to slots"
    return found


def _named(row: Any) -> dict[str, int]:
    """A row of counts by the names of the reasons, which are in the order of their codes."""
    return dict(zip(REASONS, row.tolist(), strict=True))


def _nonzero(row: Any) -> dict[str, int]:
    return {name: n for name, n in _named(row).items() if n}


def _spot(program: Program, arrays: dict[str, Any], i: int, cuda: Mapping[int, tuple[str, ...]]) -> Hotspot:
    counted = arrays["hotspots"]
    function, index = program.positions[i]
    return Hotspot(
        instruction=i,
        function=function.name,
        line=int(program.instructions[i]["line"]),
        text=program.texts[i],
        cuda=cuda[id(function)][index] if index >= 0 else "",
        issues=int(arrays["issues"][i]),
        reasons=_nonzero(counted["reasons"][i]),
        caused=int(counted["caused"][i]),
        **dict(zip(codes.COUNTS, counted["counts"][i].tolist(), strict=True)),
    )
