"""`--trace FILE` of the timed runs, and the part of a run that it covers: `--trace-sms`, `--trace-cycles`."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ptxtool.base.diag import PtxError, error
from ptxtool.cli.common import F
from ptxtool.cli.outputs import OUTPUT
from ptxtool.cli.streams import print_note

if TYPE_CHECKING:
    from ptxsim.observe.timeline import Timeline


def trace_options(command: F) -> F:
    """Add the options; the command gets `timeline`, None without `--trace`, for all that it simulates."""

    @click.option(
        "--trace",
        type=OUTPUT,
        metavar="FILE",
        help="Write a timeline for Perfetto: out.json, or out.json.gz for a packed one.",
    )
    @click.option("--trace-sms", metavar="N,N-M", help="Only these SMs in the timeline.")
    @click.option(
        "--trace-cycles", metavar="A-B", help="Only these cycles in the timeline; A- goes on to the end."
    )
    @wraps(command)
    def with_timeline(
        *args: Any, trace: str | None, trace_sms: str | None, trace_cycles: str | None, **options: Any
    ) -> Any:
        if trace is None and (trace_sms or trace_cycles):
            raise click.UsageError("--trace-sms and --trace-cycles go with --trace FILE")
        timeline = None if trace is None else _timeline(trace, trace_sms, trace_cycles)
        with _written(timeline):
            return command(*args, timeline=timeline, **options)

    return with_timeline  # type: ignore[return-value]


def _timeline(path: str, sms: str | None, cycles: str | None) -> "Timeline":
    """Raises E502 for numbers that cannot be read."""
    first, last = (0, None) if cycles is None else _cycles(cycles)
    from ptxsim.observe.timeline import Timeline

    return Timeline(path, sms=None if sms is None else tuple(_sms(sms)), first_cycle=first, last_cycle=last)


def _cycles(text: str) -> tuple[int, int | None]:
    match = re.fullmatch(r"\s*(\d{1,18})\s*-\s*(\d{1,18})?\s*", text)
    if match is None or (match[2] and int(match[2]) <= int(match[1])):
        raise _wrong("--trace-cycles", text, "such as 1000-5000, or 1000- for all from there on")
    return int(match[1]), int(match[2]) if match[2] else None


def _sms(text: str) -> Iterator[int]:
    for piece in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,3})\s*(?:-\s*(\d{1,3}))?\s*", piece)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise _wrong("--trace-sms", text, "such as 0 or 0,3 or 0-2,5")
        yield from range(int(match[1]), int(match[2] or match[1]) + 1)


def _wrong(option: str, text: str, advice: str) -> PtxError:
    return error("E502", f"{option} '{text}' selects nothing", help=advice)


@contextmanager
def _written(timeline: "Timeline | None") -> Iterator[None]:
    """Write the runs of the body into the file, one after the other; then print a summary."""
    try:
        with timeline or nullcontext():
            yield
    finally:
        if timeline is not None and timeline.launches:
            print_note(str(timeline))
