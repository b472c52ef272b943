"""One run of a sweep as it is sent to the process that executes it, and the outcome that it returns: plain data both.

A task has the texts of kernel and launch file. Files that these name in turn (.npy files) and those of the user's own
schedulers and register schemes are read by the process, which must have them under the same path; their digests are
part of the task. Every error becomes part of the outcome: the only exception that leaves `execute` is Ctrl-C.
"""

import hashlib
import pickle
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxtool.analysis.energy.breakdown import EnergyBreakdown
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.source import Source
from ptxtool.formats.files import read_bytes
from ptxtool.results.sweeps import StoredResult
from ptxtool.sweep.version import simulator_version

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.ir.nodes import Module
    from ptxtool.results.run_results import Run
    from ptxtool.results.sequences import SequenceRun

_LEFT_OUT = ("issues", "printed", "hotspots")
"""Counters that outcomes leave out: they are long, and comparisons of runs do not use them. Of hotspots `register_use`
is kept, under that name."""


@dataclass(frozen=True)
class Task:
    """A run that is ready to be executed. `files` are the digests of files by path, `scheduler_path` is absolute;
    `remarks` go before those of the run.

    The scheduler of the `options` is that of `scheduler_path`, reported as `scheduler`. Their register scheme, of the
    user's own with an absolute path, is reported as `scheme`; `storage_bits` is what it adds to an SM.
    """

    key: str
    version: str
    label: str
    kernel_file: str
    text: str = field(repr=False)
    entry: str = ""
    launch_file: str = ""
    launch_text: str = field(default="", repr=False)
    folder: str = ""
    files: tuple[tuple[str, str], ...] = ()
    scheduler: str = ""
    scheduler_path: str = ""
    remarks: tuple[str, ...] = ()
    scheme: str = ""
    storage_bits: int | None = None
    options: "LaunchOptions | None" = field(default=None, repr=False)


def execute(task: Task) -> StoredResult:
    """Execute a run."""
    try:
        with _one_at_a_time:
            return _outcome(_run(task), task)
    except PtxError as problem:
        return failed(problem.diagnostics)
    except Exception as bug:
        text = "".join(traceback.format_exception(bug)).rstrip()
        message = f"internal error: {type(bug).__name__}: {bug}"
        internal = {"code": "", "severity": "error", "message": message, "text": f"{message}\n{text}"}
        return StoredResult("bug", problems=(internal,))


_one_at_a_time = threading.Lock()
"""A Dask worker may have several threads; files of the user's are imported by one at a time."""


def failed(diagnostics: tuple[Diagnostic, ...], status: Any = "failed") -> StoredResult:
    """The outcome of a run that errors stopped."""
    return StoredResult(status, problems=problems(diagnostics))


def problems(diagnostics: tuple[Diagnostic, ...]) -> tuple[dict[str, Any], ...]:
    """Diagnostics as data."""
    return tuple({**each.to_dict(), "text": str(each)} for each in diagnostics)


def digest_of(path: str | Path, advice: str) -> str:
    """The digest of a file's content. Raises E501, with the advice."""
    return hashlib.sha256(read_bytes(path, advice)).hexdigest()


def _run(task: Task) -> "Run | SequenceRun":
    _check_place(task)
    from ptxsim.timing.schedulers import policy
    from ptxtool.runs.launch_lists import simulate_sequence
    from ptxtool.runs.launch_runs import run_launch

    assert task.options is not None
    functions = _module(task.kernel_file, task.text).functions
    launch = _launch(task.launch_file, task.launch_text, task.folder)
    scheduler = replace(policy(task.scheduler_path), name=task.scheduler)
    gpu = _unpickled(pickle.dumps(task.options.gpu))  # in a worker every task has one of its own
    options = replace(task.options, scheduler=scheduler, gpu=gpu)
    if launch.steps:
        return simulate_sequence(lambda name: functions[name or task.entry], launch, options)
    return run_launch(functions[task.entry], launch, options)


def _check_place(task: Task) -> None:
    """Raise E504 if this machine has another simulator than the sweep's, E501 if it has other files."""
    if task.version != simulator_version():
        help = "install the same version on all machines, and start the workers anew"
        raise error("E504", "the worker has another version of ptxtool than the sweep", help=help)
    for path, digest in task.files:
        if digest_of(path, "the worker needs this file under the same path") != digest:
            raise error("E501", f"'{path}' has changed since the sweep began", help="start it again")


@lru_cache(maxsize=16)
def _unpickled(data: bytes) -> Any:
    """One object for equal machines: records and programs of the last ones are kept for them."""
    return pickle.loads(data)


@lru_cache(maxsize=16)
def _module(name: str, text: str) -> "Module":
    from ptxtool.parse import parse

    return parse(text, name)


@lru_cache(maxsize=4)
def _launch(name: str, text: str, folder: str) -> "Launch":
    from ptxtool.formats.launch.launch_file import parse_launch

    return parse_launch(Source(name, text), Path(folder), allow_outside=True)  # the plan has checked it


def _outcome(run: "Run | SequenceRun", task: Task) -> StoredResult:
    together = of_all([result.to_dict() for result in run.results])
    counters = {name: value for name, value in together.items() if name not in _LEFT_OUT}
    if (spots := together.get("hotspots")) is not None:
        counters["register_use"] = spots["register_use"]
    counters |= _about_scheme(task) | {"remarks": [*task.remarks, *_remarks(task, counters["remarks"])]}
    if task.scheme and "switching" in counters:
        counters["switching"] |= {"scheme": task.scheme}
    status: Any = "failed" if run.status != "done" else "wrong" if run.problems else "done"
    return StoredResult(status, counters, run.checked, problems(run.problems), _memory(run.arguments))


def _remarks(task: Task, of_run: list[str]) -> list[str]:
    """The remarks of a run, with the name of the register scheme that reports have."""
    name = task.options and task.options.scheme
    return [each.replace(name, task.scheme) for each in of_run] if name else of_run


def _about_scheme(task: Task) -> dict[str, int | None]:
    """The storage of the register scheme, None where it is not known, and what its passes changed: instructions and
    marks in the kernel's text."""
    from ptxtool.ir.marks import EXTENDED, marks

    kernel = _module(task.kernel_file, task.text).functions[task.entry]
    return {
        "storage_bits": task.storage_bits,
        "text_instructions": len(kernel.instructions),
        "extended_marks": sum(1 for _ in marks(kernel, EXTENDED)),
    }


_SUMS = (
    *("cycles", "warp_instructions", "thread_instructions", "active_cycles", "cta_cycles"),
    *("n_ctas", "ctas_done", "switches"),
)
_PARTS = ("slots", "issued_by_lanes", "l1", "l2", "dram", "core", "stats")
_OF_ONE = ("stall_points", "dynamic", "switching", "pool", "renaming", "unified", "hotspots")
"""What only a single launch has."""


def of_all(launches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The counters of several launches as those of one: sums, and for IPC their quotient; the rest is the first's."""
    found = dict(launches[0])
    if len(launches) == 1:
        return found
    for name in _OF_ONE:
        found.pop(name, None)
    for name in _SUMS:
        found[name] = sum(launch[name] for launch in launches)
    for name in _PARTS:
        found[name] = {
            part: sum(launch[name].get(part, 0) for launch in launches)
            for part in {part: None for launch in launches for part in launch[name]}
        }
    found["remarks"] = [*dict.fromkeys(remark for launch in launches for remark in launch["remarks"])]
    cycles = max(1, found["cycles"])
    found["thread_ipc"] = found["stats"]["gpu_ipc"] = found["thread_instructions"] / cycles
    per_sm = found["warp_instructions"] / (cycles * found["n_sms"])
    found["warp_ipc"] = found["stats"]["warp_ipc_per_sm"] = per_sm
    found["resident_average"] = found["cta_cycles"] / (cycles * found["n_sms"])
    found["stats"]["max_ctas_per_core"] = launches[0]["stats"]["max_ctas_per_core"]
    energy = EnergyBreakdown.together(EnergyBreakdown.from_dict(launch["energy"]) for launch in launches)
    found["energy"], found["stats"]["power_w"] = energy.to_dict(), energy.power_w
    return found


def _memory(arguments: tuple[Any, ...]) -> str:
    """A digest of all arguments, their types and shapes."""
    import numpy as np

    digest = hashlib.sha256()
    for argument in arguments:
        array = np.ascontiguousarray(argument)
        digest.update(f"{array.dtype.str} {array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
