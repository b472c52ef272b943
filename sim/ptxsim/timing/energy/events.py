"""The events of a run that cost energy, by the names of the machine's `[energy]` table.

Nothing is counted while the run goes on: what an instruction reads, writes and executes on is known from its text, so
its issues are enough; the rest are counters that the run has anyway. A scheme of registers adds its own events in a
function of its own, as `switching_events` does: a key of the table, and how often it happens.

Handled simply: an instruction costs the same with one lane as with 32. One that may execute on either unit
(`unit = "EITHER"`) counts as executed on SP; so do those of INT and DP, and those of TENSOR as executed on SFU.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ptxsim.base import program
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.formats.gpu import Gpu
from ptxtool.results.simulation import SwitchingResult


def instruction_events(instructions: Any, issues: Any) -> dict[str, int]:
    """The events of issued warp instructions: `instructions` INSTRUCTION[n], `issues` int64[n] how often each issued.

    A register read or written is 32 bits of 32 lanes.
    """
    of_issue = _of_issue.get(instructions, None, lambda: _events_of_issue(instructions))
    return dict(zip(_EVENTS, (of_issue @ issues).tolist(), strict=True))


_EVENTS = ("instruction", "sp", "sfu", "ldst", "register_read", "register_write")
_of_issue: IdentityCache[Any] = IdentityCache(32)
"""Of arrays of instructions: the events of an issue of each, int64 [_EVENTS][n]."""


def _events_of_issue(instructions: Any) -> Any:
    unit = instructions["unit"]
    unit = np.where(np.isin(unit, (program.EITHER, program.INT, program.DP)), program.SP, unit)
    unit = np.where(unit == program.TENSOR, program.SFU, unit)
    on_units = [unit == number for number in (program.SP, program.SFU, program.LDST)]
    words = [instructions[name] for name in ("words_read", "words_written")]
    return np.array([np.ones(len(unit)), *on_units, *words], np.int64)


def memory_events(
    core: Mapping[str, int], l1: Mapping[str, int], l2: Mapping[str, int], dram: Mapping[str, int], gpu: Gpu
) -> dict[str, int]:
    """The events of the memories, by the counters of a `SimResult`: bank cycles of shared memory, accesses of the SM's
    caches; bytes of L2, network and DRAM."""
    flits = core["icnt_requests_flits"] + core["icnt_replies_flits"]
    return {
        "shared": core["shared_accesses"] + core["bank_conflict_cycles"],
        "l1c": core["l1c_accesses"],
        "l1t": core["l1t_accesses"],
        "l1d": l1["accesses"],
        "l2": l2["accesses"] * gpu.l2.sector_bytes,
        "network": flits * gpu.icnt.flit_bytes,
        "dram": (dram["reads"] + dram["writes"]) * gpu.dram.atom_bytes,
    }


def switching_events(switching: SwitchingResult, warps: int) -> dict[str, int]:
    """The events of CTA switching, `warps` to a CTA: contexts that leave the pipeline and come back; registers that
    leave the register file and come back; where they go to the PCRF, each with its tag; look-ups of live vectors. (What
    goes to DRAM is among the events of the memories.)"""
    out, back = switching.registers_evicted, switching.registers_restored
    moved = {"context": switching.switches * warps, "register_read": out, "register_write": back}
    if not switching.pcrf_entries:
        return moved
    return moved | {
        "pcrf_write": out,
        "pcrf_read": back,
        "pcrf_tag": out + back,
        "vector": switching.vector_hits + switching.vector_misses,
    }


def added(*events: Mapping[str, int]) -> dict[str, int]:
    """Events of several kinds of hardware together; what two of them have is added up."""
    total: dict[str, int] = {}
    for each in events:
        for name, n in each.items():
            total[name] = total.get(name, 0) + n
    return total
