"""`concurrent_launch`: simulate launches on streams, which run at the same time where nothing orders them.

For `machine.py`. Each launch is prepared as one that runs alone (`launcher.prepare_launch`), in order, on the memory of
the machine; then all are built together. What a run has once (scheduler, limits, callbacks) has to be the same for all.
"""

from collections.abc import Sequence
from dataclasses import replace

from ptxsim.launcher import PreparedLaunch, prepare_launch, run_to_end
from ptxsim.memory_image.faults import tolerated
from ptxsim.memory_image.printing import Printer
from ptxsim.observe.concurrent_result import concurrent_result
from ptxsim.observe.remarks import remarks
from ptxsim.streams import StreamLaunch
from ptxsim.timing.combinations import check_concurrent
from ptxsim.timing.concurrent.build_concurrent import build_concurrent
from ptxsim.timing.concurrent.members import Member
from ptxsim.timing.machine_state import MachineState
from ptxtool.base.diag import PtxError, error
from ptxtool.results.concurrency import ConcurrentResult

OF_A_RUN = (
    "scheduler",
    "max_cycles",
    "event_skip",
    "lock_as_stall",
    "bank_conflicts",
    "progress",
    "on_interrupt",
    "output",
)
"""Options that all launches of a run have in common."""


def concurrent_launch(launches: Sequence[StreamLaunch], state: MachineState) -> ConcurrentResult:
    """Simulate launches, at least one, after those that the machine has run.

    Raises what `ptxsim.launch` raises, E401 for options that differ and have to be the same, and E502 for a launch that
    can only be simulated alone.
    """
    _check_options(launches)
    prepared = [_prepared(each, state) for each in launches]
    members = [
        Member(p.kernel, p.program, p.image, p.plan, p.registers, each.stream, each.after)
        for p, each in zip(prepared, launches, strict=True)
    ]
    gpu = min((p.gpu for p in prepared), key=lambda gpu: gpu.l1d.ways)
    options, policy = launches[0].options, prepared[0].policy
    try:
        simulation = build_concurrent(members, gpu, state)
    except PtxError as problem:
        raise gpu.placed(problem) from None
    simulation.printer = Printer(options.output)
    state.resume(simulation, policy.name)
    status = run_to_end(launches[0].kernel, simulation, policy, options)
    state.device.read_back()
    for member, each in zip(members, launches, strict=True):
        if each.options.variables is not None:
            each.options.variables.update(member.image.variables(member.program.layout))
    result = concurrent_result(simulation, policy.name, status)
    notes: list[str] = []
    n_tolerated = 0
    for member in members:
        n, of_tolerated = tolerated(member.program, member.image)
        n_tolerated += n
        own = replace(simulation, program=member.program, plan=member.plan)
        notes += [*remarks(member.kernel, own, result.whole), *of_tolerated]
    whole = replace(result.whole, remarks=tuple(dict.fromkeys(notes)), out_of_bounds=n_tolerated)
    if status == "done":
        state.keep(simulation)
    return replace(result, whole=whole)


def _prepared(each: StreamLaunch, state: MachineState) -> PreparedLaunch:
    prepared = prepare_launch(each.kernel, each.grid, each.block, each.args, each.options, state)
    plan, has_timeline = prepared.plan, each.options.timeline is not None
    in_clusters = plan.cluster.is_needed(prepared.program)
    check_concurrent(each.kernel, prepared.program, plan, in_clusters, has_timeline)
    return prepared


def _check_options(launches: Sequence[StreamLaunch]) -> None:
    """Raise E401 where launches of one run have different options of which it has one, or set a variable's contents
    after the first."""
    first = launches[0].options
    for each in launches[1:]:
        for name in OF_A_RUN:
            if getattr(each.options, name) != getattr(first, name):
                what = f"'{name}' differs among launches on streams, which are one run"
                raise error("E401", what, help="give it to the machine, or synchronize between them")
        if each.options.constants:
            what = f"constants for '{each.kernel.name}', a launch on a stream that is not the first"
            raise error("E401", what, help="give them to the first launch, or synchronize before it")
