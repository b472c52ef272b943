"""A list of launches on one machine, with or without time: memory is kept from launch to launch.

For `sim` and `run`. All arguments are checked before anything runs. The buffers are copied to the machine in the order
of the file before the first launch, as a program does that uploads everything first, and those named in `copy_back`
are copied to the host after their launch; caches see both if the machine models that.

Launches on streams run at the same time: all of them up to the next launch without a stream, or to the first after
which buffers are copied back or compared.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.formats.launch.launch_data import LaunchEntry
from ptxtool.formats.launch.launch_file import Launch, check_arguments
from ptxtool.formats.launch.launch_steps import launch_of_step
from ptxtool.ir.nodes import Function
from ptxtool.results.outcome import Buffer, LaunchOutcome
from ptxtool.results.sequences import ConcurrentLaunches, SequenceOutcome, SequenceRun
from ptxtool.results.simulation import SimResult
from ptxtool.runs.functional_runs import changed, launched
from ptxtool.runs.launch_inputs import simulator_value, textures, with_inputs
from ptxtool.runs.launch_runs import chosen_policy, limit_reached

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxsim.machine import Machine
    from ptxsim.streams import Event, Stream
    from ptxsim.timing.schedulers import Policy

KernelNamed = Callable[[str | None], Function]
"""Finds a kernel by its name, the only one by None; raises E205."""
Announce = Callable[[str], None]
"""Called with the number and the kernel of the next launch."""


@dataclass(frozen=True)
class _Planned:
    """One launch of the list that is ready to run."""

    number: int
    kernel: Function
    step: LaunchEntry
    launch: Launch
    values: tuple[Any, ...]
    """What the simulator gets, in the order of the parameters."""


@dataclass(frozen=True)
class ReadyLaunch:
    """One launch of a list, and what the loop over them needs."""

    number: int
    kernel: Function
    launch: Launch
    values: Sequence[Any]
    """What the simulator gets, in the order of the parameters."""
    policy: "Policy | None"
    """Its warp scheduler; None: it is executed without time."""
    options: "Callable[[LaunchOptions], LaunchOptions]"
    """Adds what the file says to the options."""
    end: "Callable[[Machine], Iterable[Diagnostic]]"
    """Called after the launch: copies back, and returns what is not as expected."""
    stream: int = 0
    """The stream that it is launched on; 0: it runs alone."""
    after: tuple[int, ...] = ()
    """The numbers of the launches on streams that it waits for."""
    is_waited_for: bool = True
    """Nothing else is launched before it has ended."""


class _Plan:
    """The launches of a file with their arguments, which they share."""

    def __init__(self, launch: Launch, kernel_named: KernelNamed):
        """Raises E401 where arguments do not fit, for all launches at once, and E205."""
        self.launch = launch
        self.arrays = {i.name: i.fresh() for i in launch.inputs}
        shared = {i.name: simulator_value(launch, i, self.arrays[i.name]) for i in launch.inputs}
        self.buffers: dict[str, Any] = {}
        """The arrays that a kernel has a pointer to."""
        self.steps: list[_Planned] = []
        ready: dict[int, tuple[Function, Launch, tuple[Any, ...]]] = {}  # by entry: repetitions share it
        problems: list[Diagnostic] = []
        for number, step in enumerate(launch.steps, 1):
            if id(step) not in ready:
                kernel = kernel_named(step.kernel)
                single = launch_of_step(launch, step, kernel)
                problems += check_arguments(single, kernel)
                ready[id(step)] = kernel, single, tuple(shared.get(i.name, i.value) for i in single.inputs)
                for i, parameter in zip(single.inputs, kernel.parameters, strict=False):
                    if i.is_buffer and i.opaque is None and not parameter.declarators[0].dimensions:
                        self.buffers[i.name] = self.arrays[i.name]
            kernel, single, values = ready[id(step)]
            self.steps.append(_Planned(number, kernel, step, single, values))
        if problems:
            raise PtxError(problems)
        self.textures = textures(launch)

    def first_copies(self) -> list[Any]:
        """The buffers that are copied before the first launch, in the order of the file."""
        return [self.buffers[i.name] for i in self.launch.inputs if i.name in self.buffers]

    def options(self, planned: _Planned, options: "LaunchOptions") -> "LaunchOptions":
        """The options with what the file sets for a launch: constants for the first one only, textures always."""
        constants = self.launch.constants() if planned is self.steps[0] else None
        return with_inputs(options, planned.launch, constants, self.textures)

    def check(self, number: int) -> Iterator[Diagnostic]:
        """What is not as expected after a launch."""
        step = 0 if number == len(self.steps) else number
        yield from self.launch.check([self.arrays[i.name] for i in self.launch.inputs], step)


def simulate_sequence(
    kernel_named: KernelNamed, launch: Launch, options: "LaunchOptions", announce: Announce | None = None
) -> SequenceRun:
    """Simulate a list of launches. The options' scheduler and registers take precedence over the file's; their
    `max_cycles` are for all launches together.

    A launch that did not end (E408, or on Ctrl-C) is the last. Raises E401 and what `ptxsim.Machine.launch` raises.
    """
    import ptxsim

    plan = _Plan(launch, kernel_named)
    machine = ptxsim.Machine(options=options)
    machine.copy(*plan.first_copies())
    policies = {
        id(p.step): chosen_policy(p.launch, machine.gpu, options.scheduler)
        for p in plan.steps
        if p.step.timed
    }

    def ready(planned: _Planned) -> ReadyLaunch:
        def end(machine: "Machine") -> Iterator[Diagnostic]:
            machine.copy(*(plan.buffers[name] for name in planned.step.copy_back if name in plan.buffers))
            return plan.check(planned.number)

        return ReadyLaunch(
            planned.number,
            planned.kernel,
            planned.launch,
            planned.values,
            policies.get(id(planned.step)),
            lambda options: plan.options(planned, options),
            end,
            planned.step.stream,
            planned.step.after,
            bool(planned.step.copy_back) or planned.number in compared,
        )

    compared = {wanted.after for wanted in launch.expectations}
    numbers, concurrent, status, problems = simulate_all(
        machine, map(ready, plan.steps), len(plan.steps), announce
    )
    return SequenceRun(
        gpu=machine.gpu.name,
        of=len(plan.steps),
        numbers=numbers,
        results=tuple(machine.results),
        totals=machine.totals,
        status=status,
        checked=launch.compared if status == "done" else (),
        problems=problems,
        arguments=tuple(plan.arrays.values()),
        concurrent=concurrent,
    )


class _OnStreams:
    """The launches on streams that wait to be run together."""

    def __init__(self, machine: "Machine"):
        self._machine = machine
        self._streams: dict[int, Stream] = {}
        self._events: dict[int, Event] = {}
        self.waiting: list[ReadyLaunch] = []

    def add(self, each: ReadyLaunch, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Launch on a stream."""
        if each.stream not in self._streams:
            self._streams[each.stream] = self._machine.stream(each.stream)
        stream = self._streams[each.stream]
        for number in each.after:
            if number in self._events:
                stream.wait(self._events[number])
        self._events[each.number] = stream.launch(each.kernel, *arguments, **options)
        self.waiting.append(each)


def simulate_all(
    machine: "Machine", launches: Iterable[ReadyLaunch], of: int, announce: Announce | None
) -> tuple[tuple[int, ...], tuple[ConcurrentLaunches, ...], str, tuple[Diagnostic, ...]]:
    """Run launches on a machine, in order, with its options; `of` is how many there are.

    Returns the numbers of the machine's results, the launches on streams, the status of the last one that ran, and what
    is wrong with results. Raises what `ptxsim.Machine.launch` and `synchronize` raise.
    """
    import ptxsim

    options = machine.options
    without_time = ptxsim.LaunchOptions(
        output=options.output,
        out_of_bounds=options.out_of_bounds,
        ptxplus_semantics=options.ptxplus_semantics,
    )
    problems: list[Diagnostic] = []
    numbers: list[int] = []
    concurrent: list[ConcurrentLaunches] = []
    status, cycles = "done", 0
    streams = _OnStreams(machine)

    def ended(kernel: Function, number: int, result: SimResult) -> None:
        nonlocal status, cycles
        numbers.append(number)
        status, cycles = result.status, cycles + result.cycles
        if status == "max-cycles":
            problems.append(limit_reached(kernel, result))

    def synchronize() -> None:
        waiting, streams.waiting = streams.waiting, []
        found = machine.synchronize()
        if found is None:
            return
        concurrent.append(ConcurrentLaunches(tuple(each.number for each in waiting), found))
        ended(waiting[0].kernel, waiting[0].number, found.whole)
        if status == "done":
            for each in waiting:
                problems.extend(each.end(machine))

    def one(each: ReadyLaunch) -> None:
        kernel, single = each.kernel, each.launch
        how = single.grid, single.block, each.values
        if each.policy is None:
            machine.run(kernel, *how, options=each.options(without_time))
            problems.extend(each.end(machine))
            return
        chosen: dict[str, Any] = {
            "options": each.options(options),
            "scheduler": each.policy,
            "registers": single.registers if options.registers is None else options.registers,
            "scratchpad": single.scratchpad if options.scratchpad is None else options.scratchpad,
            "max_cycles": options.max_cycles and max(1, options.max_cycles - cycles),
        }
        if each.stream:
            streams.add(each, how, chosen)
            return
        ended(kernel, each.number, machine.launch(kernel, *how, **chosen))
        if status == "done":
            problems.extend(each.end(machine))

    try:
        for each in launches:
            if not each.stream:
                synchronize()
            if status == "done":
                if announce is not None:
                    announce(f"{each.number} of {of}, {each.kernel.name}")
                one(each)
            if each.stream and each.is_waited_for:
                synchronize()
            if status != "done":
                break
        if status == "done":
            synchronize()
    except KeyboardInterrupt:  # between two launches; within one it is a status
        if options.on_interrupt == "raise":
            raise
        status = "interrupted"
    return tuple(numbers), tuple(concurrent), status, tuple(problems)


def run_sequence(kernel_named: KernelNamed, launch: Launch, options: "LaunchOptions") -> SequenceOutcome:
    """Run a list of launches without time. Raises E401 and what `ptxsim.run` raises.

    Buffers without contents count as unwritten in the first launch that has them.
    """
    import ptxsim
    from ptxsim.sanitizer.prepare import check_names

    plan = _Plan(launch, kernel_named)
    machine = ptxsim.Machine()
    machine.copy(*plan.first_copies())
    steps: list[LaunchOutcome] = []
    wrong: list[Diagnostic] = []
    unwritten = {i.name: plan.arrays[i.name] for i in launch.inputs if i.undefined}
    for planned in plan.steps:
        kernel, single = planned.kernel, planned.launch
        names = {i.name for i in single.inputs}
        result = machine.run(
            kernel,
            single.grid,
            single.block,
            planned.values,
            options=plan.options(planned, options),
            undefined=[unwritten.pop(name) for name in list(unwritten) if name in names],
        )
        steps.append(LaunchOutcome(**launched(kernel, single, result)))
        wrong += plan.check(planned.number)
    buffers = tuple(
        Buffer(i.name, i.type, plan.buffers[i.name], changed(i.value, plan.buffers[i.name]))
        for i in launch.inputs
        if i.name in plan.buffers and isinstance(i.value, np.ndarray)
    )
    return SequenceOutcome(tuple(steps), buffers, launch.compared, tuple(wrong), check_names(options.check))
