"""`ptxtool run FILE`: one launch without time."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptxtool import api
from ptxtool.cli.common import (
    Sink,
    exit_code,
    ptxplus_semantics_option,
    report_options,
)
from ptxtool.cli.cuda_source import source_option
from ptxtool.cli.job import Job, job_options
from ptxtool.cli.outputs import OUTPUT_FOLDER, writes
from ptxtool.cli.progress import SimulationStatus
from ptxtool.formats.cuda_sources import CudaSources

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxsim.functional.tracing import Trace, TraceStep
    from ptxtool.base.cuda_places import CudaPlace
    from ptxtool.results.outcome import Outcome
    from ptxtool.results.sequences import SequenceOutcome


@click.command()
@job_options
@click.option(
    "--check", "checks", metavar="WHAT,...", help="Look for faults: memory, init, races, barriers, or all."
)
@click.option(
    "--trace", metavar="WHAT", help='Print instructions with values: "cta 0; warp 0-1; lane 0,5; line 40-60".'
)
@click.option("--save", type=OUTPUT_FOLDER, metavar="DIR", help="Write every changed buffer to DIR/NAME.npy.")
@click.option("--max-instructions", type=click.IntRange(1), metavar="N", help="Give a CTA up after so many.")
@source_option()
@click.option(
    "--slice",
    type=click.IntRange(1),
    metavar="N",
    help="Let the next warp of a CTA run after N instructions, or a load (default 64).",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 32),
    metavar="N",
    help="Threads that may share the run where CTAs do not depend on one another: same results. [default: one per CPU]",
)
@click.option(
    "--asynchronous",
    type=click.Choice(["early", "late"]),
    default="early",
    help="When wgmma and bulk copies complete: when they are executed, or late, when they are waited for.",
)
@ptxplus_semantics_option
@report_options
def command(
    job: Job,
    checks: str | None,
    trace: str | None,
    save: str | None,
    sources: "CudaSources | None",
    sink: Sink,
    **others: Any,
) -> int:
    """Run one launch, or the launch file's list, without time, print buffers, and compare them with expected ones.

    With --grid and --block no launch file is needed: give an --arg for every parameter, such as 5, 0.5, f32[1024],
    "f32[64,64]=np.eye(64)", f32[1024]=random(1) or data.npy; NAME: in front names it. What the
    kernel prints goes to standard output as it comes (with --json into `printed`). Exits 1 where the results are wrong.
    """
    from ptxsim.launch_options import LaunchOptions
    from ptxtool.report.simulations.outcome import outcome_parts
    from ptxtool.report.simulations.sequence import sequence_outcome_parts

    recording = job.recording()
    if recording is None:
        module, launch = job.load_any(others["ptxplus_semantics"])
        for given in launch.inputs if save is not None else ():
            writes(Path(save or "") / f"{given.name}.npy", "--save")
    steps: list[dict[str, Any]] = []
    printed = SimulationStatus().printed
    shown = _Shown(module.source.name if recording is None else job.file, sources, printed)
    options = LaunchOptions(
        check=checks or (),
        output=None if sink.as_json else printed,
        out_of_bounds=job.out_of_bounds or "error",
        trace=_trace(trace, (lambda step: steps.append(step.to_dict())) if sink.as_json else shown.step),
        **others | {"ptxplus_semantics": others["ptxplus_semantics"] or "hardware"},
    )
    outcome: Outcome | SequenceOutcome
    if recording is not None:
        sequence = outcome = api.run_recording(recording, options=options)
        parts = sequence_outcome_parts(sequence)
    elif launch.steps:
        sequence = outcome = api.run_sequence(module, launch, options=options)
        parts = sequence_outcome_parts(sequence)
    else:
        single = outcome = api.run(job.kernel_of(module, launch), launch, options=options)
        parts = outcome_parts(single)
    sink.put(lambda: {**outcome.to_dict(), **({} if trace is None else {"trace": steps})}, lambda: parts)
    if save is not None:
        _save(outcome, Path(save))
    return exit_code(outcome.problems)


class _Shown:
    """Prints the steps of a trace; with `sources`, the text of a CUDA line before the steps that come from it."""

    def __init__(self, file: str, sources: "CudaSources | None", printed: "Callable[[str], object]"):
        self._file, self._sources, self._printed = file, sources, printed
        self._last: CudaPlace | None = None

    def step(self, step: "TraceStep") -> None:
        if self._sources and step.cuda and step.cuda != self._last:
            from ptxtool.report.kernels.cuda import place_text

            self._printed(f"{place_text(self._file, self._sources)(step.cuda)}\n")
        self._last = step.cuda
        self._printed(f"{step}\n")


def _trace(given: str | None, emit: "Callable[[TraceStep], object]") -> "Trace | None":
    if given is None:
        return None
    from ptxsim.functional.tracing import Trace, selection

    return Trace(selection(given), emit)


def _save(outcome: "Outcome | SequenceOutcome", folder: Path) -> None:
    """Write the buffers that changed. Raises E503."""
    from io import BytesIO

    import numpy as np

    from ptxtool.formats.files import make_folder, write_output

    make_folder(folder)
    for buffer in outcome.buffers:
        if buffer.changed:
            data = BytesIO()
            np.save(data, buffer.array)
            write_output(folder / f"{buffer.name}.npy", data.getvalue())
