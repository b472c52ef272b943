"""CTA switching on the host: what it cannot be combined with, its records in a run, and its result."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxsim.base.program import Program
from ptxsim.timing.residency.switch_records import MAX_VECTORS, SWITCH, WARP
from ptxsim.timing.sm_state import MAX_CONTEXTS, MAX_RESIDENT
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.flow.pressure import file_of, pressure_of
from ptxtool.analysis.occupancy.switching_plan import SwitchingPlan
from ptxtool.base.bits import from_indices
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Function
from ptxtool.results.simulation import SwitchingResult

_COUNTERS = (
    "switches",
    "evictions",
    "restores",
    "registers_evicted",
    "registers_restored",
    "depletion_cycles",
    "vector_hits",
    "vector_misses",
)
_OPTIONS = ("swap_cycles", "restore_first_cycles", "stalled_cycles", "vector_entries", "vector_hit_cycles")
_NONE_YET = ("slot", "incoming", "vector_slot", "vector_wanted", "vector_came", "vector_tag")


def check_switching(
    kernel: Function, program: Program, plan: SwitchingPlan, gpu: Gpu, others: Sequence[tuple[object, str]]
) -> None:
    """Raise E502 for features that switching excludes; `others` are (whether it is used, its name)."""
    options = gpu.switching
    for key, value, most in (
        ("ctas", options.ctas, MAX_RESIDENT),
        ("warps", options.warps, MAX_CONTEXTS),
        ("vector_entries", options.vector_entries, MAX_VECTORS),
    ):
        if value > most:
            what = f"{gpu.name}: switching.{key} is {value}"
            raise error("E502", what, help=f"the simulator holds at most {most}")
    found = [what for there, what in others if there]
    if program.instructions["copies"].any():
        found.append("asynchronous copies")
    if plan.pcrf_entries and len(program.first_registers) > 1:
        found.append("functions that are called")
    if found:
        raise error(
            "E502",
            f"CTA switching ({plan.scheme.name}) together with {found[0]}",
            kernel.source,
            kernel.start,
            kernel.body_start,
            help='this is not simulated: leave one of the two out (scheme="none")',
        )


class Switcher:
    """CTA switching of a run: the records of every SM, and the arrays whose addresses they hold."""

    def __init__(self, plan: SwitchingPlan, gpu: Gpu, kernel: Function, program: Program, ctas: int) -> None:
        """`ctas` is the number of CTAs that can be resident: that of the plan, or fewer for a small grid."""
        self.plan, self.ctas = plan, ctas
        n_sms, options = gpu.sm.count, gpu.switching
        live, kept = np.zeros(1, np.int64), np.zeros((1, 1), np.uint8)
        if plan.pcrf_entries:
            live, kept = live_rows(kernel, program)
        self.warps: Any = np.zeros((n_sms, ctas * plan.warps), WARP)
        self._arrays = live, kept
        self.records: Any = np.zeros(n_sms, SWITCH)
        records = self.records
        records["ctas"], records["acrf_ctas"] = ctas, min(plan.acrf_ctas, ctas)
        records["pcrf_entries"] = records["free_entries"] = plan.pcrf_entries
        for name in _OPTIONS:
            records[name] = getattr(options, name)
        records["live"], records["kept"] = live.ctypes.data, kept.ctypes.data
        records["kept_bytes"] = kept.shape[1]
        records["warps"] = self.warps.ctypes.data + np.arange(n_sms) * self.warps.strides[0]
        for name in (*_NONE_YET, "stalled_since", "live_count"):
            records[name] = -1

    def result(self, cycles: int) -> SwitchingResult:
        """The result when a run has ended with this cycle."""
        records, plan = self.records, self.plan
        left = cycles - records["counted_cycle"]
        over = max(1, cycles * len(records))
        average = {
            n: int((records[f"{n}_sum"] + left * records[n]).sum()) / over for n in ("resident", "active")
        }
        totals = {name: int(records[name].sum()) for name in _COUNTERS}
        totals["depletion_cycles"] += int((left * records["depleted"]).sum())
        return SwitchingResult(
            scheme=plan.scheme.name,
            active_limit=min(plan.active.resident_ctas, self.ctas),
            resident_limit=self.ctas,
            active_most=int(records["most_active"].max()),
            active_average=average["active"],
            resident_most=int(records["most_resident"].max()),
            resident_average=average["resident"],
            pcrf_entries=plan.pcrf_entries,
            pcrf_most=int(records["most_entries"].max()),
            **totals,
        )


def live_rows(kernel: Function, program: Program) -> tuple[Any, Any]:
    """Per instruction the live 32-bit registers, int64, and the rows that an eviction keeps, a bit for each."""
    found = liveness(kernel)
    curve = pressure_of(found).curve
    n = len(program.instructions)
    live = np.zeros(n, np.int64)
    live[: len(curve)] = curve
    starts = 0, program.rows32
    rows = [0] * program.n_registers
    for k, (file, first, count) in enumerate(program.register_rows.tolist()):
        if file < 2 and first >= 0 and file_of(kernel.registers[k]) == "general":
            rows[k] = from_indices(range(starts[file] + first, starts[file] + first + count))
    owned = 0
    for own in rows:
        owned |= own
    n_rows = program.rows32 + program.rows64
    everything = (1 << n_rows) - 1
    n_bytes = max(1, -(-n_rows // 8))
    kept = np.full((n, n_bytes), 0xFF, np.uint8)
    for i, bits in enumerate(found.before_bits):
        mine = everything & ~owned
        while bits:
            lowest = bits & -bits
            mine |= rows[lowest.bit_length() - 1]
            bits ^= lowest
        kept[i] = np.frombuffer(mine.to_bytes(n_bytes, "little"), np.uint8)
    return live, kept
