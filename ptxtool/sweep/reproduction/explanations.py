"""What explains an application's result: its runs again with one thing changed, which turns a cause on or off.

The TOML files have the experiments of each application: a change (another launch file or sample, keys of the machine),
what it would show, and the claim that has to hold if that is so, about the thread IPC without sharing or about the
gain of the full scheme. A change of an IPC within `verdicts.LIKE_IPC` and of a gain within `verdicts.CLOSE_POINTS` is
none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean, series
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.results.exhibits import Exhibit, ExhibitValue, Failure, Finding, Reproduction
from ptxtool.results.sweeps import Configuration
from ptxtool.runs.schemes import Scheme
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction import schemes
from ptxtool.sweep.reproduction.configurations import configuration
from ptxtool.sweep.reproduction.exhibits import Results, baseline_ipc
from ptxtool.sweep.reproduction.papers import SHARING, Application, Experiment, Paper, paper
from ptxtool.sweep.reproduction.verdicts import is_close, is_like_ipc, sign
from ptxtool.sweep.runner import run_sweep

AS_IT_IS = "as it is"


@dataclass(frozen=True)
class Measured:
    """The runs of one experiment, or of the application as it is.

    `ipc` is thread IPC without sharing under round robin. The others are in percent: `order` and `gain` over that,
    `sharing` over the same order without sharing; `bus` is how much of the time the DRAM's data buses are busy,
    `refused` the part of the SMs' cycles in which the L1 refuses an access, both of the run without sharing.
    """

    ipc: float
    order: float
    sharing: float
    gain: float
    bus: float
    refused: float


def explain(name: str, application: str, kernel_named: KernelNamed, **options: Any) -> Reproduction:
    """Run the experiments of one application of an experiment with a paper (SHARING).

    `options` are those of `run_sweep`. Raises E502 where there is no such application, or no experiment for it.
    """
    chosen = _paper_of(name)
    found = application_of(chosen, application)
    runs = configurations(chosen, found)
    result = run_sweep(runs, kernel_named, name=f"{name}, {found.name} explained", **options)
    counters = {(str(r.axes["kernel"]), str(r.axes["scheme"])): r.counters for r in result if r.ok}
    measured = measured_rows(chosen, found, counters)
    failures = (
        Failure(str(r.axes["kernel"]), str(r.axes["scheme"]), r.outcome.reason) for r in result.failed
    )
    title = f"{chosen.title}: {found.name} explained"
    exhibits = (exhibit(found, measured),)
    answers = tuple(findings(found, measured))
    return Reproduction(
        title, chosen.gpu, (), exhibits, answers, tuple(failures), len(result), result.complete
    )


def _paper_of(name: str) -> Paper:
    if name not in SHARING:
        help = f"there are experiments that explain {series(SHARING, 'and')}"
        raise error("E502", f"no experiments explain results of '{name}'", help=help)
    return paper(name)


def application_of(chosen: Paper, name: str) -> Application:
    """The application of a name, which has experiments. Raises E502."""
    explained = {a.name: a for a in chosen.application if a.experiment}
    if name in explained:
        return explained[name]
    there_are = f"there are some for {series(tuple(explained), 'and')}"
    known = any(a.name == name for a in chosen.application)
    help = there_are if known else did_you_mean(name, tuple(explained), then=there_are)
    raise error("E502", f"no experiments explain '{name}'", help=help)


def configurations(chosen: Paper, application: Application) -> tuple[Configuration, ...]:
    """The three runs of the application as it is, and of each experiment."""
    three = schemes.factored_schemes(chosen)
    runs = [configuration(chosen, application, scheme, application.launch) for scheme in three]
    changed = [_changed(chosen, application, each, three) for each in application.experiment]
    return tuple(
        replace(run, label=f"{row}/{run.scheme}", name=row)
        for row, three_runs in zip([AS_IT_IS, *_changes(application)], [runs, *changed], strict=True)
        for run in three_runs
    )


def _changes(application: Application) -> list[str]:
    return [each.change for each in application.experiment]


def _rows(application: Application) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each row, and the keys of its machine."""
    yield AS_IT_IS, ()
    for each in application.experiment:
        yield each.change, each.settings


def _changed(
    chosen: Paper, application: Application, asked: Experiment, of: Sequence[Scheme]
) -> list[Configuration]:
    launch = asked.launch or ("" if asked.sample else application.launch)
    changed = application
    if asked.sample or asked.source_order:
        changed = msgspec.structs.replace(
            application, sample=asked.sample or application.sample, loads_first=0
        )
    runs = (configuration(chosen, changed, scheme, launch, asked.kernel) for scheme in of)
    return [replace(run, settings=(*run.settings, *asked.settings)) for run in runs]


def measured_rows(chosen: Paper, application: Application, counters: Results) -> dict[str, Measured]:
    """The figures of each row whose runs all ended."""
    machine = load_gpu(chosen.gpu)
    rows = {
        row: _measured(chosen, counters, row, with_settings(machine, settings))
        for row, settings in _rows(application)
    }
    return {row: found for row, found in rows.items() if found is not None}


def _measured(chosen: Paper, counters: Results, row: str, machine: Gpu) -> Measured | None:
    """The figures of a row; None where one of its runs has no result."""
    runs = [counters.get((row, scheme.name)) for scheme in schemes.factored_schemes(chosen)]
    if None in runs:
        return None
    base, ordered, full = (run for run in runs if run is not None)
    first, second, third = (float(run["thread_ipc"]) for run in (base, ordered, full))
    column_commands = base["dram"]["reads"] + base["dram"]["writes"]
    dram_cycles = base["cycles"] * machine.clocks.dram_mhz / machine.clocks.core_mhz
    return Measured(
        first,
        100 * (second / first - 1),
        100 * (third / second - 1),
        100 * (third / first - 1),
        100 * column_commands * machine.dram.tBURST / (machine.dram.channels * dram_cycles),
        100 * base["l1"]["reservation_fails"] / base["active_cycles"],
    )


_COLUMNS = {
    "IPC": "ipc",
    "order": "order",
    "sharing": "sharing",
    "gain": "gain",
    "DRAM bus": "bus",
    "L1 refuses": "refused",
}


def exhibit(application: Application, measured: Mapping[str, Measured]) -> Exhibit:
    """A row for the application as it is, beside the papers' figures, and for each experiment."""
    printed = {
        "ipc": baseline_ipc(application),
        "order": 100 * (application.ipc[0] / baseline_ipc(application) - 1),
        "sharing": 100 * (application.ipc[-1] / application.ipc[0] - 1),
        "gain": application.gain,
    }
    values = tuple(
        ExhibitValue(
            row,
            column,
            getattr(measured[row], name) if row in measured else None,
            printed.get(name) if row == AS_IT_IS else None,
        )
        for row, _ in _rows(application)
        for column, name in _COLUMNS.items()
    )
    what = f"thread IPC of {schemes.BASELINE}; the others in percent"
    notes = (
        "order: gained by the order of warps without sharing; sharing: under that order; gain: both",
        "without sharing, DRAM bus: time in which it is busy; L1 refuses: cycles of SMs in which it does",
    )
    place, title = application.sample, "One thing changed"
    return Exhibit("explained", title, place, what, values, 1, notes=notes, of_rows="what changes")


def findings(application: Application, measured: Mapping[str, Measured]) -> Iterator[Finding]:
    """Whether each claim holds."""
    for each in application.experiment:
        if each.change not in measured or each.beside not in measured:
            continue
        this, that = measured[each.change], measured[each.beside]
        of_ipc = each.claim.startswith("IPC")
        ipc, gains = f"{100 * (this.ipc / that.ipc - 1):+.1f}%", f"{that.gain:+.1f} to {this.gain:+.1f}%"
        found = f"{each.claim}: {ipc if of_ipc else gains}"
        yield Finding(f"{each.change}: {each.shows}", found, "", each.claim in effects(this, that))


def effects(this: Measured, that: Measured) -> frozenset[str]:
    """The claims that hold of a change from `that` to `this`."""
    ipc = "stays" if is_like_ipc(this.ipc, that.ipc) else "rises" if this.ipc > that.ipc else "falls"
    gain = "stays" if is_close(this.gain, that.gain) else "rises" if this.gain > that.gain else "falls"
    holds = {f"IPC {ipc}", f"gain {gain}"}
    if {sign(this.gain), sign(that.gain)} == {"gain", "loss"}:
        holds.add("gain changes its sign")
    return frozenset(holds)
