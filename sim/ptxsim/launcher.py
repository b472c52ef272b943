"""`launch`: simulate one kernel launch, as CUDA would run it, on a described machine.

Buffers are numpy arrays and are updated in place. The timing follows docs/model; what is simplified is
listed in docs/simulator.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ptxsim.base.identity_cache import Remembered
from ptxsim.base.options import (
    HEAP_BYTES,
    STACK_BYTES,
    Extent,
    check_kernel,
    check_limits,
    check_names,
    check_sequence,
    extent,
    whole,
)
from ptxsim.base.sums import Sums
from ptxsim.lowering.lower import lower
from ptxsim.memory_image.address_names import variable_at
from ptxsim.memory_image.faults import TOUCHED_REGISTER, fault
from ptxsim.memory_image.image import MemoryImage
from ptxsim.memory_image.printing import Printer
from ptxsim.observe.stats import SimResult, StallPoint, slot_counts
from ptxsim.observe.timeline import Timeline, recorded
from ptxsim.timing.build import build
from ptxsim.timing.core import cycle
from ptxsim.timing.core.issue import WRONG_WARP
from ptxsim.timing.deadlock import cta_name, deadlock, shared_register, thread_name
from ptxsim.timing.drive import Progress, account_interrupted, drive
from ptxsim.timing.dynamic_execution import DynamicExecution, dynamic_options
from ptxsim.timing.hotspots import read_hotspots
from ptxsim.timing.machine_state import MachineState
from ptxsim.timing.memory.counts import READONLY_COUNTS, l1_counts, memory_counts
from ptxsim.timing.residency.switching_setup import check_switching
from ptxsim.timing.schedulers import Policy
from ptxsim.timing.schedulers import policy as policy_named
from ptxsim.timing.simulation import LaunchPlan, Simulation
from ptxsim.timing.sm_state import MAX_WARPS, SM
from ptxtool.analysis.occupancy.sharing_plan import SharingPlan, percentage, sharing_plan
from ptxtool.analysis.occupancy.switching_plan import Scheme, scheme_named, switching_plan
from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.base.diag import PtxError, error
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.ir.nodes import Function


def launch(
    kernel: Function,
    grid: Extent,
    block: Extent,
    args: Sequence[Any] = (),
    *,
    gpu: str | Path | Gpu = "tesla-c2050",
    scheduler: str | Policy | None = None,
    share_registers: int | str | Fraction = 0,
    share_scratchpad: int | str | Fraction = 0,
    registers: int | None = None,
    dynamic_shared: int = 0,
    constants: Mapping[str, Any] | None = None,
    textures: Mapping[str, Any] | None = None,
    max_cycles: int | None = None,
    event_skip: bool = True,
    lock_as_stall: bool = False,
    bank_conflicts: bool = True,
    hotspots: bool = False,
    dynamic: bool | str | DynamicExecution = False,
    switching: str | None = None,
    progress: Progress | None = None,
    output: Callable[[str], object] | None = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    ptxplus_semantics: str = "hardware",
    names: Sequence[str] = (),
    stack_bytes: int = STACK_BYTES,
    heap_bytes: int = HEAP_BYTES,
    timeline: Timeline | str | Path | None = None,
    _state: MachineState | None = None,
) -> SimResult:
    """Run a kernel over a grid of CTAs and return its counters. (For several on one machine there is `Machine`.)

    `grid` and `block` are a number or up to three (x, y, z); `args` are the kernel's parameters in order: numpy arrays
    for pointers (C-contiguous; updated in place), numbers for scalars. `registers` is the registers per thread used for
    allocation (default: from the kernel); `share_registers` and `share_scratchpad`, of which one can be given, are the
    sharing percentages of Jatala et al. `dynamic_shared` is in bytes; `constants` fills module variables, `textures`
    gives its textures, samplers and surfaces by name (handles among the parameters take a `Texture`, `Sampler` or
    `Surface` as argument). `max_cycles` ends the run early with status "max-cycles". `scheduler` is `lrr`, `gto`,
    `old`, `rrr`, `two_level:N`, `static_limit:N`, `owf` or `owf_greedy`, or one of your own, `FILE.py:FUNCTION`
    (docs/schedulers.md); without it the machine's. `event_skip=False` steps every cycle (same results, slower);
    `lock_as_stall` counts a warp stopped by a lock as Stall instead of Scoreboard;
    `bank_conflicts=False` lets operand reads never conflict. `hotspots=True` finds out where the time goes: `hotspots`
    of the result (docs/hotspots.md). `dynamic` holds memory instructions of non-owner warps back, as dynamic warp
    execution of these authors: True, a `DynamicExecution` with other options, or their text
    (`period=500,draws=sticky`); it needs one of the two percentages. `switching` is `none`, `virtual-thread` or
    `finereg`: CTAs that wait for memory give way to others (docs/switching.md); without it the machine's. What the
    kernel prints is in the result's `printed`; `output` is called with pieces of it as they come. On Ctrl-C the
    exception is raised, or with `on_interrupt="return"` the counters so far are returned with status "interrupted".
    `ptxplus_semantics="gpgpu-sim"` gives PTXPlus the meaning it has in GPGPU-Sim (docs/ptxplus-semantics.md).
    A thread has `stack_bytes` for recursion beyond its longest chain of functions, and as many for `alloca`; `malloc`
    has `heap_bytes`. `timeline` is a file (`.json`, `.json.gz`) for Perfetto, or a `Timeline`. `names` is what
    reports call the arguments, one for each (default: the names of the parameters).

    Raises `PtxError`: E401 wrong arguments, E402 the CTA does not fit the machine, E403 an instruction that cannot be
    simulated (before the first cycle), E404/E405 a bad memory access, E406 a barrier that can never complete, E407 a
    deadlock, E413 a failed assertion, E414 a trap, E415 a stack overflow, E416 a scheduler of your own that
    goes wrong, E417 use of what a release mark gave back, E502 unknown machine, scheduler or semantics, E503 a
    timeline that cannot be written.
    """
    check_kernel(kernel)
    machine = machine_of(gpu)
    grid3, block3 = extent("grid", grid), extent("block", block)
    policy = scheduler if isinstance(scheduler, Policy) else policy_named(scheduler or machine.scheduler)
    shares = (
        percentage(share_registers, "share_registers"),
        percentage(share_scratchpad, "share_scratchpad"),
    )
    whole("dynamic_shared", dynamic_shared, 0)
    for name, given, least in (("registers", registers, 0), ("max_cycles", max_cycles, 1)):
        if given is not None:
            whole(name, given, least)
    check_sequence(args)
    check_names(names, args)
    check_limits(stack_bytes, heap_bytes)
    threads = block3[0] * block3[1] * block3[2]
    scheme = machine.switching.scheme if switching is None else scheme_named(switching)
    if _state is None:
        program = lower(kernel, machine, block3, ptxplus_semantics, stack_bytes)
    else:
        program = _state.program(kernel, block3, ptxplus_semantics, stack_bytes)
    image = MemoryImage.build(
        program,
        kernel,
        machine,
        args,
        constants=constants or {},
        textures=textures,
        dynamic_shared=dynamic_shared,
        names=names,
        heap_bytes=heap_bytes,
        warp_slots=_warp_slots(machine, scheme, grid3, threads),
        device=None if _state is None else _state.device,
    )
    per_thread = registers
    if per_thread is None:
        per_thread = _registers.get(kernel, None, lambda: registers_per_thread(kernel))
    scratchpad = int(image.shared_image.nbytes)
    try:
        needs = threads, per_thread, scratchpad, dynamic_shared, *shares
        plan = _plans.get(machine, needs, lambda: _plan(machine, *needs))
        switched = None
        if scheme != "none":
            switched = switching_plan(machine, scheme, threads, per_thread, scratchpad)
            refused = (any(shares), "sharing of registers or scratchpad"), (timeline, "a timeline")
            check_switching(kernel, program, switched, machine, refused)
    except PtxError as problem:
        raise _placed(machine.placed(problem), kernel) from None
    configuration = LaunchPlan(
        grid=grid3,
        block=block3,
        sharing=plan,
        max_cycles=max_cycles or 0,
        event_skip=event_skip,
        lock_as_stall=lock_as_stall,
        bank_conflicts=bank_conflicts,
        hotspots=hotspots,
        dynamic=_dynamic(dynamic, any(shares)),
        switching=switched,
    )
    try:
        simulation = build(program, image, machine, configuration, _state)
    except PtxError as problem:
        raise machine.placed(problem) from None
    simulation.printer = Printer(output)
    if _state is not None:
        _state.resume(simulation, policy.name)
    status = "done"
    about = {
        "kernel": kernel.name,
        "gpu": machine.name,
        "scheduler": policy.name,
        "grid": grid3,
        "block": block3,
    }
    with recorded(timeline, simulation, about):
        try:
            reason = drive(simulation, policy, progress)
        except KeyboardInterrupt:
            if on_interrupt == "raise":
                raise
            reason, status = cycle.DONE, "interrupted"
            account_interrupted(simulation, policy)
        except Exception as problem:
            explained = policy.explained(problem)
            if explained is None:
                raise
            raise explained from None
    if reason == cycle.LIMIT:
        status = "max-cycles"
    elif reason == cycle.FAULT:
        raise _wrong_warp(simulation, policy) or _fault(kernel, simulation)
    elif reason == cycle.DEADLOCK:
        raise deadlock(kernel, simulation)
    image.read_back()
    result = _result(kernel, simulation, plan, policy.name, status, per_thread, scratchpad)
    if _state is None:
        simulation.recycle()
    elif status == "done":
        _state.keep(simulation)
    return result


def _warp_slots(gpu: Gpu, scheme: Scheme, grid: tuple[int, int, int], threads: int) -> int | None:
    """Room for warps of the GPU where CTAs are switched; None: as many as it has slots.

    A multiple of these: local memory is interleaved over all of them, and which of its words share a set of L1 should
    depend on the scheme as little as possible.
    """
    if scheme == "none":
        return None
    warps = -(-threads // gpu.sm.warp_size)
    per_sm = -(-grid[0] * grid[1] * grid[2] // gpu.sm.count)
    resident = warps * min(gpu.switching.ctas, max(1, gpu.switching.warps // warps), per_sm)
    return gpu.sm.count * gpu.sm.warps * -(-resident // gpu.sm.warps)


_plans: Remembered[SharingPlan] = Remembered(32)
_registers: Remembered[int] = Remembered(32)
"""Of machines: the resident CTAs, by what they need."""


def _plan(
    gpu: Gpu,
    threads: int,
    registers: int,
    scratchpad: int,
    dynamic: int,
    share_registers: Fraction,
    share_scratchpad: Fraction,
) -> SharingPlan:
    """The resident CTAs. `dynamic` bytes of the scratchpad are not declared: a machine may ignore them for all but one
    CTA (timing-model-42 section 4.3)."""

    def of(size: int) -> SharingPlan:
        return sharing_plan(
            gpu,
            threads,
            registers,
            size,
            share_registers=share_registers,
            share_scratchpad=share_scratchpad,
            pairs=gpu.sharing.pairs,
        )

    plan = of(scratchpad)
    return of(scratchpad - dynamic) if dynamic and gpu.dispatch.dynamic_scratchpad == "ignored" else plan


def _dynamic(given: bool | str | DynamicExecution, shares: bool) -> DynamicExecution | None:
    """The options of dynamic warp execution, if it is wanted. Raises E502 where nothing is shared."""
    if given is False:
        return None
    if not shares:
        what = "dynamic warp execution without sharing"
        advice = "it holds back warps of shared pairs: give share_registers or share_scratchpad, such as 90"
        raise error("E502", what, help=advice)
    if isinstance(given, str):
        return dynamic_options(given)
    return DynamicExecution() if given is True else given


_COUNTS = (
    "warp_instructions",
    "thread_instructions",
    "active_cycles",
    "stall_shared_memory",
    "bank_conflict_cycles",
    "global_loads",
    "texture_fetches",
    "global_stores",
    "atomics",
    "shared_accesses",
    "barriers",
    "divergent_branches",
    "lock_refused",
    "lock_wait_cycles",
    "locks_released_early",
)
_counts = Sums(
    SM,
    {name: name for name in _COUNTS}
    | {f"{cache}_{name}": f"{cache}.{name}" for cache in ("l1i", "l1c", "l1t") for name in READONLY_COUNTS},
)


def _placed(problem: PtxError, kernel: Function) -> PtxError:
    """The same errors, those without a place at the kernel's head."""
    return PtxError(
        d if d.source else replace(d, source=kernel.source, start=kernel.start, end=kernel.body_start)
        for d in problem.diagnostics
    )


def _result(
    kernel: Function,
    simulation: Simulation,
    plan: SharingPlan,
    scheduler: str,
    status: str,
    registers: int,
    scratchpad: int,
) -> SimResult:
    run, sms, configuration = simulation.run[0], simulation.sms, simulation.plan
    switching = configuration.switching
    active = switching.active if switching else plan.unshared
    counts = _counts.of(sms)
    slots, by_lanes = slot_counts(sms, int(run["n_schedulers"]))
    memory = memory_counts(simulation.memory)
    return SimResult(
        kernel=kernel.name,
        gpu=simulation.gpu.name,
        scheduler=scheduler,
        share_registers=float(plan.percent) if plan.resource == "registers" else 0.0,
        share_scratchpad=float(plan.percent) if plan.resource == "scratchpad" else 0.0,
        status=status,
        grid=configuration.grid,
        block=configuration.block,
        n_ctas=int(run["n_ctas"]),
        ctas_done=int(run["ctas_done"]),
        registers=registers,
        scratchpad_bytes=scratchpad,
        resident_ctas=active.resident_ctas if switching else plan.resident_ctas,
        unshared_ctas=active.resident_ctas if switching else plan.unshared_ctas,
        shared_pairs=plan.shared_pairs,
        private_registers=plan.private_registers,
        private_scratchpad=plan.private_scratchpad,
        limiter=active.limiter if switching else plan.limiter,
        cycles=int(run["cycle"]),
        warp_instructions=counts.pop("warp_instructions"),
        thread_instructions=counts.pop("thread_instructions"),
        active_cycles=counts.pop("active_cycles"),
        n_sms=len(sms),
        n_schedulers=int(run["n_schedulers"]),
        slots=slots,
        issued_by_lanes=by_lanes,
        l1=l1_counts(simulation.l1s),
        l2={k.removeprefix("l2_"): v for k, v in memory.items() if k.startswith("l2_")},
        dram={k.removeprefix("dram_"): v for k, v in memory.items() if k.startswith("dram_")},
        core=counts | {k: v for k, v in memory.items() if k.startswith("icnt_")},
        stall_points=_stall_points(simulation),
        printed=simulation.printer.text,
        issues=tuple(simulation.arrays["issues"].tolist()),
        dynamic=simulation.dynamic.result() if simulation.dynamic else None,
        switching=simulation.switcher.result(int(run["cycle"])) if simulation.switcher else None,
        hotspots=read_hotspots(simulation.program, sms, simulation.arrays, configuration.lock_as_stall)
        if configuration.hotspots
        else None,
    )


def _stall_points(simulation: Simulation) -> tuple[StallPoint, ...]:
    """The instructions at which non-owner warps stopped, in the order of their text."""
    program, arrays = simulation.program, simulation.arrays
    if not simulation.run["shared_pairs"][0]:
        return ()
    points: list[StallPoint] = []
    for i in np.flatnonzero(arrays["stall_warps"]):
        record = program.instructions[i]
        offset = int(arrays["stall_offset"][i])
        register = shared_register(simulation, int(i)) if offset < 0 else -1
        points.append(
            StallPoint(
                instruction=int(i),
                line=int(record["line"]),
                text=program.texts[i],
                register=program.register_names[register] if register >= 0 else "",
                sequence=register + 1,
                offset=offset,
                variable=variable_at(program, offset) if offset >= 0 else "",
                warps=int(arrays["stall_warps"][i]),
                warp_cycles=int(arrays["stall_cycles"][i]),
                first_cycle=int(arrays["stall_first"][i]),
            )
        )
    return tuple(points)


def _fault(kernel: Function, simulation: Simulation) -> PtxError:
    """A fault of the running kernel, with its place in source and grid."""
    run, program = simulation.run[0], simulation.program
    i = int(run["fault_instruction"])
    found = fault(program, simulation.arrays["image"], int(run["fault_kind"]), simulation.printer.assertion)
    where = (
        f"kernel '{kernel.name}', CTA {cta_name(simulation, int(run['fault_cta']))}, thread "
        f"{thread_name(simulation, int(run['fault_thread']))}, SM {int(run['fault_sm'])}, cycle {int(run['cycle']) - 1}"
    )
    what = found.what
    if int(run["fault_kind"]) == TOUCHED_REGISTER:
        what += f", {program.register_names[shared_register(simulation, i)]},"
    message = f"{what} in '{program.texts[i]}': {where}"
    return error(found.code, message, *program.span(i), found.help)


def _wrong_warp(simulation: Simulation, policy: Policy) -> PtxError | None:
    """A user's policy has chosen a warp that cannot issue; None for any other fault."""
    run = simulation.run[0]
    if int(run["fault_kind"]) != WRONG_WARP or policy.own is None:
        return None
    able = int(run["wrong_candidates"])
    return policy.own.wrong_warp(int(run["wrong_warp"]), [w for w in range(MAX_WARPS) if able >> w & 1])
