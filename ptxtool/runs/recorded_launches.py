"""Recorded launches one after the other on one machine, with or without time: what an application did, again.

Every launch begins with the memory that it had in the application, whatever the one before left: the machine's memory
becomes that of its launch file (`ptxsim.memory_image.fixed_memory`). Caches, open DRAM rows and what else a machine
keeps are those that the launches before left. A launch file is read when its turn comes, and its contents are freed
after it: one launch at a time is in memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.formats.files import read_source
from ptxtool.formats.launch.launch_data import ModuleAddresses
from ptxtool.formats.launch.launch_file import Launch, load_launch
from ptxtool.formats.launch.launch_recording import LaunchRecording, RecordedLaunch
from ptxtool.ir.kernel_names import kernel_named
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse
from ptxtool.results.outcome import Buffer, LaunchOutcome
from ptxtool.results.sequences import SequenceOutcome, SequenceRun
from ptxtool.runs.functional_runs import buffers_of, launched
from ptxtool.runs.launch_inputs import prepared, textures, with_inputs
from ptxtool.runs.launch_lists import Announce, ReadyLaunch, simulate_all
from ptxtool.runs.launch_runs import chosen_policy
from ptxtool.sema.verify import verify

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxsim.machine import Machine
    from ptxsim.memory_image.fixed_memory import FixedMemory
    from ptxsim.timing.schedulers import Policy


class RecordedKernels:
    """The kernels of a recording. Launches of a module that lay at one place have the same module."""

    def __init__(self, recording: LaunchRecording):
        self._allow_outside = recording.allow_outside
        self._modules: dict[tuple[str, ModuleAddresses | None], Module] = {}

    def read(self, each: RecordedLaunch) -> tuple[Function, Launch]:
        """The kernel and the launch. Raises E501, E502, E205, and the errors of the kernel's text."""
        launch = load_launch(each.file, allow_outside=self._allow_outside)
        if launch.file is None:
            what = f"'{each.file}' does not say which file its kernel is in"
            raise error("E502", what, launch.source, help='write file = "NAME" in it')
        if not launch.is_placed:
            what = f"'{each.file}' is no recorded launch: no memory of it has an address"
            raise error(
                "E502", what, launch.source, help="list launches without addresses as [[launch]] with 'args'"
            )
        source = read_source(launch.file, "give the path of a kernel's file in the launch file")
        key = source.text, launch.module
        if key not in self._modules:
            module = parse(source.text, source.name)
            errors = [problem for problem in verify(module) if problem.is_error]
            if errors:
                raise PtxError(errors)
            self._modules[key] = module
        return kernel_named(self._modules[key], launch.kernel), launch


def simulate_recording(
    recording: LaunchRecording, options: "LaunchOptions", announce: Announce | None = None
) -> SequenceRun:
    """Simulate recorded launches. The options' scheduler and registers take precedence over those of launch files.

    `max_cycles` are for all launches together. A launch that did not end (E408, or on Ctrl-C) is the last. Raises E401,
    E501, E502 and what `ptxsim.Machine.launch` raises.
    """
    import ptxsim

    machine = ptxsim.Machine(memory=recording.memory_bytes, options=options)
    kernels = RecordedKernels(recording)
    policies: dict[str | None, Policy] = {}
    checked: dict[str, None] = {}

    def ready() -> Iterator[ReadyLaunch]:
        for each in recording.launches:
            kernel, launch = kernels.read(each)
            contents, values, placed = prepared(kernel, launch, options)
            if each.timed and launch.scheduler not in policies:
                policies[launch.scheduler] = chosen_policy(launch, machine.gpu, options.scheduler)
            checked.update(dict.fromkeys(launch.compared))
            yield ReadyLaunch(
                each.number,
                kernel,
                launch,
                values,
                policies[launch.scheduler] if each.timed else None,
                partial(_with_memory, launch, placed.memory),
                partial(_check, launch, contents),
            )

    n = len(recording.launches)
    numbers, _, status, problems = simulate_all(machine, ready(), n, announce)
    return SequenceRun(
        gpu=machine.gpu.name,
        of=n,
        numbers=numbers,
        results=tuple(machine.results),
        totals=machine.totals,
        status=status,
        checked=tuple(checked) if status == "done" else (),
        problems=problems,
        left_out=_left_out(recording),
    )


def run_recording(recording: LaunchRecording, options: "LaunchOptions") -> SequenceOutcome:
    """Run recorded launches without time. Buffers are those of the last one. Raises E401, E501, E502 and what
    `ptxsim.run` raises."""
    import ptxsim
    from ptxsim.sanitizer.prepare import check_names

    machine = ptxsim.Machine(memory=recording.memory_bytes)
    kernels = RecordedKernels(recording)
    steps: list[LaunchOutcome] = []
    wrong: list[Diagnostic] = []
    checked: dict[str, None] = {}
    buffers: tuple[Buffer, ...] = ()
    for each in recording.launches:
        kernel, launch = kernels.read(each)
        contents, values, placed = prepared(kernel, launch, options)
        result = machine.run(kernel, launch.grid, launch.block, values, options=placed)
        steps.append(LaunchOutcome(**launched(kernel, launch, result)))
        wrong += launch.check(contents)
        checked.update(dict.fromkeys(launch.compared))
        buffers = buffers_of(kernel, launch, contents)
    return SequenceOutcome(
        tuple(steps),
        buffers,
        tuple(checked),
        tuple(wrong),
        check_names(options.check),
        tuple(each.number for each in recording.launches),
        _left_out(recording),
    )


def _with_memory(launch: Launch, memory: "FixedMemory | None", options: "LaunchOptions") -> "LaunchOptions":
    return replace(with_inputs(options, launch, launch.constants(), textures(launch)), memory=memory)


def _check(launch: Launch, contents: Sequence[Any], _: "Machine") -> tuple[Diagnostic, ...]:
    return launch.check(contents)


def _left_out(recording: LaunchRecording) -> tuple[str, ...]:
    return tuple(each.left_out for each in recording.launches if each.left_out)
