"""CTA switching on the host: its records in a run, and its result."""

from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from ptxsim.base.program import Program
from ptxsim.timing.residency.switch_records import MAX_VECTORS, SWITCH, WARP
from ptxsim.timing.sm_state import MAX_CONTEXTS, MAX_RESIDENT
from ptxtool.analysis.flow.liveness import liveness, result_registers
from ptxtool.analysis.flow.pressure import file_of
from ptxtool.analysis.occupancy.switching_plan import ENTRY_BYTES, SwitchingPlan
from ptxtool.base.bits import from_indices, indices
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.results.simulation import SWITCHING_COUNTS, SwitchingResult

_OPTIONS = (
    "swap_cycles",
    "concurrent_switches",
    "registers_per_cycle",
    "overlap",
    "restore_first_cycles",
    "stalled_cycles",
    "refused_is_stalled",
    "vector_entries",
    "vector_hit_cycles",
)
_NONE_YET = ("vector_slot", "vector_wanted", "vector_came", "vector_tag", "stalled_since", "live_count")
_PC_BYTES = 4
"""Of a live-register vector, besides 8 for each 64 registers."""


def check_limits(gpu: Gpu) -> None:
    """Raise E502 for a machine that switches more CTAs than the records hold."""
    options = gpu.switching
    for key, value, most in (
        ("ctas", options.ctas, MAX_RESIDENT),
        ("warps", options.warps, MAX_CONTEXTS),
        ("vector_entries", options.vector_entries, MAX_VECTORS),
    ):
        if value > most:
            what = f"{gpu.name}: switching.{key} is {value}"
            raise error("E502", what, help=f"the simulator holds at most {most}")


class Switcher:
    """CTA switching of a run: the records of every SM, and the arrays whose addresses they hold."""

    def __init__(self, plan: SwitchingPlan, gpu: Gpu, program: Program, ctas: int) -> None:
        """`ctas` is the number of CTAs that can be resident: that of the plan, or fewer for a small grid."""
        self.plan, self.ctas = plan, ctas
        n_sms, options = gpu.sm.count, gpu.switching
        words = row_words(program)
        vectors = live_rows(program) if plan.pcrf_entries else np.zeros((1, 1), np.int64)
        wanted = np.zeros((n_sms, len(program.instructions)), np.uint8)
        self.warps: Any = np.zeros((n_sms, ctas * plan.warps), WARP)
        self._arrays = vectors, wanted
        self.records: Any = np.zeros(n_sms, SWITCH)
        records = self.records
        records["ctas"], records["acrf_ctas"] = ctas, min(plan.acrf_ctas, ctas)
        records["pcrf_entries"] = records["free_entries"] = plan.pcrf_entries
        for name in _OPTIONS:
            records[name] = getattr(options, name)
        records["keeps_places"] = options.order == "launch-first"
        records["lines"] = plan.lines
        records["vectors"], (records["words32"], records["words64"]) = vectors.ctypes.data, words
        records["vector_bytes"] = _PC_BYTES + 8 * max(1, -(-plan.active.needs.registers_per_thread // 64))
        records["wanted"] = wanted.ctypes.data + np.arange(n_sms) * wanted.strides[0]
        records["warps"] = self.warps.ctypes.data + np.arange(n_sms) * self.warps.strides[0]
        for name in _NONE_YET:
            records[name] = -1

    def result(self, cycles: int) -> SwitchingResult:
        """The result when a run has ended with this cycle."""
        records, plan = self.records, self.plan
        left = cycles - records["counted_cycle"]
        over = max(1, cycles * len(records))
        average = {
            n: int((records[f"{n}_sum"] + left * records[n]).sum()) / over for n in ("resident", "active")
        }
        totals = {name: int(records[name].sum()) for name in SWITCHING_COUNTS if not name.startswith("dram")}
        in_dram = ENTRY_BYTES if plan.lines else 0
        totals["dram_bytes_written"] = totals["registers_evicted"] * in_dram
        totals["dram_bytes_read"] = totals["registers_restored"] * in_dram
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
            dram_ctas=max(0, self.ctas - plan.acrf_ctas) if plan.lines else 0,
            dram_most=int(records["most_outside"].max()) if plan.lines else 0,
            cycles_to_stall=int(records["to_stall_sum"].sum()) / max(1, totals["stalls"]),
            cycles_to_first_stall=int(records["to_first_stall_sum"].sum())
            / max(1, int(records["first_stalls"].sum())),
            **totals,
        )


def row_words(program: Program) -> tuple[int, int]:
    """The words of 64 bits that a vector of rows has for the rows of 32 bits, and for those of 64 bits."""
    return -(-program.rows32 // 64), -(-program.rows64 // 64)


def live_rows(program: Program) -> Any:
    """Vectors of rows, int64 [instructions + 2, words], a bit for each row of a warp's registers (`row_words`).

    Of every instruction the rows of registers that are live before it; then the rows that are no general register's,
    which are never lost; then space for the union of some. The registers in which a function returns its results are
    live at its end.
    """
    start64 = 64 * row_words(program)[0]
    starts = 0, start64
    rows = [0] * program.n_registers
    for function, first_register in program.first_registers:
        for register in function.registers:
            k = first_register + register.index
            file, first, count = program.register_rows[k].tolist()
            if file < 2 and first >= 0 and file_of(register) == "general":
                rows[k] = from_indices(range(starts[file] + first, starts[file] + first + count))
    firsts = {function.name: first for function, first in program.first_registers}
    live = {function.name: liveness(function).before_bits for function, _ in program.first_registers}
    vectors = []
    for function, i in program.positions:
        bits = from_indices(result_registers(function)) if i < 0 else live[function.name][i]
        vectors.append(reduce(or_, (rows[firsts[function.name] + k] for k in indices(bits)), 0))
    owned = reduce(or_, rows, 0)
    vectors += [~owned, 0]
    n_words = max(1, sum(row_words(program)))
    data = b"".join((bits & (1 << 64 * n_words) - 1).to_bytes(8 * n_words, "little") for bits in vectors)
    return np.frombuffer(bytearray(data), np.int64).reshape(-1, n_words)
