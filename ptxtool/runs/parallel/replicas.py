"""Replicas of a simulated run: the same launch on machines that differ in what should not matter.

Which SM is served first, and whether the L2 answers a cycle later, are accidents of a model; they move cycles by 2% on
average, up to 8 points. A difference that replicas do not all show is none.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ptxtool.base.diag import Diagnostic, error
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.results.replicas import Replicas, Spread
from ptxtool.results.run_results import Run
from ptxtool.results.sequences import SequenceRun
from ptxtool.runs.parallel.side_by_side import side_by_side

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions

MOST = 1000

AnyRun = TypeVar("AnyRun", Run, SequenceRun)


def replica(gpu: Gpu, number: int, of: int) -> Gpu:
    """The machine of a replica, 0 <= number < of: 0 is the machine itself; of the others, each serves another SM first,
    and the L2 of those with odd numbers takes a cycle longer."""
    if number == 0:
        return gpu
    change = msgspec.structs.replace
    n_sms = gpu.sm.count
    first = (gpu.dispatch.first_sm + number * max(1, n_sms // of)) % n_sms
    rop_cycles = gpu.l2.rop_cycles + number % 2
    return change(
        gpu, dispatch=change(gpu.dispatch, first_sm=first), l2=change(gpu.l2, rop_cycles=rop_cycles)
    )


def replica_settings(gpu: Gpu, number: int, of: int) -> tuple[str, ...]:
    """What makes the machine of a replica from another, as `--set` takes it."""
    machine = replica(gpu, number, of)
    return f"dispatch.first_sm={machine.dispatch.first_sm}", f"l2.rop_cycles={machine.l2.rop_cycles}"


def check_replicas(of: int) -> None:
    """Raises E401 for a number of replicas that cannot be."""
    if not isinstance(of, int) or not 1 <= of <= MOST:
        raise error("E401", f"replicas = {of!r}", help=f"give a number of runs, 1 to {MOST}")


def replicated(
    run: "Callable[[LaunchOptions], AnyRun]",
    options: "LaunchOptions",
    of: int,
    announce: Callable[[str], object] | None = None,
    jobs: int | None = 1,
) -> AnyRun:
    """A run, with the spread over `of` replicas as its `.replicas`; for 1 just the run.

    Wrong results of any replica are among its problems. Traces, hot spots and what the kernel prints are of the run
    itself. `jobs` of them run at a time (None: one for each CPU). Raises E401 for a number that cannot be, and what
    `run` raises; an interrupted replica is the last, and does not count.
    """
    check_replicas(of)
    each = [options]
    for number in range(1, of):
        machine = replica(machine_of(options.gpu), number, of)
        each.append(replace(options, gpu=machine, output=None, timeline=None, hotspots=False))

    def announced(number: int) -> None:
        if announce is not None and number > 0:
            announce(f"replica {number + 1} of {of}")

    found: list[AnyRun] = []
    problems: list[Diagnostic] = []
    with closing(side_by_side(lambda _, chosen: run(chosen), each, jobs, announced)) as runs:
        for number, one in enumerate(runs):
            if number == 0 and (of == 1 or one.status != "done"):
                return one
            if one.status == "interrupted":
                break
            found.append(one)
            problems += [_in_replica(number, problem) for problem in one.problems] if number else one.problems
    first = found[0]
    cycles = Spread(tuple(float(each.counted.cycles) for each in found))
    thread_ipc = Spread(tuple(each.counted.thread_ipc for each in found))
    return replace(first, problems=tuple(problems), replicas=Replicas(of, cycles, thread_ipc))


def _in_replica(number: int, problem: Diagnostic) -> Diagnostic:
    return replace(problem, message=f"replica {number + 1}: {problem.message}")
