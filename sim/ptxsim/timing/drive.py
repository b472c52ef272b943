"""Run a lowered kernel: build the records, drive the compiled loop in slices, find out why it stopped.

The loop returns to Python every few hundred milliseconds, so that progress can be shown and Ctrl-C is obeyed. A run
is one process and one thread: results do not depend on the number of cores.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxsim.base import record_pool as spares
from ptxsim.base.identity_cache import Remembered
from ptxsim.base.jit import JIT_DISABLED
from ptxsim.base.program import Program
from ptxsim.base.record_pool import Records
from ptxsim.execute.codes import FIRST_HOST_CODE
from ptxsim.lowering.timing_facts import architectural_number
from ptxsim.memory_image.image import MemoryImage
from ptxsim.memory_image.printing import Printer
from ptxsim.timing.core import cycle
from ptxsim.timing.dynamic_execution import Controller, DynamicExecution
from ptxsim.timing.hotspots import count_hotspots
from ptxsim.timing.machine_records import l1_records, memory_records, sm_records
from ptxsim.timing.machine_state import Kept
from ptxsim.timing.memory.copied import leave, leave_in_empty
from ptxsim.timing.residency.switching_setup import Switcher
from ptxsim.timing.schedulers import Policy
from ptxsim.timing.sharing.locks import heeded
from ptxsim.timing.sharing.pairs import NON_OWNER, OWNER, SAFE, STRICT, SYMMETRIC, UNSHARED, pair_slots
from ptxsim.timing.sm_state import RUN, WHEEL_MARGIN
from ptxtool.analysis.occupancy.sharing_plan import SharingPlan
from ptxtool.analysis.occupancy.switching_plan import SwitchingPlan
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_parts import Pipeline

if TYPE_CHECKING:
    from ptxsim.observe.timeline import Recorder


@dataclass(frozen=True)
class Standing:
    """How far a launch is: cycles so far, CTAs that have ended and in all, instructions that were executed."""

    cycles: int
    ctas_done: int
    n_ctas: int
    warp_instructions: int
    thread_instructions: int


Progress = Callable[[Standing], object]
"""Called several times a second while a launch runs."""

_SLICE_SECONDS = 0.2
_AHEAD = 64
"""Cycles that an SM may run ahead of the others: with more it is not faster."""
_FIRST_CYCLES = 2_000 if JIT_DISABLED else 16_000
"""Of the first slice: few enough for a large machine, and enough for a short run, which is called once then."""
_COUNTED = ("stall_warps", "stall_cycles", "stall_first", "stall_offset", "issues")
"""Arrays with a number of every instruction, by their names in the record of a run."""
_CLASSES = {"owner": OWNER, "unshared": UNSHARED, "non-owner": NON_OWNER}
_LOCK_RULES = {"safe": SAFE, "strict": STRICT, "symmetric": SYMMETRIC}


@dataclass(frozen=True)
class Configuration:
    """What a run is besides program, memory and machine."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    plan: SharingPlan
    max_cycles: int = 0
    event_skip: bool = True
    lock_as_stall: bool = False
    bank_conflicts: bool = True
    hotspots: bool = False
    dynamic: DynamicExecution | None = None
    switching: SwitchingPlan | None = None


@dataclass
class Simulation:
    """The arrays of one run, kept alive while compiled code holds their addresses."""

    program: Program
    gpu: Gpu
    configuration: Configuration
    run: Any
    sms: Any
    l1s: Any
    memory: Any
    context: Any
    arrays: dict[str, Any]
    records: list[Records]
    """Of `sms`, and those of `memory` and `l1s` that are of this run alone."""
    printer: Printer = field(default_factory=Printer)
    recorder: "Recorder | None" = None
    """Of a timeline."""
    dynamic: Controller | None = None
    switcher: Switcher | None = None

    @property
    def cycles(self) -> int:
        return int(self.run["cycle"][0])

    def keep_memory(self) -> None:
        """Give back no memory and no caches: they are the next run's."""
        self.records = self.records[:1]

    def give_back(self) -> None:
        """Let launches to come have the records: nothing of the run is looked at any more."""
        self.sms["wheel"][:, : int(self.run["wheel"][0]) + 1] = 0
        for records in self.records:
            spares.give_back(records)
        self.records = []


def build(
    program: Program, image: MemoryImage, gpu: Gpu, configuration: Configuration, kept: Kept | None = None
) -> Simulation:
    """Lay out the state of a launch: nothing has run yet, but for the launches before it on a machine that was kept."""
    records = [spares.take(sm_records, gpu)]
    sms, sm_limits = records[0].array, gpu.sm
    block, grid = configuration.block, configuration.grid
    threads = block[0] * block[1] * block[2]
    n_sms, n_registers = sm_limits.count, max(1, program.n_registers)
    n_instructions = len(program.instructions)
    shared_bytes = image.shared_image.nbytes
    n_ctas = grid[0] * grid[1] * grid[2]
    per_sm = -(-n_ctas // n_sms)  # a small grid spreads over the SMs (timing-model section 1.8)
    switching = configuration.switching
    limit = switching.active.resident_ctas if switching else configuration.plan.resident_ctas
    resident = min(limit, max(1, per_sm))
    switcher, ctas, contexts = None, resident, sm_limits.warps
    if switching is not None:
        ctas = min(switching.ctas, max(1, per_sm))
        resident, contexts = min(resident, ctas), ctas * switching.warps
        switcher = Switcher(switching, gpu, program.places[0][0], program, ctas)
    banks_written, banks_read = _banks_of(program, gpu.pipeline)
    arrays = {
        "ready_at": np.empty((n_sms, contexts * n_registers), np.int64),
        "long_set": np.zeros((n_sms, contexts * n_registers), np.uint8),
        "shared": np.empty((n_sms, max(1, ctas * shared_bytes)), np.uint8),
        "stall_warps": np.zeros(n_instructions, np.int64),
        "stall_cycles": np.zeros(n_instructions, np.int64),
        "stall_first": np.full(n_instructions, -1, np.int64),
        "stall_offset": np.full(n_instructions, -1, np.int64),
        "issues": np.zeros(n_instructions, np.int64),
        "banks_written": banks_written,
        "banks_read": banks_read,
        "shared_image": image.shared_image,
        "special_rows": program.special_rows,
        "image": image,
    }
    run = _runs.get(gpu, None, lambda: _run_of(gpu)).copy()
    r = run[0]
    r["max_cycles"] = configuration.max_cycles
    r["event_skip"] = configuration.event_skip
    r["n_instructions"], r["n_registers"] = n_instructions, n_registers
    longest = int(program.instructions["latency"].max())
    r["wheel"] = max(64, 1 << (longest + WHEEL_MARGIN - 1).bit_length()) - 1
    r["code"] = program.instructions.ctypes.data
    r["n_ctas"] = n_ctas
    r["grid"], r["block"] = grid, block
    r["threads_per_cta"], r["warps_per_cta"] = threads, -(-threads // 32)
    r["resident_ctas"], r["contexts"] = resident, contexts
    if switcher is not None:
        r["switching"] = switcher.units.ctypes.data
    r["shared_image"] = arrays["shared_image"].ctypes.data
    r["model_banks"] &= configuration.bank_conflicts
    plan = configuration.plan
    if plan.shared_pairs:
        # fewer CTAs than the plan has need fewer pairs: what does not fit by itself stands beside another
        pairs = min(plan.shared_pairs, resident // 2)
        if gpu.sharing.pairs == "fewest":
            pairs = max(0, resident - (plan.unshared.limits[plan.resource] or resident))
        r["shared_pairs"] = pairs
        r["first_shared_slot"] = resident - 2 * pairs
        r["shares_scratchpad"] = plan.resource == "scratchpad"
        r["private_registers"], r["private_scratchpad"] = plan.private_registers, plan.private_scratchpad
        r["heeded_marks"] = heeded(plan.resource == "scratchpad")
    r["lock_as_stall"] = configuration.lock_as_stall
    for name in (*_COUNTED, "banks_written", "banks_read"):
        r[name] = arrays[name].ctypes.data
    if configuration.hotspots:
        count_hotspots(r, n_sms, arrays)

    sms["free_slots"] = (1 << resident) - 1
    sms["counting"] = r["count_idle"]
    sms["shared_bytes"] = shared_bytes
    for name, array in (("ready_at", "ready_at"), ("long_set", "long_set"), ("shared_memory", "shared")):
        data = arrays[array]
        sms[name] = data.ctypes.data + sms["index"] * data.strides[0]
    if r["shared_pairs"]:
        pair_slots(sms, int(r["shared_pairs"]), int(r["first_shared_slot"]))
    dynamic = Controller(configuration.dynamic, n_sms) if configuration.dynamic else None
    if dynamic is not None:
        r["dynamic"] = dynamic.units.ctypes.data
    copies = image.device.take_copies()
    if kept is None or kept.memory is None:
        records += [spares.take(memory_records, gpu), spares.take(l1_records, gpu)]
        memory, l1s = records[1].array, records[2].array
        if gpu.l2.copies_fill:
            leave_in_empty(memory, gpu, copies)
    else:
        memory, l1s = kept.memory, kept.l1s
        if gpu.l2.copies_fill:
            leave(memory, copies)
    r["sms"], r["l1s"] = sms.ctypes.data, l1s.ctypes.data
    r["open_sms"] = np.uint64((1 << n_sms) - 1).astype(np.int64) if resident > 0 else 0
    r["horizon"] = 1 + int(memory["replies"]["unloaded"][0, 1:].min()) + gpu.ldst.response_hops
    if configuration.event_skip and not _needs_order(program, configuration, memory):
        r["ahead"] = _AHEAD
    return Simulation(
        program,
        gpu,
        configuration,
        run,
        sms,
        l1s,
        memory,
        image.context,
        arrays,
        records,
        dynamic=dynamic,
        switcher=switcher,
    )


_banks: Remembered[tuple[Any, Any]] = Remembered(32)
"""Of programs: the banks that their instructions write and read, by the banks there are and those read at once."""


def _banks_of(program: Program, pipeline: Pipeline) -> tuple[Any, Any]:
    n_banks, at_once = pipeline.register_banks, pipeline.collector_reads
    return _banks.get(
        program,
        (n_banks, at_once),
        lambda: (_banks_written(program, n_banks), _banks_read(program, n_banks, at_once)),
    )


def _banks_written(program: Program, n_banks: int) -> Any:
    """Per instruction a mask of the banks that hold its destinations for warp 0, int64."""
    numbers = np.array(
        [architectural_number(name) % (1 << 20) for name in program.register_names] or [0], np.int64
    )
    code = program.instructions
    destinations = np.arange(code["register"].shape[1]) < code["n_destinations"][:, None]
    banks = np.int64(1) << (numbers[np.where(destinations, code["register"], 0)] & (n_banks - 1))
    return np.bitwise_or.reduce(np.where(destinations, banks, 0), axis=1)


def _banks_read(program: Program, n_banks: int, at_once: int) -> Any:
    """Per instruction a mask of the banks that hold its sources for warp 0, int64; 0 where two of them share a bank,
    or where they are more than a collector unit reads `at_once`."""
    code = program.instructions
    sources = np.arange(code["bank"].shape[1]) < code["n_sources"][:, None]
    banks = np.where(sources, np.int64(1) << (code["bank"].astype(np.int64) & (n_banks - 1)), 0)
    together = np.bitwise_or.reduce(banks, axis=1)
    distinct = banks.sum(axis=1) == together
    return np.where(distinct & (code["n_sources"] <= at_once), together, 0)


_runs: Remembered[Any] = Remembered(8)
"""Of machines: a `RUN` record with what follows from the machine alone."""


def _needs_order(program: Program, configuration: Configuration, memory: Any) -> bool:
    """Whether it shows in which order SMs do what no other SM sees: print, draw, stop at a limit, stand in a queue."""
    queues = memory["requests"]["by_output"].any() or configuration.dynamic is not None
    queues |= configuration.switching is not None
    return bool(queues or configuration.max_cycles or (program.uops["op"] >= FIRST_HOST_CODE).any())


def _run_of(gpu: Gpu) -> Any:
    run = np.zeros(1, RUN)
    r = run[0]
    pipeline, fetch = gpu.pipeline, gpu.fetch
    r["n_sms"], r["contexts"], r["n_schedulers"] = gpu.sm.count, gpu.sm.warps, gpu.sm.schedulers
    r["port_width"] = pipeline.id_oc_sp, pipeline.id_oc_sfu, pipeline.id_oc_mem
    r["oc_ex_width"] = pipeline.oc_ex_sp, pipeline.oc_ex_sfu, pipeline.oc_ex_mem
    collectors = (pipeline.collectors_sp, pipeline.collectors_sfu, pipeline.collectors_mem)
    first = (0, collectors[0], collectors[0] + collectors[1])
    r["first_collector"] = first
    r["collectors"] = [(1 << n) - 1 << at for n, at in zip(collectors, first, strict=True)]
    r["collector_ports"] = pipeline.ports_sp, pipeline.ports_sfu, pipeline.ports_mem
    r["n_banks"], r["model_banks"] = pipeline.register_banks, pipeline.bank_conflicts
    r["n_sp"], r["n_sfu"], r["result_buses"] = pipeline.sp_units, pipeline.sfu_units, pipeline.ex_wb
    r["collector_stage"] = pipeline.collector_step == "own"
    r["collector_reads"] = pipeline.collector_reads
    r["rotate_schedulers"] = pipeline.scheduler_order == "rotating"
    r["long_lasting"] = pipeline.long_operation == "until-computed"
    r["taken_first"] = pipeline.first_path == "taken"
    r["unowned_class"] = _CLASSES[gpu.sharing.unowned]
    r["lock_rule"] = _LOCK_RULES[gpu.sharing.lock_rule]
    r["count_idle"] = gpu.dispatch.idle_sms == "counted"
    r["last_sm"] = r["launched_sm"] = (gpu.dispatch.first_sm - 1) % gpu.sm.count
    r["ibuffer"], r["fetches"] = fetch.ibuffer_entries, fetch.per_cycle
    r["constant_line"] = gpu.l1c.line_bytes
    r["response_hops"] = gpu.ldst.response_hops
    r["shared_pipe"] = gpu.ldst.shared_pipe_cycles
    r["atomic_parts"] = gpu.ldst.atomic_warp_parts
    segment = gpu.ldst.uncached_segment_bytes
    r["uncached_segment"] = segment if segment < 128 else 0
    return run


def settle_accounts(simulation: Simulation, policy: Policy) -> None:
    """Bring the counters up to the current cycle, for a run that was interrupted."""
    simulation.run["max_cycles"] = max(1, simulation.cycles)
    drive(simulation, policy)


def drive(simulation: Simulation, policy: Policy, progress: Progress | None = None) -> int:
    """Run to the end; returns one of `core.cycle`'s reasons. `KeyboardInterrupt` leaves the state readable."""
    run = simulation.run
    run["has_window"] = policy.has_window
    run["eager_slots"] = (
        policy.has_window | (run["shared_pairs"] != 0) | (run["dynamic"] != 0) | (run["hotspots"] != 0)
    )
    run["long_lasting"] &= policy.may_ask_for_long
    simulation.sms["policy_number"] = policy.number
    if policy.own is not None:
        simulation.records.clear()  # a user's policy can write anywhere in a record
    recorder = simulation.recorder
    step = _FIRST_CYCLES
    stop, started = simulation.cycles + step, time.perf_counter()
    while True:
        run["stop_cycle"] = _next_stop(simulation, stop)
        with np.errstate(all="ignore"):  # without compilation too, arithmetic wraps and rounds in silence
            reason = int(
                cycle.simulator()(
                    run,
                    simulation.context,
                    simulation.arrays["special_rows"],
                    simulation.memory,
                    policy.pick,
                    policy.window,
                )
            )
        simulation.printer.take(simulation.arrays["image"])
        if recorder is not None:
            recorder.take()
        if reason != cycle.PAUSED:
            return reason
        if simulation.dynamic is not None:
            simulation.dynamic.end_period(simulation, policy)
        if (
            simulation.cycles < stop
        ):  # only to empty a buffer, for the timeline, or for dynamic warp execution
            continue
        seconds = time.perf_counter() - started
        step = max(500, min(2 * step, int(step * _SLICE_SECONDS / max(seconds, 1e-6)), 2_000_000))
        if progress is not None:
            progress(_standing(simulation))
        stop, started = simulation.cycles + step, time.perf_counter()


def _next_stop(simulation: Simulation, stop: int) -> int:
    """The cycle in which something is to be done on the host, at the latest `stop`."""
    if simulation.recorder is not None:
        stop = simulation.recorder.next_stop(stop)
    return stop if simulation.dynamic is None else min(stop, simulation.dynamic.next_cycle)


def _standing(simulation: Simulation) -> Standing:
    run, sms = simulation.run[0], simulation.sms
    executed = (int(sms[name].sum()) for name in ("warp_instructions", "thread_instructions"))
    return Standing(int(run["cycle"]), int(run["ctas_done"]), int(run["n_ctas"]), *executed)
