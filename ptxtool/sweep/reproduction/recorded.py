"""Launches that `exec --record` kept of the original applications, in the place of our samples.

An application is found by the names of its kernels, which the TOML files have. A launch runs in the form of the papers,
PTXPlus (`lower-ptxplus`), with their registers per thread where they print them, under the schemes of our sample, and
begins with empty caches. Several launches of an application count as one: cycles, instructions and all other counters
are added up.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ptxtool.base.demangle import demangle
from ptxtool.base.diag import error
from ptxtool.base.phrases import counted
from ptxtool.formats.files import LAUNCH_NAME, is_file, read_source
from ptxtool.formats.launch.launch_recording import RecordedLaunch, load_recording
from ptxtool.formats.toml import read_toml
from ptxtool.results.exhibits import Exhibit, Finding
from ptxtool.results.sweeps import Configuration, SweepResult
from ptxtool.runs.schemes import Scheme
from ptxtool.sweep.reproduction.papers import Application, Paper, Unlimited
from ptxtool.sweep.reproduction.schemes import schemes

RECORDED = "recorded"
_LISTS = ("launch.toml", "*/launch.toml", "launch-*.toml", "*/launch-*.toml")


@dataclass(frozen=True)
class OriginalLaunch:
    """A recorded launch of an application: its folder, the file of its kernel, and the kernel's symbol."""

    folder: Path
    kernel: Path
    symbol: str


@dataclass(frozen=True)
class Originals:
    """Recorded launches by the name of their application, and how many of kernels that no application has, by name."""

    launches: Mapping[str, tuple[OriginalLaunch, ...]]
    others: Mapping[str, int]


def row_name(application: str) -> str:
    """What the runs of an application's recorded launches are called."""
    return f"{application}, {RECORDED}"


def originals(chosen: Paper, folder: Path) -> Originals:
    """The launches of a recording, or of the recordings in the folders of a folder.

    Raises E501 where there is none, E502 where none of their kernels is of an application, and the errors of the files.
    """
    lists = [path for pattern in _LISTS for path in sorted(folder.glob(pattern))]
    recordings = [found for path in lists if (found := load_recording(path))]
    if not recordings:
        help = "record launches: ptxtool exec --record DIR -- ./application (docs/exec.md)"
        raise error("E501", f"no recorded launches in '{folder}'", help=help)
    by_kernel = {a.kernel: a.name for a in _rows(chosen)}
    launches: dict[str, list[OriginalLaunch]] = {}
    others: Counter[str] = Counter()
    for recording in recordings:
        for each in recording.launches:
            original = _launch(each)
            name = _kernel_name(original.symbol)
            if name in by_kernel:
                launches.setdefault(by_kernel[name], []).append(original)
            else:
                others[name] += 1
    if not launches:
        help = f"kernels of {chosen.title.lower()} are {', '.join(by_kernel)}"
        raise error("E502", f"no launch in '{folder}' is of an application of the papers", help=help)
    return Originals({name: tuple(found) for name, found in launches.items()}, others)


def _launch(each: RecordedLaunch) -> OriginalLaunch:
    values = read_toml(read_source(each.file, "copy the whole recording"), "docs/launch-file.md")
    kernel = each.file.with_name(str(values.get("file")))
    if not is_file(kernel):
        raise error("E501", f"no file '{kernel}'", help="copy the whole recording")
    return OriginalLaunch(each.file.parent, kernel, str(values.get("kernel")))


def _kernel_name(symbol: str) -> str:
    """The function's name without namespace and parameters."""
    found = demangle(symbol)
    return found.name.rpartition("::")[2] if found else symbol


def configurations(chosen: Paper, found: Originals) -> tuple[Configuration, ...]:
    """Every scheme of an application for each of its launches."""
    return tuple(
        _configuration(chosen, application, each, scheme)
        for application in _rows(chosen)
        for each in found.launches.get(application.name, ())
        for scheme in schemes(chosen, application)
    )


def _rows(chosen: Paper) -> tuple[Application | Unlimited, ...]:
    return (*chosen.application, *chosen.unlimited)


def _launch_name(application: str, original: OriginalLaunch) -> str:
    """What a single launch is called."""
    return f"{row_name(application)}: {original.folder}"


def _configuration(
    chosen: Paper, application: Application | Unlimited, original: OriginalLaunch, scheme: Scheme
) -> Configuration:
    registers = application.registers if isinstance(application, Application) else None
    limit = "" if registers is None else f":regs={registers}"
    lowered = f"lower-ptxplus{limit}:kernel={original.symbol}"
    passes = scheme.pipeline(registers)
    name = _launch_name(application.name, original)
    return Configuration(
        original.kernel,
        launch=original.folder / LAUNCH_NAME,
        entry=original.symbol,
        label=f"{name}/{scheme.name}",
        gpu=chosen.gpu,
        settings=scheme.settings,
        scheduler=str(scheme.scheduler),
        passes=f"{lowered},{passes}" if passes else lowered,
        registers=registers,
        scheme=scheme.name,
        name=name,
        **scheme.options,
    )


def results(chosen: Paper, found: Originals, result: SweepResult) -> dict[tuple[str, str], Mapping[str, Any]]:
    """The counters of each application's launches together, by row and scheme; none where a launch has no result."""
    runs = {(str(r.axes["kernel"]), str(r.axes["scheme"])): r.counters for r in result if r.ok}
    totals: dict[tuple[str, str], Mapping[str, Any]] = {}
    for application in _rows(chosen):
        names = [_launch_name(application.name, each) for each in found.launches.get(application.name, ())]
        for scheme in schemes(chosen, application) if names else ():
            counters = [runs[name, scheme.name] for name in names if (name, scheme.name) in runs]
            if len(counters) == len(names):
                totals[row_name(application.name), scheme.name] = added(counters)
    return totals


def added(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The counters of several launches as those of one: sums, but for what is a limit or a size, which is the largest.

    `thread_ipc` is that of all thread instructions in all cycles.
    """
    total: dict[str, Any] = dict(runs[0])
    for run in runs[1:]:
        for name, value in run.items():
            total[name] = _sum(name, total.get(name), value)
    total["thread_ipc"] = total["thread_instructions"] / total["cycles"]
    return total


_LARGEST = ("resident_ctas", "registers", "scratchpad_bytes")


def _sum(name: str, one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _sum(key, one.get(key, 0), other.get(key, 0)) for key in (*one, *other)}
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if not numbers:
        return one
    return max(one, other) if name in _LARGEST else one + other


def findings(chosen: Paper, found: Originals) -> tuple[Finding, ...]:
    """What was recorded, what of it is of no application, and which applications have no launch."""
    rows = [a.name for a in _rows(chosen)]
    there = ", ".join(f"{name} {len(found.launches[name])}" for name in rows if name in found.launches)
    missing = [name for name in rows if name not in found.launches]
    answers = [Finding("recorded launches", there, "", None)]
    if found.others:
        n = sum(found.others.values())
        names = ", ".join(f"{name} {count}" for name, count in found.others.items())
        launches = counted(n, "recorded launch", "recorded launches")
        answers.append(Finding(f"{launches} of no application", names, "", None))
    if missing:
        answers.append(Finding("applications without a recorded launch", ", ".join(missing), "", None))
    return tuple(answers)


def alone(exhibit: Exhibit) -> Exhibit:
    """An exhibit with the values of recorded launches in the place of ours."""
    return replace(exhibit, values=tuple(replace(value, ours=value.recorded) for value in exhibit.values))


def beside(ours: Sequence[Finding], theirs: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings of our samples with those of recorded launches."""
    answers = {each.question: each.ours for each in theirs}
    return tuple(replace(each, recorded=answers.get(each.question, "")) for each in ours)
