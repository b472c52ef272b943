"""Hotspots on the host: the arrays that `timing/core/reasons.py` counts in, and the result read from them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ptxsim.base.program import Program
from ptxsim.timing.core import reason_codes as codes
from ptxsim.timing.sm_state import IDLE, PENDING, SCOREBOARD, STALL
from ptxtool.analysis.flow.cuda_lines import cuda_lines
from ptxtool.results.hotspots import ISSUED, REASONS, Hotspot, Hotspots

NAMES: Mapping[int, str] = {
    codes.NO_WARP: "no_warp",
    codes.EXITED: "exited",
    codes.BARRIER: "barrier",
    codes.FENCE: "fence",
    codes.COPIES: "copies",
    codes.ATOMIC: "atomic",
    codes.BRANCH: "branch",
    codes.FETCH: "fetch",
    codes.ICACHE: "instruction_miss",
    codes.WINDOW: "window",
    codes.ALU: "alu",
    codes.SFU: "sfu",
    codes.SHARED_LOAD: "shared",
    codes.CONSTANT: "constant",
    codes.TEXTURE_FETCH: "texture",
    codes.L1: "l1",
    codes.L1_MISS: "l1_miss",
    codes.PAST_L1: "past_l1",
    codes.LOCAL_L1: "local_l1",
    codes.LOCAL_MISS: "local_miss",
    codes.LOCK: "lock",
    codes.HELD: "held",
    codes.SP_OPERANDS: "sp_operands",
    codes.SP_UNITS: "sp_units",
    codes.SFU_OPERANDS: "sfu_operands",
    codes.SFU_UNITS: "sfu_units",
    codes.L1_REFUSES: "l1_refuses",
    codes.L1C_REFUSES: "l1c_refuses",
    codes.BANKS: "bank_conflict",
    codes.ACCESSES: "accesses",
    codes.LDST: "ldst",
}
"""The reasons by the numbers that compiled code has for them."""


def count_hotspots(run: Any, n_sms: int, arrays: dict[str, Any]) -> None:
    """Let a run that has not begun count where its time goes, in arrays that are kept in `arrays`."""
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
    arrays["hotspots"] = {name: np.zeros(shape, np.int64) for name, shape in shapes.items()}
    for name, array in arrays["hotspots"].items():
        record[name] = array.ctypes.data
    arrays["hotspots"]["record"] = record
    run["hotspots"] = record.ctypes.data


def read_hotspots(program: Program, sms: Any, arrays: dict[str, Any], lock_as_stall: bool) -> Hotspots:
    """What a run has counted. Its reasons sum to the kinds of slots of every SM, which is asserted."""
    counted = arrays["hotspots"]
    slots = np.asarray(sms["slots"]).sum(axis=1)  # [SMs][kinds]
    issued = slots[:, STALL + 1 :].sum(axis=1)
    per_sm = [{ISSUED: int(n), **_named(row)} for n, row in zip(issued, counted["slots"], strict=True)]
    functions = {id(function): function for function, _ in program.positions}
    places = {key: cuda_lines(function) for key, function in functions.items()}
    spots = tuple(_spot(program, arrays, i, places) for i in range(len(program.instructions)))
    total = {name: sum(reasons[name] for reasons in per_sm) for name in (ISSUED, *REASONS)}
    found = Hotspots(total, tuple(per_sm), spots, _some(counted["reasons"][-1]), lock_as_stall)
    for kinds, reasons in zip(slots, per_sm, strict=True):
        mine = found.kinds(reasons)
        theirs = [int(kinds[k]) for k in (IDLE, SCOREBOARD, STALL)]
        assert [mine["idle"], mine["scoreboard"], mine["stall"]] == theirs, "reasons do not sum to slots"
    return found


def _named(row: Any) -> dict[str, int]:
    """A row of counts by the names of the reasons."""
    by_name = {NAMES[code]: int(row[code]) for code in range(codes.N_REASONS)}
    return {name: by_name[name] for name in REASONS}


def _some(row: Any) -> dict[str, int]:
    return {name: n for name, n in _named(row).items() if n}


def _spot(program: Program, arrays: dict[str, Any], i: int, places: Mapping[int, tuple[str, ...]]) -> Hotspot:
    counted = arrays["hotspots"]
    function, index = program.positions[i]
    counts = [int(n) for n in counted["counts"][i]]
    return Hotspot(
        instruction=i,
        function=function.name,
        line=int(program.instructions[i]["line"]),
        text=program.texts[i],
        cuda=places[id(function)][index] if index >= 0 else "",
        issues=int(arrays["issues"][i]),
        lanes=counts[codes.LANES],
        active=counts[codes.ACTIVE],
        divergent=counts[codes.DIVERGENT],
        memory=counts[codes.MEMORY],
        transactions=counts[codes.TRANSACTIONS],
        hits=counts[codes.HITS],
        misses=counts[codes.MISSES],
        pending_hits=counts[codes.PENDING_HITS],
        reasons=_some(counted["reasons"][i]),
        caused=int(counted["caused"][i]),
    )
