"""The launches of a recording under several schemes, one launch after the other.

Every launch is compared by itself: under each scheme it begins with its recorded memory and with empty caches. What a
pass or the simulator refuses in one launch stops no other one.
"""

from collections.abc import Callable

from ptxtool.base.diag import PtxError
from ptxtool.base.mangled import shown_name
from ptxtool.formats.launch.launch_file import Launch
from ptxtool.formats.launch.launch_recording import LaunchRecording
from ptxtool.ir.nodes import Function
from ptxtool.results.recorded_comparisons import ComparedLaunch, RecordedComparison
from ptxtool.results.run_results import Comparison
from ptxtool.results.scheme_comparison import SchemeComparison
from ptxtool.runs.recorded_launches import RecordedKernels

Compare = Callable[[Function, Launch, str], Comparison | SchemeComparison]
"""Compares one launch, which is called so, under all schemes."""

_OF_OPTIONS = "E5"
"""The codes of errors that the options cause, and not a launch."""


def compare_launches(recording: LaunchRecording, compare: Compare, gpu: str) -> RecordedComparison:
    """Compare every launch with time; `gpu` is the name of the machine. An interrupted comparison is the last.

    Raises E501 and E502 for wrong files, the errors of kernels' texts, and E5xx of `compare`; its other errors are part
    of the result.
    """
    kernels = RecordedKernels(recording)
    chosen = [each for each in recording.launches if each.timed]
    found: list[ComparedLaunch] = []
    for each in chosen:
        kernel, launch = kernels.read(each)
        try:
            comparison = compare(kernel, launch, f"launch {each.number}, {shown_name(kernel.name)}")
        except PtxError as problem:
            if any(d.code.startswith(_OF_OPTIONS) for d in problem.diagnostics):
                raise
            found.append(ComparedLaunch(each.number, kernel.name, None, problem.diagnostics))
            continue
        found.append(ComparedLaunch(each.number, kernel.name, comparison))
        if not comparison.complete:
            break
    left_out = tuple(each.left_out for each in recording.launches if each.left_out)
    return RecordedComparison(recording.source.name, gpu, _names(found), len(chosen), tuple(found), left_out)


def _names(launches: list[ComparedLaunch]) -> tuple[str, ...]:
    """The schemes of all launches, in order."""
    return tuple(dict.fromkeys(name for launch in launches for name in launch.names))
