"""`launch`: simulate one kernel launch cycle by cycle on a described machine.

Buffers are numpy arrays and are updated in place. The timing follows docs/model; simplifications are listed in
docs/simulator.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Unpack

from ptxsim.base.notice import say_if_compiling
from ptxsim.base.options import Extent, check_call, extent
from ptxsim.base.program import Program
from ptxsim.launch_options import LaunchKeywords, LaunchOptions, options_of
from ptxsim.lowering.cluster_launch import ClusterLaunch, cluster_of
from ptxsim.lowering.lower import lower
from ptxsim.lowering.sequence_numbers import with_physical_numbers
from ptxsim.lowering.variable_layout import AT_BEGINNING
from ptxsim.memory_image.faults import tolerated
from ptxsim.memory_image.fixed_memory import device_of
from ptxsim.memory_image.image import MemoryImage
from ptxsim.memory_image.printing import Printer
from ptxsim.observe.fault_report import fault_report
from ptxsim.observe.launch_result import launch_result
from ptxsim.observe.remarks import remarks
from ptxsim.observe.timeline import recorded
from ptxsim.timing.build import build
from ptxsim.timing.combinations import check_combination
from ptxsim.timing.concurrent.members import alone, left_over
from ptxsim.timing.core import cycle
from ptxsim.timing.deadlock import deadlock
from ptxsim.timing.drive import LIVELOCK, account_interrupted, drive
from ptxsim.timing.dynamic_execution import DynamicExecution, dynamic_options
from ptxsim.timing.livelock import livelock
from ptxsim.timing.machine_records import check_machine, needs_wide
from ptxsim.timing.machine_state import MachineState
from ptxsim.timing.residency.schemes.own import OwnScheme, own_scheme
from ptxsim.timing.residency.switching_setup import check_limits
from ptxsim.timing.schedulers import Policy, built_in_policy
from ptxsim.timing.schedulers import policy as policy_named
from ptxsim.timing.sharing.renaming_setup import plan_renaming
from ptxsim.timing.sharing.sections_setup import plan_sections
from ptxsim.timing.simulation import LaunchPlan, Simulation
from ptxtool.analysis.flow.pressure import pressure
from ptxtool.analysis.occupancy.entry_registers import launched_registers
from ptxtool.analysis.occupancy.register_schemes import RegisterScheme, scheme_named
from ptxtool.analysis.occupancy.sharing_plan import (
    Percent,
    SharingPlan,
    percentage,
    private_part,
    sharing_plan,
)
from ptxtool.analysis.occupancy.switching_plan import switching_plan
from ptxtool.analysis.occupancy.unified_plan import UnifiedPlan, unified_plan
from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.base.diag import PtxError, error
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.base.user_file import raised_at
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.ir.nodes import Function
from ptxtool.results.simulation import SimResult

Size = tuple[int, int, int]


def launch(
    kernel: Function,
    grid: Extent,
    block: Extent,
    args: Sequence[Any] = (),
    *,
    options: LaunchOptions | None = None,
    **changes: Unpack[LaunchKeywords],
) -> SimResult:
    """Simulate a kernel over a grid of CTAs and return its counters. (For several launches on one GPU: `Machine`.)

    `grid` and `block` are a number or up to three (x, y, z); `args` are the kernel's parameters in order: numpy arrays
    for pointers (C-contiguous; updated in place), numbers for scalars, a `Texture`, `Sampler` or `Surface` for handles.
    `LaunchOptions` explains the options; as keyword arguments they replace those of `options`.

    Raises `PtxError`: E301 shared virtual registers that need more physical ones than the launch takes, E401 wrong
    arguments, E402 the CTA does not fit the machine, E403 an instruction that cannot be
    simulated (before the first cycle), E404/E405 a bad memory access, E406 a barrier that can never complete, E407 a
    deadlock, E413 a failed assertion, E414 a trap, E415 a stack overflow, E416 a fault of a scheduler of your own,
    E417 use of a register or scratchpad after its release mark, E502 unknown machine, scheduler or semantics, E503 a
    timeline that cannot be written.
    """
    return timed_launch(kernel, grid, block, args, options_of("launch", options, changes))


@dataclass(frozen=True)
class PreparedLaunch:
    """A launch that can be built: its program, its memory, and what it is simulated with."""

    kernel: Function
    options: LaunchOptions
    program: Program
    image: MemoryImage
    gpu: Gpu
    plan: LaunchPlan
    registers: int
    """Per thread."""
    policy: Policy
    own: OwnScheme | None


def timed_launch(
    kernel: Function,
    grid: Extent,
    block: Extent,
    args: Sequence[Any],
    options: LaunchOptions,
    state: MachineState | None = None,
) -> SimResult:
    """`launch`, for a `Machine` too: `state` is what its earlier launches left and what this one changes."""
    prepared = prepare_launch(kernel, grid, block, args, options, state)
    program, image, own = prepared.program, prepared.image, prepared.own
    try:
        simulation = build(program, image, prepared.gpu, prepared.plan, state)
    except PtxError as problem:
        raise prepared.gpu.placed(problem) from None
    simulation.printer = Printer(options.output)
    if own is not None:
        simulation.own_scheme, simulation.decide = own, own.decide
    if state is not None:
        state.resume(simulation, prepared.policy.name)
    status = run_to_end(kernel, simulation, prepared.policy, options)
    image.read_back()
    if options.memory is not None:
        options.memory.read_back(image.device)
    if options.variables is not None:
        options.variables.update(image.variables(program.layout))
    result = launch_result(kernel, simulation, prepared.policy.name, status, prepared.registers)
    n_tolerated, of_tolerated = tolerated(program, image)
    notes = (*remarks(kernel, simulation, result), *of_tolerated)
    result = replace(result, remarks=notes, out_of_bounds=n_tolerated)
    if state is None:
        simulation.recycle()
    elif status == "done":
        state.keep(simulation)
    return result


def prepare_launch(
    kernel: Function,
    grid: Extent,
    block: Extent,
    args: Sequence[Any],
    options: LaunchOptions,
    state: MachineState | None,
) -> PreparedLaunch:
    """Lower a kernel, lay out its memory, and decide what is resident. Raises as `launch` does before its first
    cycle."""
    check_call(kernel, args, options.names)
    grid, block = extent("grid", grid), extent("block", block)
    gpu, own = machine_of(options.gpu), own_scheme(options.scheme_name)
    if own is not None:
        gpu = _machines.get(gpu, own.settings, lambda: own.applied(machine_of(options.gpu)))
    _checked.get(gpu, None, lambda: _check(gpu))
    policy = options.scheduler or built_in_policy(gpu.scheduler)
    if not isinstance(policy, Policy):
        policy = policy_named(policy)
    if needs_wide(gpu):
        say_if_compiling("wide")
        policy = policy.for_records(is_wide=True)
    scheme = own.scheme if own else scheme_named(options.scheme_name or gpu.switching.scheme)
    kept = None if state is None else state.device
    device = device_of(kernel, gpu, options.memory, options.heap_bytes, kept)
    if state is None:
        origin = AT_BEGINNING if device is None else device.origin(kernel.module)
        program = lower(kernel, gpu, block, options.ptxplus_semantics, options.stack_bytes, origin)
    else:
        program = state.program(kernel, block, options.ptxplus_semantics, options.stack_bytes)
    image = MemoryImage.build(
        program,
        kernel,
        gpu,
        args,
        constants=options.constants or {},
        textures=options.textures,
        dynamic_shared=options.dynamic_shared,
        names=options.names,
        heap_bytes=options.heap_bytes,
        warp_slots=_warp_slots(gpu, scheme, grid, _threads(block)),
        device=device,
        tolerant=options.out_of_bounds == "count",
    )
    registers = options.registers
    if registers is None:
        registers = _registers.get(kernel, None, lambda: registers_per_thread(kernel))
    n_bytes = int(image.shared_image.nbytes)
    cluster = cluster_of(kernel, options.cluster, grid, n_bytes)
    cluster.fill(image.context[0])
    planned = _PlanOptions(*(getattr(options, name) for name in _PlanOptions._fields))
    given = grid, block, cluster, planned, registers, n_bytes
    configuration = _launch_plans.get(
        (kernel, program, gpu, scheme), given, lambda: _configuration(kernel, program, gpu, scheme, *given)
    )
    sharing, gpu = configuration.sharing, _divided(gpu, configuration.unified)
    gpu = _adapted(gpu, configuration)
    if options.allocate and sharing.shared_pairs and sharing.resource == "registers":
        program = with_physical_numbers(program, kernel, registers)
    return PreparedLaunch(kernel, options, program, image, gpu, configuration, registers, policy, own)


class _PlanOptions(NamedTuple):
    """The options that the plan of a launch depends on."""

    registers: int | None
    scratchpad: int | None
    dynamic_shared: int
    share_registers: Percent
    share_scratchpad: Percent
    dynamic: bool | str | DynamicExecution
    max_cycles: int | None
    event_skip: bool
    lock_as_stall: bool
    bank_conflicts: bool
    hotspots: bool


def _configuration(
    kernel: Function,
    program: Program,
    gpu: Gpu,
    scheme: RegisterScheme,
    grid: Size,
    block: Size,
    cluster: ClusterLaunch,
    options: _PlanOptions,
    registers: int,
    n_bytes: int,
) -> LaunchPlan:
    """The resident CTAs and the switches of the run; `n_bytes` of scratchpad can be accessed. Raises E402 and E502,
    placed at the kernel or in the GPU file."""
    threads = _threads(block)
    scratchpad = n_bytes if options.scratchpad is None else options.scratchpad
    shares = (
        percentage(options.share_registers, "share_registers"),
        percentage(options.share_scratchpad, "share_scratchpad"),
    )
    try:
        sections = None
        if scheme.extended:
            sections = plan_sections(kernel, gpu, threads, options.registers, scratchpad)
        check_combination(
            scheme, kernel, program, any(shares), sections is not None, cluster.is_needed(program)
        )
        unified, dynamic_shared = None, options.dynamic_shared
        if scheme.unified:
            unified = _unified(kernel, gpu, scheme, grid, threads, registers, scratchpad)
            gpu, dynamic_shared = _divided(gpu, unified), 0  # the split holds the scratchpad of every CTA
        needs = threads, registers, scratchpad, dynamic_shared, *shares
        plan = _plans.get(gpu, needs, lambda: _sharing_plan(gpu, *needs))
        if options.scratchpad is not None:
            # what is private is a part of what there is, as for the passes
            plan = replace(plan, private_scratchpad=private_part(n_bytes, shares[1]))
        switching = renaming = None
        if scheme.renamed:
            renaming = plan_renaming(kernel, gpu, threads, registers, scratchpad)
        if scheme.switching != "none":
            check_limits(gpu)
            own, pool = registers, 0
            if sections is not None:
                own, pool = sections.occupancy.needs.registers_per_thread, sections.pool_registers
            switching = switching_plan(gpu, scheme, threads, own, scratchpad, pool)
    except PtxError as problem:
        raise PtxError(
            d if d.source else replace(d, source=kernel.source, start=kernel.start, end=kernel.body_start)
            for d in gpu.placed(problem).diagnostics
        ) from None
    return LaunchPlan(
        scheme=scheme,
        grid=grid,
        block=block,
        cluster=cluster,
        sharing=plan,
        max_cycles=options.max_cycles or 0,
        event_skip=options.event_skip,
        lock_as_stall=options.lock_as_stall,
        bank_conflicts=options.bank_conflicts,
        hotspots=options.hotspots,
        entry_registers=launched_registers(kernel, options.registers) if program.adjusts_registers else 0,
        dynamic=_dynamic(options.dynamic, any(shares)),
        switching=switching,
        sections=sections,
        renaming=renaming,
        unified=unified,
    )


def _unified(kernel: Function, gpu: Gpu, scheme: RegisterScheme, grid: Size, *needs: int) -> UnifiedPlan:
    """The split of unified memory for a launch. Registers of functions that it calls are not among the live ones.
    Raises E402 and E502."""
    live = None
    if scheme.switching == "finereg":
        live = _most_live.get(kernel, None, lambda: pressure(kernel).maximum)
    return unified_plan(gpu, scheme, *needs, live=live, grid_ctas=grid[0] * grid[1] * grid[2])


def _divided(gpu: Gpu, split: UnifiedPlan | None) -> Gpu:
    """The machine with unified memory split so, the same object every time."""
    return gpu if split is None else _machines.get(gpu, split, lambda: gpu.divided(split))


def _adapted(gpu: Gpu, plan: LaunchPlan) -> Gpu:
    """The machine with the L1 that the shared memory of resident CTAs leaves; the same object every time.

    What a machine ignores for the number of CTAs, it ignores here. Unified memory has divided itself already.
    """
    if plan.unified:
        return gpu
    per_sm = -(-plan.grid[0] * plan.grid[1] * plan.grid[2] // gpu.sm.count)
    of_cta = plan.sharing.unshared.needs.allocated_scratchpad
    l1d = gpu.l1d.left_by(of_cta * min(plan.sharing.resident_ctas, per_sm))
    return gpu if l1d is gpu.l1d else _machines.get(gpu, l1d.ways, lambda: gpu.with_l1(l1d))


def _threads(block: Size) -> int:
    return block[0] * block[1] * block[2]


def _warp_slots(gpu: Gpu, scheme: RegisterScheme, grid: Size, threads: int) -> int | None:
    """Warps of the GPU that local memory is laid out for where CTAs are switched; None: its warp slots.

    A multiple of the warp slots: local memory is interleaved over all warps, and which of its words share a set of L1
    should depend on the scheme as little as possible.
    """
    if scheme.switching == "none":
        return None
    warps = -(-threads // gpu.sm.warp_size)
    per_sm = -(-grid[0] * grid[1] * grid[2] // gpu.sm.count)
    resident = warps * min(gpu.switching.ctas, max(1, gpu.switching.warps // warps), per_sm)
    return gpu.sm.count * gpu.sm.warps * -(-resident // gpu.sm.warps)


def _check(gpu: Gpu) -> None:
    """Raise E502, placed in its file, for a machine that the simulator cannot hold."""
    try:
        check_machine(gpu)
    except PtxError as problem:
        raise gpu.placed(problem) from None


_checked: IdentityCache[None] = IdentityCache(32)
"""Machines that have been checked."""
_launch_plans: IdentityCache[LaunchPlan] = IdentityCache(32)
"""Of kernels, their programs, machines and schemes: the plans of launches."""
_plans: IdentityCache[SharingPlan] = IdentityCache(32)
"""Of machines: the resident CTAs, by the resources of a CTA."""
_machines: IdentityCache[Gpu] = IdentityCache(32)
"""Of machines: the same with unified memory divided, or with the settings of a scheme of the user's."""
_registers: IdentityCache[int] = IdentityCache(32)
"""Of kernels: their registers per thread."""
_most_live: IdentityCache[int] = IdentityCache(32)
"""Of kernels: the most 32-bit registers that are live in a warp."""


def _sharing_plan(
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


def _dynamic(dynamic: bool | str | DynamicExecution, shares: bool) -> DynamicExecution | None:
    """The options of dynamic warp execution; None without it. Raises E502 where nothing is shared."""
    if dynamic is False:
        return None
    if not shares:
        what = "dynamic warp execution without sharing"
        advice = "it holds back warps of shared pairs: give share_registers or share_scratchpad, such as 90"
        raise error("E502", what, help=advice)
    if isinstance(dynamic, str):
        return dynamic_options(dynamic)
    return DynamicExecution() if dynamic is True else dynamic


def run_to_end(kernel: Function, simulation: Simulation, policy: Policy, options: LaunchOptions) -> str:
    """Run the cycle loop; the status of the run. Raises for a fault and for a deadlock."""
    about = {
        "kernel": kernel.name,
        "gpu": simulation.gpu.name,
        "scheduler": policy.name,
        "grid": simulation.plan.grid,
        "block": simulation.plan.block,
    }
    with recorded(options.timeline, simulation, about):
        try:
            reason = drive(simulation, policy, options.progress, options.threads or 1)
        except KeyboardInterrupt:
            if options.on_interrupt == "raise":
                raise
            account_interrupted(simulation, policy)
            return "interrupted"
        except Exception as problem:
            explained = _explained(problem, policy, simulation)
            if explained is None:
                raise
            raise explained from None
    if reason in (cycle.FAULT, cycle.DEADLOCK, LIVELOCK) and simulation.members:
        k = int(simulation.run["fault_kernel"][0]) if reason == cycle.FAULT else left_over(simulation)
        kernel, simulation = simulation.members[k].kernel, alone(simulation, k)
    if reason == cycle.FAULT:
        raise fault_report(kernel, simulation, policy)
    if reason == cycle.DEADLOCK:
        raise deadlock(kernel, simulation)
    if reason == LIVELOCK:
        raise livelock(kernel, simulation)
    return "max-cycles" if reason == cycle.LIMIT else "done"


def _explained(problem: Exception, policy: Policy, simulation: Simulation) -> PtxError | None:
    """The diagnostic for an exception that a function of the user's has raised; None if none did."""
    owns = [own for own in (policy.own, simulation.own_scheme) if own is not None]
    owns.sort(key=lambda own: raised_at(own.source, problem) == (0, 0))  # the one that it came through
    return next((found for own in owns if (found := own.raised(problem))), None)
