"""A list of launches on one machine, with or without time: memory goes from each to the next.

For `sim` and `run`. All arguments are checked before anything runs. The buffers are copied to the machine in the order
of the file before the first launch, as a program does that uploads everything first, and those named in `copy_back`
are copied to the host behind their launch; caches see both where the machine has that.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.gpu_names import DEFAULT_GPU
from ptxtool.formats.launch.launch_data import LaunchEntry
from ptxtool.formats.launch.launch_file import Launch, check_arguments
from ptxtool.formats.launch.launch_steps import launch_of_step
from ptxtool.ir.nodes import Function
from ptxtool.results.outcome import Buffer
from ptxtool.results.sequences import SequenceOutcome, SequenceRun, StepOutcome
from ptxtool.runs.functional_runs import changed
from ptxtool.runs.launch_runs import chosen_policy, limit_reached
from ptxtool.runs.texture_arguments import given, made

if TYPE_CHECKING:
    from ptxsim.functional.tracing import Trace
    from ptxsim.timing.schedulers import Policy

_WITHOUT_TIME = ("ptxplus_semantics", "output")
"""Options of simulated launches that a run without time has, too."""

KernelNamed = Callable[[str | None], Function]
"""Finds a kernel by its name, the only one for none; raises E205."""
Announce = Callable[[str], None]
"""Called with what is to run next."""


@dataclass(frozen=True)
class _Planned:
    """One launch of the list that is ready to run."""

    number: int
    kernel: Function
    step: LaunchEntry
    launch: Launch
    values: tuple[Any, ...]
    """What the simulator gets, in the order of the parameters."""

    @property
    def options(self) -> dict[str, Any]:
        """What both ways of running take."""
        return {
            "dynamic_shared": self.launch.dynamic_shared,
            "names": [i.name for i in self.launch.inputs],
            **self.launch.limits,
        }


class _Plan:
    """The launches of a file with their arguments, which they share."""

    def __init__(self, launch: Launch, kernel_named: KernelNamed):
        """Raises E401 where arguments do not fit, for all launches at once, and E205."""
        self.launch = launch
        self.arrays = {i.name: i.fresh() for i in launch.inputs}
        shared = {i.name: made(launch, i, self.arrays[i.name]) for i in launch.inputs}
        self.buffers: dict[str, Any] = {}
        """Those that some kernel has a pointer to."""
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
        self.textures = given(launch, [self.arrays[i.name] for i in launch.inputs])[1]

    def first_copies(self) -> list[Any]:
        """The buffers that are copied before the first launch, in the order of the file."""
        return [self.buffers[i.name] for i in self.launch.inputs if i.name in self.buffers]

    def by_name(self, planned: _Planned) -> dict[str, Any]:
        """What a launch gets by name: constants before the first one only, textures always."""
        first = planned is self.steps[0]
        return {"constants": self.launch.constants() if first else {}, "textures": self.textures}

    def check(self, number: int) -> Iterator[Diagnostic]:
        """What is not as expected behind a launch."""
        step = 0 if number == len(self.steps) else number
        yield from self.launch.check([self.arrays[i.name] for i in self.launch.inputs], step)


def simulate_sequence(
    kernel_named: KernelNamed,
    launch: Launch,
    gpu: str | Path | Gpu = DEFAULT_GPU,
    *,
    scheduler: "str | Policy | None" = None,
    registers: int | None = None,
    max_cycles: int | None = None,
    announce: Announce | None = None,
    **options: Any,
) -> SequenceRun:
    """Simulate a list of launches. `scheduler` and `registers` go before what the file says; `max_cycles` is for all.

    A launch that did not end (E408, or on Ctrl-C) is the last. Raises E401 and what `ptxsim.Machine.launch` raises.
    """
    import ptxsim

    plan = _Plan(launch, kernel_named)
    machine = ptxsim.Machine(machine_of(gpu), **options)
    machine.copy(*plan.first_copies())
    policies = {
        id(p.step): chosen_policy(p.launch, machine.gpu, scheduler) for p in plan.steps if p.step.timed
    }
    without_time = {k: v for k, v in options.items() if k in _WITHOUT_TIME}
    problems: list[Diagnostic] = []
    status, cycles = "done", 0
    try:
        for planned in plan.steps:
            kernel, single = planned.kernel, planned.launch
            if announce is not None:
                announce(f"{planned.number} of {len(plan.steps)}, {kernel.name}")
            common = {**planned.options, **plan.by_name(planned)}
            if not planned.step.timed:
                machine.run(kernel, single.grid, single.block, planned.values, **common, **without_time)
            else:
                own = {
                    "scheduler": policies[id(planned.step)],
                    "registers": single.registers if registers is None else registers,
                    "max_cycles": max_cycles and max(1, max_cycles - cycles),
                }
                result = machine.launch(kernel, single.grid, single.block, planned.values, **own, **common)
                status, cycles = result.status, cycles + result.cycles
                if status == "max-cycles":
                    problems.append(limit_reached(kernel, result))
                if status != "done":
                    break
            machine.copy(*(plan.buffers[name] for name in planned.step.copy_back if name in plan.buffers))
            problems += plan.check(planned.number)
    except KeyboardInterrupt:  # between two launches; within one it is a status
        if options.get("on_interrupt") != "return":
            raise
        status = "interrupted"
    results = tuple(machine.results)
    return SequenceRun(
        gpu=machine.gpu.name,
        of=len(plan.steps),
        numbers=tuple(p.number for p in plan.steps if p.step.timed)[: len(results)],
        results=results,
        totals=machine.totals,
        status=status,
        checked=launch.compared if status == "done" else (),
        problems=tuple(problems),
        arguments=tuple(plan.arrays.values()),
    )


def run_sequence(
    kernel_named: KernelNamed,
    launch: Launch,
    *,
    check: Collection[str] = (),
    output: Callable[[str], object] | None = None,
    trace: "Trace | None" = None,
    max_instructions: int | None = None,
    ptxplus_semantics: str = "hardware",
) -> SequenceOutcome:
    """Run a list of launches without time. Raises E401 and what `ptxsim.run` raises.

    Buffers without contents count as unwritten in the first launch that has them.
    """
    import ptxsim
    from ptxsim.sanitizer.prepare import check_names

    plan = _Plan(launch, kernel_named)
    machine = ptxsim.Machine()
    machine.copy(*plan.first_copies())
    steps: list[StepOutcome] = []
    wrong: list[Diagnostic] = []
    unwritten = {i.name: plan.arrays[i.name] for i in launch.inputs if i.undefined}
    for planned in plan.steps:
        kernel, single = planned.kernel, planned.launch
        result = machine.run(
            kernel,
            single.grid,
            single.block,
            planned.values,
            check=check,
            undefined=[unwritten.pop(i.name) for i in _once(single.inputs) if i.name in unwritten],
            max_instructions=max_instructions,
            output=output,
            trace=trace,
            ptxplus_semantics=ptxplus_semantics,
            **planned.options,
            **plan.by_name(planned),
        )
        steps.append(
            StepOutcome(
                kernel.name,
                single.grid,
                single.block,
                result.warp_instructions,
                result.problems,
                result.lost_problems,
                result.printed,
            )
        )
        wrong += plan.check(planned.number)
    buffers = tuple(
        Buffer(i.name, i.type, plan.buffers[i.name], changed(i.value, plan.buffers[i.name]))
        for i in launch.inputs
        if i.name in plan.buffers and isinstance(i.value, np.ndarray)
    )
    return SequenceOutcome(tuple(steps), buffers, launch.compared, tuple(wrong), check_names(check))


def _once(inputs: Sequence[Any]) -> list[Any]:
    """Each input once, though a kernel may get it twice."""
    return list({i.name: i for i in inputs}.values())
