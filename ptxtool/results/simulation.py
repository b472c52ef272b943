"""What simulated launches return: counters as plain data, and their totals under the names that GPGPU-Sim prints.

`slots` has one count per scheduler and core cycle in which the SM had work: idle, scoreboard, stall, issued. They sum
to schedulers x active cycles, which the simulator asserts. Thread IPC is lanes executed (after predication) per cycle
of the whole GPU, the papers' IPC; warp IPC is warp instructions per cycle and SM. A total is the sum of the launches'
counts, IPC the quotient of sums. Reference: timing-model section 4.1.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ptxtool.analysis.energy.breakdown import EnergyBreakdown
from ptxtool.analysis.occupancy.unified_plan import UnifiedPlan
from ptxtool.base.cuda_places import CudaPlace
from ptxtool.base.mangled import shown_name
from ptxtool.results.hotspots import Hotspots

if TYPE_CHECKING:
    import pandas

SLOT_NAMES = {
    "idle": "sched_w0_idle",
    "scoreboard": "sched_w0_scoreboard",
    "stall": "sched_stall",
    "issued": "sched_issued",
}
"""GPGPU-Sim's names of the kinds of slots."""
_CORE_NAMES = {"stall_shared_memory": "stall_shd_mem", "bank_conflict_cycles": "shmem_bank_conflict"}

_NOT_SUMS = ("gpu_ipc", "warp_ipc_per_sm", "max_ctas_per_core", "power_w")
"""Counters of a launch that mean nothing when they are added up."""


@dataclass(frozen=True)
class StallPoint:
    """An instruction at which non-owner warps stopped because what it touches is locked.

    `warps` counts the stops, `warp_cycles` the cycles they lasted. Shared registers: `register` is the first of the
    instruction beyond the private ones and `sequence` its sequence number. Shared scratchpad: `offset` is the first
    byte beyond the private ones that the first such warp wanted, `variable` the variable there, "" if none has it.
    `cuda` is the line of the CUDA source, None where the text has no `.loc` for it.
    """

    instruction: int
    line: int
    text: str
    register: str
    sequence: int
    warps: int
    warp_cycles: int
    first_cycle: int
    offset: int = -1
    variable: str = ""
    cuda: CudaPlace | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        data = asdict(self)
        del data["cuda"]
        return {**data, **(self.cuda.to_dict() if self.cuda else {})}

    @property
    def touched(self) -> str:
        """What is locked, in words."""
        if self.offset < 0:
            return f"{self.register} is register {self.sequence}"
        return f"byte {self.offset}" + (f", in {self.variable}" if self.variable else "")

    def __str__(self) -> str:
        return (
            f"line {self.line}{f' ({self.cuda})' if self.cuda else ''}: {self.text}  ({self.touched};"
            f" {self.warps} warps, {self.warp_cycles} warp-cycles, first in cycle {self.first_cycle})"
        )


SWITCHING_COUNTS = (
    "switches",
    "switch_cycles",
    "stalls",
    "stall_cycles",
    "evictions",
    "restores",
    "registers_evicted",
    "registers_restored",
    "dram_bytes_written",
    "dram_bytes_read",
    "depletion_cycles",
    "vector_hits",
    "vector_misses",
)
"""The counters of CTA switching that can be summed."""


@dataclass(frozen=True)
class SwitchingResult:
    """The counters of CTA switching. Averages are over SMs and cycles, the most are of an SM at a time.

    `switches` are CTAs that left the pipeline before their end; for `switch_cycles` a place in the pipeline was empty
    for that. `evictions` are the switches that moved live registers to the PCRF, `restores` the returns from there;
    `registers_evicted` and `registers_restored` are the registers that moved, 32 bits of 32 lanes each. Under
    `reg-dram` all registers move, to DRAM and back: `dram_bytes_written`, `dram_bytes_read`; at most `dram_most` CTAs
    of an SM are there at a time, of `dram_ctas`.
    `depletion_cycles` are of SMs in which a stalled CTA stayed though another one could have run, as the PCRF had no
    room. `stalls` are of whole CTAs, `stall_cycles` their sum; `cycles_to_first_stall` is the mean from a CTA's launch
    to its first one, `cycles_to_stall` that from when a CTA began to run to each of them; 0.0 without any.
    """

    scheme: str
    active_limit: int
    resident_limit: int
    active_most: int
    active_average: float
    resident_most: int
    resident_average: float
    switches: int
    switch_cycles: int
    stalls: int
    stall_cycles: int
    cycles_to_first_stall: float
    cycles_to_stall: float
    evictions: int
    restores: int
    registers_evicted: int
    registers_restored: int
    dram_bytes_written: int
    dram_bytes_read: int
    dram_ctas: int
    dram_most: int
    depletion_cycles: int
    pcrf_entries: int
    pcrf_most: int
    vector_hits: int
    vector_misses: int

    @property
    def counts(self) -> dict[str, int]:
        """What can be summed, by the names that it has among all counters."""
        return {f"cta_{name}": getattr(self, name) for name in SWITCHING_COUNTS}

    @property
    def _mean_stall(self) -> float:
        return self.stall_cycles / max(1, self.stalls)

    def __str__(self) -> str:
        text = (
            f"{self.scheme}: {self.resident_most} CTAs resident at most ({self.resident_average:.1f} on average), "
            f"{self.active_most} active ({self.active_average:.1f}), {self.switches} switches"
            f" in {self.switch_cycles} cycles\n"
            f"{self.stalls} stalls of CTAs, {self._mean_stall:.0f} cycles on average, after {self.cycles_to_stall:.0f}"
            f" (the first after {self.cycles_to_first_stall:.0f})"
        )
        if self.dram_ctas:
            return (
                f"{text}\nDRAM: {self.dram_most} of {self.dram_ctas} CTAs at most, {self.evictions} evictions, "
                f"{self.restores} restores, {self.dram_bytes_written} bytes written, {self.dram_bytes_read} read"
            )
        if not self.pcrf_entries:
            return text
        looked_up = self.vector_hits + self.vector_misses
        return (
            f"{text}\nPCRF: {self.pcrf_most} of {self.pcrf_entries} entries at most, {self.evictions} evictions, "
            f"{self.restores} restores, {self.depletion_cycles} cycles of depletion; live vectors: "
            f"{self.vector_hits} of {looked_up} found in the cache"
        )


@dataclass(frozen=True)
class PoolResult:
    """The counters of a pool of registers. `base` and `extended` are registers per thread; `sections_most` is the
    largest number of sections of an SM that were taken at a time.

    `wait_cycles` are the cycles that warps waited for a section, summed over warps; `acquired` are acquire marks that
    were issued.
    """

    base: int
    extended: int
    pool_registers: int
    sections: int
    sections_most: int
    acquired: int
    wait_cycles: int

    @property
    def counts(self) -> dict[str, int]:
        """What can be summed, by the names that it has among all counters."""
        return {"srp_acquired": self.acquired, "srp_cycles": self.wait_cycles}

    def __str__(self) -> str:
        return (
            f"pool of {self.pool_registers} registers: {self.sections_most} of {self.sections} sections taken at most, "
            f"{self.acquired} acquired, {self.wait_cycles} warp cycles of waiting; "
            f"{self.base} registers in the base set, {self.extended} extended"
        )


@dataclass(frozen=True)
class RenamingResult:
    """The counters of release by name. `physical_registers`, those that a CTA can need at a time (`most_of_cta`), and
    the most that were occupied at a time (`registers_most`) are registers of 32 bits of an SM.

    `waits` are the times that a warp found too few free, `wait_cycles` how long it waited, summed over warps.
    """

    physical_registers: int
    most_of_cta: int
    registers_most: int
    waits: int
    wait_cycles: int

    @property
    def counts(self) -> dict[str, int]:
        """What can be summed, by the names that it has among all counters."""
        return {"renaming_waits": self.waits, "renaming_wait_cycles": self.wait_cycles}

    def __str__(self) -> str:
        return (
            f"release by name: {self.registers_most} of {self.physical_registers} physical registers occupied at most, "
            f"{self.waits} waits for free ones, {self.wait_cycles} warp cycles; "
            f"a CTA needs {self.most_of_cta} at most"
        )


@dataclass(frozen=True)
class SimResult:
    """One simulated launch. `status`: "done", "interrupted" or "max-cycles" (then the counters so far)."""

    kernel: str
    gpu: str
    scheduler: str
    share_registers: float
    share_scratchpad: float
    status: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    n_ctas: int
    ctas_done: int
    registers: int
    scratchpad_bytes: int
    resident_ctas: int
    unshared_ctas: int
    shared_pairs: int
    private_registers: int
    private_scratchpad: int
    limiter: str
    cycles: int
    warp_instructions: int
    thread_instructions: int
    active_cycles: int
    cta_cycles: int
    """Cycles from the launches of CTAs to their ends, summed over CTAs."""
    n_sms: int
    n_schedulers: int
    slots: dict[str, int]
    issued_by_lanes: dict[int, int]
    l1: dict[str, int]
    l2: dict[str, int]
    dram: dict[str, int]
    core: dict[str, int]
    energy: EnergyBreakdown
    """By the machine's `[energy]` table."""
    stall_points: tuple[StallPoint, ...] = ()
    issues: tuple[int, ...] = field(default=(), repr=False)
    hotspots: Hotspots | None = field(default=None, repr=False)
    dynamic: object | None = None
    """`ptxsim.DynamicResult` of dynamic warp execution."""
    switching: SwitchingResult | None = None
    pool: PoolResult | None = None
    renaming: RenamingResult | None = None
    unified: UnifiedPlan | None = None
    """The split of unified memory."""
    printed: str = field(default="", repr=False)
    remarks: tuple[str, ...] = ()
    """What the reader of the counters should know, a sentence each."""
    out_of_bounds: int = 0
    """Accesses of threads outside of all buffers, where the launch tolerates them."""

    @property
    def sharing(self) -> str:
        """What is shared, as a part of a title."""
        for percent, what in ((self.share_registers, "registers"), (self.share_scratchpad, "scratchpad")):
            if percent:
                return f", {percent:g}% of {what} shared"
        return ""

    @property
    def thread_ipc(self) -> float:
        return self.thread_instructions / self.cycles if self.cycles else 0.0

    @property
    def warp_ipc(self) -> float:
        return self.warp_instructions / (self.cycles * self.n_sms) if self.cycles else 0.0

    @property
    def resident_average(self) -> float:
        """Resident CTAs, active or waiting, on average over SMs and cycles."""
        return self.cta_cycles / (self.cycles * self.n_sms) if self.cycles else 0.0

    @property
    def switches(self) -> int:
        """CTAs that left the pipeline before their end."""
        return 0 if self.switching is None else self.switching.switches

    @property
    def stats(self) -> dict[str, float]:
        """Every counter under one name, that of GPGPU-Sim where it has one: `sched_w0_idle`, `l1d_misses`, ..."""
        flat: dict[str, float] = {
            "cycles": self.cycles,
            "thread_insn": self.thread_instructions,
            "warp_insn": self.warp_instructions,
            "gpu_ipc": self.thread_ipc,
            "warp_ipc_per_sm": self.warp_ipc,
            "active_cycles": self.active_cycles,
            "cta_cycles": self.cta_cycles,
            "max_ctas_per_core": self.resident_ctas,
            "energy_uj": self.energy.total_uj,
            "power_w": self.energy.power_w,
        }
        flat |= {SLOT_NAMES[name]: n for name, n in self.slots.items()}
        flat["sched_idle_scoreboard"] = self.slots["idle"] + self.slots["scoreboard"]
        for prefix, counts in (("l1d", self.l1), ("l2", self.l2), ("dram", self.dram)):
            flat |= {f"{prefix}_{name}": n for name, n in counts.items()}
        flat |= {_CORE_NAMES.get(name, name): n for name, n in self.core.items()}
        if self.switching is not None:
            flat |= self.switching.counts
        if self.pool is not None:
            flat |= self.pool.counts
        if self.renaming is not None:
            flat |= self.renaming.counts
        return flat | {f"issued_w{lanes}": n for lanes, n in self.issued_by_lanes.items()}

    def to_dict(self) -> dict[str, Any]:
        data = asdict(replace(self, hotspots=None))
        del data["hotspots"]
        if self.hotspots is not None:
            data["hotspots"] = self.hotspots.to_dict()
        data["energy"] = self.energy.to_dict()
        if self.dynamic is None:
            del data["dynamic"]
        if not self.out_of_bounds:
            del data["out_of_bounds"]
        if self.switching is None:
            del data["switching"]
        if self.pool is None:
            del data["pool"]
        if self.renaming is None:
            del data["renaming"]
        if self.unified is None:
            del data["unified"]
        data["issued_by_lanes"] = {str(k): v for k, v in self.issued_by_lanes.items()}
        data["stats"] = self.stats
        data["thread_ipc"] = self.thread_ipc
        data["warp_ipc"] = self.warp_ipc
        data["resident_average"], data["switches"] = self.resident_average, self.switches
        data["grid"], data["block"] = list(self.grid), list(self.block)
        data["issues"] = list(self.issues)
        data["remarks"] = list(self.remarks)
        data["stall_points"] = [p.to_dict() for p in self.stall_points]
        return data

    def to_json(self) -> str:
        """The result as one JSON object."""
        return json.dumps(self.to_dict(), indent=2)

    def to_pandas(self) -> "pandas.DataFrame":
        """A data frame of one row with every single counter, `slots.stall` and those of `stats` among them. Raises E502
        without pandas."""
        from ptxtool.results.frames import frame, plain

        return frame([plain(self.to_dict())])

    def _repr_html_(self) -> str:
        from ptxtool.base.html import table

        total = max(1, sum(self.slots.values()))
        rows: list[tuple[str, object]] = [
            ("status", self.status),
            ("cycles", self.cycles),
            ("thread IPC", self.thread_ipc),
            ("resident CTAs", self.resident_ctas),
            ("limited by", self.limiter),
            ("registers per thread", self.registers),
            *((f"slots {name}", f"{n / total:.1%}") for name, n in self.slots.items()),
            ("energy", f"{self.energy.total_uj:.1f} µJ"),
        ]
        title = f"{shown_name(self.kernel)} on {self.gpu}, {self.scheduler}{self.sharing}"
        return table(title, ("counter", "value"), rows, "; ".join(self.remarks))

    def __str__(self) -> str:
        total = max(1, sum(self.slots.values()))
        lines = [
            f"{shown_name(self.kernel)} on {self.gpu}, {self.scheduler}"
            + self.sharing
            + ("" if self.status == "done" else f" ({self.status}: {self.ctas_done} of {self.n_ctas} CTAs)"),
            f"  resident CTAs     {self.resident_ctas:>12}  ({self.unshared_ctas} unshared + {self.shared_pairs} pairs;"
            f" limited by {self.limiter}; {self.registers} registers per thread)",
            f"  cycles            {self.cycles:>12}",
            f"  thread IPC        {self.thread_ipc:>12.2f}",
            f"  warp IPC per SM   {self.warp_ipc:>12.3f}",
            f"  warp instructions {self.warp_instructions:>12}",
        ]
        lines += [f"  slots {name:<11} {n:>12}  {n / total:6.1%}" for name, n in self.slots.items()]
        for part in ("l1", "l2", "dram"):
            counts = getattr(self, part)
            lines.append(f"  {part:<6}" + "  ".join(f"{name} {n}" for name, n in counts.items()))
        lines.append(f"  energy {self.energy}")
        lines += [f"  stall point: {p}" for p in self.stall_points[:3]]
        if self.dynamic is not None:
            lines.append(f"  {self.dynamic}")
        if self.switching is not None:
            lines += [f"  {line}" for line in str(self.switching).splitlines()]
        if self.pool is not None:
            lines.append(f"  {self.pool}")
        if self.renaming is not None:
            lines.append(f"  {self.renaming}")
        if self.unified is not None:
            lines.append(f"  {self.unified}")
        lines += [f"  note: {remark}" for remark in self.remarks]
        return "\n".join(lines)


@dataclass(frozen=True)
class Totals:
    """What all launches of a machine come to. `stats` are sums of the launches' `stats`, ratios left out."""

    launches: int
    cycles: int
    thread_instructions: int
    warp_instructions: int
    ctas: int
    stats: dict[str, float]
    energy: EnergyBreakdown

    @classmethod
    def of(cls, results: Sequence[SimResult]) -> "Totals":
        """The totals of launches."""
        stats: dict[str, float] = {}
        for result in results:
            for name, count in result.stats.items():
                if name not in _NOT_SUMS:
                    stats[name] = stats.get(name, 0) + count
        return cls(
            launches=len(results),
            cycles=sum(r.cycles for r in results),
            thread_instructions=sum(r.thread_instructions for r in results),
            warp_instructions=sum(r.warp_instructions for r in results),
            ctas=sum(r.ctas_done for r in results),
            stats=stats,
            energy=EnergyBreakdown.together(result.energy for result in results),
        )

    @property
    def thread_ipc(self) -> float:
        return self.thread_instructions / self.cycles if self.cycles else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "launches": self.launches,
            "gpu_tot_sim_cycle": self.cycles,
            "gpu_tot_sim_insn": self.thread_instructions,
            "gpu_tot_ipc": self.thread_ipc,
            "gpu_tot_issued_cta": self.ctas,
            "warp_instructions": self.warp_instructions,
            "stats": self.stats,
            "energy": self.energy.to_dict(),
        }

    def to_json(self) -> str:
        """The totals as one JSON object."""
        return json.dumps(self.to_dict(), indent=2)

    def __str__(self) -> str:
        return (
            f"{self.launches} launches: {self.cycles} cycles, {self.thread_instructions} thread instructions, "
            f"thread IPC {self.thread_ipc:.2f}, {self.ctas} CTAs"
        )
