"""Hotspots on the host: the arrays that `timing/core/reasons.py` counts in, and the result read from them.

The registers that instructions access are found before the run (`accessed_registers.py`); where they are not known,
the windows of `timing/core/register_windows.py` are not counted.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ptxsim.base.program import Program
from ptxsim.timing.core import reason_codes as codes
from ptxsim.timing.core import register_windows as windows
from ptxsim.timing.sm_state import PENDING, STALL
from ptxtool.analysis.flow.cuda_lines import cuda_lines
from ptxtool.analysis.sharing.accessed_registers import AccessedRegisters, accessed_registers
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.ir.nodes import Function
from ptxtool.results.hotspots import ISSUED, REASONS, Hotspot, Hotspots, RegisterUse

_KINDS = ("idle", "scoreboard", "stall")
"""Kinds of slots, in the order of `sm_state`'s codes."""


_WORD = 64
_accessed: IdentityCache[AccessedRegisters | None] = IdentityCache(8)
"""Of kernels, by the registers per thread."""


def count_hotspots(run: Any, n_sms: int, arrays: dict[str, Any], program: Program, registers: int) -> None:
    """Let a run that has not begun count the reasons of its slots, in arrays that are kept in `arrays`.

    `registers` are those per thread. Raises `PtxError`: E202, an undeclared label.
    """
    n, warps = int(run["n_instructions"]), int(run["contexts"])
    kernel = program.positions[0][0]
    functions = {id(function): function for function, _ in program.positions}.values()
    known = _accessed.get(kernel, registers, lambda: accessed_registers(kernel, registers, functions))
    accesses = np.zeros((n, 0), np.int64) if known is None else _access_sets(known, program.positions)
    words = accesses.shape[1]
    shapes = {
        "slots": (n_sms, codes.N_REASONS),
        "reasons": (n + 1, codes.N_REASONS),
        "caused": (n,),
        "counts": (n, codes.N_COUNTS),
        "writer": (n_sms, warps, int(run["n_registers"])),
        "last_issued": (n_sms, warps),
        "missed": (n_sms, PENDING),
        "divergent_seen": (n_sms,),
        "accessed": (n_sms, warps, words),
        "windows": (n_sms, windows.N_COUNTS),
    }
    record = np.zeros(1, codes.HOTSPOTS)
    counted = arrays["hotspots"] = {name: np.zeros(shape, np.int64) for name, shape in shapes.items()}
    counted["accesses"] = accesses
    for name, array in counted.items():
        record[name] = array.ctypes.data
    record["access_words"], record["thread_registers"] = words, known.per_thread if known else 0
    counted["record"] = record
    run["hotspots"] = record.ctypes.data


def _access_sets(known: AccessedRegisters, positions: Sequence[tuple[Function, int]]) -> Any:
    """The sets of a program's instructions as rows of words, each with its lowest bit set."""
    n_bytes = -(-(1 + known.most) // _WORD) * _WORD // 8
    sets = (known.functions[function.name][index] if index >= 0 else 0 for function, index in positions)
    rows = b"".join((each << 1 | 1).to_bytes(n_bytes, "little") for each in sets)
    return np.frombuffer(rows, np.int64).reshape(-1, n_bytes // 8)


def _register_use(counts: Any) -> RegisterUse | None:
    """The shares of all windows, from the counts of each SM; None without any."""
    some = counts[counts[:, windows.WINDOWS] > 0]
    if not len(some):
        return None
    n, percent = int(some[:, windows.WINDOWS].sum()), 100 / windows.MILLION
    mean = int(some[:, windows.SUM].sum()) / n
    least, most = int(some[:, windows.LEAST].min()), int(some[:, windows.MOST].max())
    return RegisterUse(windows.WINDOW, n, mean * percent, least * percent, most * percent)


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
    elsewhere, use = _nonzero(counted["reasons"][-1]), _register_use(counted["windows"])
    found = Hotspots(total, tuple(per_sm), spots, elsewhere, lock_as_stall, use)
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
