"""Run a lowered kernel: build the records, drive the compiled loop in slices, find out why it stopped.

The loop returns to Python every few hundred milliseconds, so that progress can be shown and Ctrl-C is obeyed. A run
is one process and one thread: results do not depend on the number of cores.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxsim.between import Kept
from ptxsim.core import cycle
from ptxsim.dynamic import Controller, DynamicExecution
from ptxsim.hotspots import count_hotspots
from ptxsim.image import MemoryImage
from ptxsim.lowering.timing import architectural_number
from ptxsim.memory import texture
from ptxsim.memory.clock import copies_clock
from ptxsim.memory.readonly import MAX_ENTRIES, MAX_LINES, MAX_WAITERS
from ptxsim.memory.sectors import copies_fill
from ptxsim.memory.state import make_l1, make_memory
from ptxsim.printing import Printer
from ptxsim.program import Program
from ptxsim.schedulers import Policy
from ptxsim.sharing.registers import NON_OWNER, OWNER, UNSHARED, pair_slots
from ptxsim.state import (
    COLLECTORS,
    FRONT,
    LDST_QUEUE,
    MAX_CTAS,
    MAX_SCHEDULERS,
    MAX_WARPS,
    PENDING,
    RUN,
    SHARED_PIPE,
    SM,
    UNITS,
    WHEEL,
    WHEEL_MARGIN,
)
from ptxtool.analysis.sharing import SharingPlan
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_parts import Fetch, L1c, L1t, Pipeline

if TYPE_CHECKING:
    from ptxsim.timeline import Recorder


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
_CLASSES = {"owner": OWNER, "unshared": UNSHARED, "non-owner": NON_OWNER}


@dataclass(frozen=True)
class Configuration:
    """What a run is besides program, memory and machine."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    plan: SharingPlan
    share_registers: bool
    max_cycles: int = 0
    event_skip: bool = True
    lock_as_stall: bool = False
    bank_conflicts: bool = True
    hotspots: bool = False
    dynamic: DynamicExecution | None = None


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
    printer: Printer = field(default_factory=Printer)
    recorder: "Recorder | None" = None
    """Of a timeline."""
    dynamic: Controller | None = None

    @property
    def cycles(self) -> int:
        return int(self.run["cycle"][0])


def _check_machine(gpu: Gpu) -> None:
    """Raise E502 where the records of `state.py` cannot hold a machine."""
    pipeline = gpu.pipeline
    widths = [pipeline.id_oc_sp, pipeline.id_oc_sfu, pipeline.id_oc_mem]
    widths += [pipeline.oc_ex_sp, pipeline.oc_ex_sfu, pipeline.oc_ex_mem]
    collectors = pipeline.collectors_sp + pipeline.collectors_sfu + pipeline.collectors_mem
    longest = max(t.latency for kinds in gpu.latency.values() for t in kinds.values())
    if gpu.sm.warp_size != 32:
        raise error(
            "E502",
            f"{gpu.name}: sm.warp_size is {gpu.sm.warp_size}",
            help="the simulator's warps have 32 lanes",
        )
    limits = (
        ("sm.warps", gpu.sm.warps, MAX_WARPS),
        ("sm.ctas", gpu.sm.ctas, MAX_CTAS),
        ("sm.schedulers", gpu.sm.schedulers, MAX_SCHEDULERS),
        ("pipeline entries of a port", max(widths), 8),
        ("pipeline collectors", collectors, COLLECTORS),
        ("pipeline entries and collectors together", sum(widths) + collectors, FRONT),
        ("pipeline.register_banks", pipeline.register_banks, 32),
        ("pipeline.sp_units and sfu_units", pipeline.sp_units + pipeline.sfu_units, UNITS),
        (
            "pipeline entries before the LDST unit",
            widths[2] + widths[5] + pipeline.collectors_mem + 1,
            LDST_QUEUE,
        ),
        ("ldst.shared_pipe_cycles", gpu.ldst.shared_pipe_cycles, SHARED_PIPE),
        ("longest latency", longest, WHEEL - WHEEL_MARGIN),
    )
    for what, value, most in limits:
        if value > most:
            raise error("E502", f"{gpu.name}: {what}: {value}", help=f"the simulator holds at most {most}")
    if pipeline.register_banks & (pipeline.register_banks - 1):
        what = f"{gpu.name}: pipeline.register_banks: {pipeline.register_banks}"
        raise error("E502", what, help="it has to be a power of two")


def build(
    program: Program, image: MemoryImage, gpu: Gpu, configuration: Configuration, kept: Kept | None = None
) -> Simulation:
    """Lay out the state of a launch: nothing has run yet, but for the launches before it on a machine that was kept."""
    _check_machine(gpu)
    sm_limits = gpu.sm
    block, grid = configuration.block, configuration.grid
    threads = block[0] * block[1] * block[2]
    n_sms, n_registers = sm_limits.count, max(1, program.n_registers)
    n_instructions = len(program.instructions)
    shared_bytes = image.shared_image.nbytes
    n_ctas = grid[0] * grid[1] * grid[2]
    per_sm = -(-n_ctas // n_sms)  # a small grid spreads over the SMs (timing-model section 1.8)
    resident = min(configuration.plan.resident_ctas, max(1, per_sm))
    arrays = {
        "ready_at": np.zeros((n_sms, sm_limits.warps * n_registers), np.int64),
        "long_set": np.zeros((n_sms, sm_limits.warps * n_registers), np.uint8),
        "shared": np.zeros((n_sms, max(1, resident * shared_bytes)), np.uint8),
        "stall_warps": np.zeros(n_instructions, np.int64),
        "stall_cycles": np.zeros(n_instructions, np.int64),
        "stall_first": np.full(n_instructions, -1, np.int64),
        "issues": np.zeros(n_instructions, np.int64),
        "banks_written": _banks_written(program, gpu.pipeline.register_banks),
        "banks_read": _banks_read(program, gpu.pipeline),
        "shared_image": image.shared_image,
        "special_rows": program.special_rows,
        "image": image,
    }
    run = np.zeros(1, RUN)
    r = run[0]
    r["max_cycles"] = configuration.max_cycles
    r["event_skip"] = configuration.event_skip
    r["n_sms"], r["n_instructions"], r["n_registers"] = n_sms, n_instructions, n_registers
    longest = int(program.instructions["latency"].max())
    r["wheel"] = max(64, 1 << (longest + WHEEL_MARGIN - 1).bit_length()) - 1
    r["code"] = program.instructions.ctypes.data
    r["n_ctas"] = n_ctas
    r["grid"], r["block"] = grid, block
    r["threads_per_cta"], r["warps_per_cta"] = threads, -(-threads // 32)
    r["resident_ctas"] = resident
    r["shared_image"] = arrays["shared_image"].ctypes.data
    _set_machine(r, gpu, configuration)
    plan = configuration.plan
    if configuration.share_registers and plan.shared_pairs:
        # fewer CTAs than the plan has need fewer pairs: what does not fit by itself stands beside another
        pairs = min(plan.shared_pairs, resident // 2)
        if gpu.sharing.pairs == "fewest":
            pairs = max(0, resident - (plan.unshared.limits["registers"] or resident))
        r["shared_pairs"] = pairs
        r["first_shared_slot"] = resident - 2 * pairs
        r["private_registers"] = plan.private_registers
    r["lock_as_stall"] = configuration.lock_as_stall
    for name in ("stall_warps", "stall_cycles", "stall_first", "issues", "banks_written", "banks_read"):
        r[name] = arrays[name].ctypes.data
    if configuration.hotspots:
        count_hotspots(r, n_sms, arrays)

    sms = np.zeros(n_sms, SM)
    for name in ("latch_warp", "head", "latch_load", "cta_id", "last_fetched", "last_cycle", "charged"):
        sms[name] = -1
    sms["index"] = np.arange(n_sms)
    sms["free_slots"] = (1 << resident) - 1
    r["sm_open"] = resident > 0
    sms["front_free"] = -1 if FRONT == 64 else (1 << FRONT) - 1
    sms["memory_free"] = (1 << LDST_QUEUE) - 1
    sms["pending_free"] = np.arange(PENDING)
    sms["pending_free_n"] = PENDING
    sms["counting"] = r["count_idle"]
    sms["shared_bytes"] = shared_bytes
    _set_readonly(sms["l1i"], "fetch", gpu.fetch)
    _set_readonly(sms["l1c"], "l1c", gpu.l1c)
    _set_textures(sms["l1t"], gpu.l1t)
    sms["supervised"].view(np.uint64)[:, : sm_limits.schedulers] = [
        sum(1 << w for w in range(s, sm_limits.warps, sm_limits.schedulers))
        for s in range(sm_limits.schedulers)
    ]
    for name, array in (("ready_at", "ready_at"), ("long_set", "long_set"), ("shared_memory", "shared")):
        data = arrays[array]
        sms[name] = data.ctypes.data + np.arange(n_sms) * data.strides[0]
    pair_slots(sms, int(r["shared_pairs"]), int(r["first_shared_slot"]))
    dynamic = Controller(configuration.dynamic, n_sms) if configuration.dynamic else None
    if dynamic is not None:
        r["dynamic"] = dynamic.units.ctypes.data
    memory = make_memory(gpu) if kept is None or kept.memory is None else kept.memory
    l1s = make_l1(gpu, n_sms) if kept is None or kept.l1s is None else kept.l1s
    r["sms"], r["l1s"] = sms.ctypes.data, l1s.ctypes.data
    copies = image.device.take_copies()
    if gpu.l2.copies_fill:
        clock = copies_clock(memory, copies)
        for start, size in copies:
            clock = copies_fill(memory, start, size, clock)
    return Simulation(
        program, gpu, configuration, run, sms, l1s, memory, image.context, arrays, dynamic=dynamic
    )


def _set_readonly(caches: Any, name: str, given: Fetch | L1c) -> None:
    """Configure empty instruction or constant caches as the GPU file's table `name` says."""
    limits = (
        ("sets x ways", given.sets * given.ways, MAX_LINES),
        ("mshr_entries", given.mshr_entries, MAX_ENTRIES),
        ("mshr_waiters", given.mshr_waiters, MAX_WAITERS),
        ("miss_queue", given.miss_queue, MAX_ENTRIES),
    )
    _check_cache(name, limits)
    caches["sets"], caches["ways"], caches["line_bytes"] = given.sets, given.ways, given.line_bytes
    caches["n_entries"], caches["max_waiters"] = given.mshr_entries, given.mshr_waiters
    caches["miss_capacity"] = given.miss_queue
    if given.perfect:  # one line has every address, and it is there
        caches["sets"] = caches["ways"] = 1
        caches["line_bytes"] = 1 << 40
        caches["tag"][:, 0] = 1
    sets = caches["sets"]
    caches["set_mask"] = np.where(sets & (sets - 1), -1, sets - 1)
    caches["line_shift"] = np.log2(caches["line_bytes"])


def _banks_written(program: Program, n_banks: int) -> Any:
    """Per instruction a mask of the banks that hold its destinations for warp 0, int64."""
    numbers = np.array(
        [architectural_number(name) % (1 << 20) for name in program.register_names] or [0], np.int64
    )
    code = program.instructions
    destinations = np.arange(code["register"].shape[1]) < code["n_destinations"][:, None]
    banks = np.int64(1) << (numbers[np.where(destinations, code["register"], 0)] & (n_banks - 1))
    return np.bitwise_or.reduce(np.where(destinations, banks, 0), axis=1)


def _banks_read(program: Program, pipeline: Pipeline) -> Any:
    """Per instruction a mask of the banks that hold its sources for warp 0, int64; 0 where two of them share a bank,
    or where a collector unit cannot read them all in one cycle."""
    code = program.instructions
    sources = np.arange(code["bank"].shape[1]) < code["n_sources"][:, None]
    banks = np.where(
        sources, np.int64(1) << (code["bank"].astype(np.int64) & (pipeline.register_banks - 1)), 0
    )
    together = np.bitwise_or.reduce(banks, axis=1)
    at_once = (banks.sum(axis=1) == together) & (code["n_sources"] <= pipeline.collector_reads)
    return np.where(at_once, together, 0)


def _set_textures(caches: Any, given: L1t) -> None:
    """Configure empty texture caches."""
    limits = (
        ("sets x ways", given.sets * given.ways, texture.MAX_LINES),
        ("fragment_fifo", given.fragment_fifo, texture.QUEUE),
        ("request_fifo", given.request_fifo, texture.QUEUE),
        ("result_fifo", given.result_fifo, texture.RESULTS),
    )
    _check_cache("l1t", limits)
    caches["sets"], caches["ways"], caches["line_bytes"] = given.sets, given.ways, given.line_bytes
    caches["queue_capacity"], caches["request_capacity"] = given.fragment_fifo, given.request_fifo
    caches["result_capacity"] = given.result_fifo


def _check_cache(name: str, limits: tuple[tuple[str, int, int], ...]) -> None:
    """Raise E502 where the records of a cache cannot hold what the table `name` says: key, value, and the most."""
    for what, value, most in limits:
        if value > most:
            raise error("E502", f"'{name}.{what}' is {value}", help=f"the simulator holds at most {most}")


def _set_machine(r: Any, gpu: Gpu, configuration: Configuration) -> None:
    pipeline, fetch = gpu.pipeline, gpu.fetch
    r["max_warps"], r["n_schedulers"] = gpu.sm.warps, gpu.sm.schedulers
    r["port_width"] = pipeline.id_oc_sp, pipeline.id_oc_sfu, pipeline.id_oc_mem
    r["oc_ex_width"] = pipeline.oc_ex_sp, pipeline.oc_ex_sfu, pipeline.oc_ex_mem
    collectors = (pipeline.collectors_sp, pipeline.collectors_sfu, pipeline.collectors_mem)
    r["n_collectors"] = collectors
    r["first_collector"] = 0, collectors[0], collectors[0] + collectors[1]
    r["collector_ports"] = pipeline.ports_sp, pipeline.ports_sfu, pipeline.ports_mem
    r["n_banks"], r["model_banks"] = (
        pipeline.register_banks,
        (pipeline.bank_conflicts and configuration.bank_conflicts),
    )
    r["n_sp"], r["n_sfu"], r["result_buses"] = pipeline.sp_units, pipeline.sfu_units, pipeline.ex_wb
    r["collector_stage"] = pipeline.collector_step == "own"
    r["collector_reads"] = pipeline.collector_reads
    r["rotate_schedulers"] = pipeline.scheduler_order == "rotating"
    r["long_lasting"] = pipeline.long_operation == "until-computed"
    r["taken_first"] = pipeline.first_path == "taken"
    r["unowned_class"] = _CLASSES[gpu.sharing.unowned]
    r["count_idle"] = gpu.dispatch.idle_sms == "counted"
    r["last_sm"] = r["launched_sm"] = (gpu.dispatch.first_sm - 1) % gpu.sm.count
    r["ibuffer"], r["fetches"] = fetch.ibuffer_entries, fetch.per_cycle
    r["constant_line"] = gpu.l1c.line_bytes
    r["response_hops"] = gpu.ldst.response_hops
    r["shared_pipe"] = gpu.ldst.shared_pipe_cycles
    r["atomic_parts"] = gpu.ldst.atomic_warp_parts
    segment = gpu.ldst.uncached_segment_bytes
    r["uncached_segment"] = segment if segment < 128 else 0


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
    recorder = simulation.recorder
    step = 2_000
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
