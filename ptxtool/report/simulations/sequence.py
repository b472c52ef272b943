"""Lists of launches as tables: a line for each launch, and what they come to together."""

from itertools import groupby

from ptxtool.base.mangled import shown_name
from ptxtool.report.simulations.hotspots import hotspot_parts
from ptxtool.report.simulations.outcome import buffer_table
from ptxtool.report.simulations.simulation import ENDED, energy_rows, remark_parts, slot_rows
from ptxtool.report.tables import Part, head, shortened, table
from ptxtool.results.outcome import LaunchOutcome
from ptxtool.results.sequences import ConcurrentLaunches, SequenceOutcome, SequenceRun
from ptxtool.results.simulation import SLOT_NAMES, SimResult, Totals

_LAUNCHES = head(
    ">launch | kernel:cyan | >grid | >block | >CTAs/SM | >cycles:bold | >thread IPC:bold | >L1 misses | >L2 misses"
    " | >DRAM reads"
)
_STREAMS = head(
    ">launch | kernel:cyan | >stream | >after | >CTAs | >first cycle | >end | >cycles:bold | >warp instructions"
    " | >thread IPC:bold"
)
_TOTALS = head("total | >value:bold | :cyan")
_STEPS = head(">launch | kernel:cyan | >grid | >block | >warp instructions:bold")
_SHOWN = 40


def sequence_parts(run: SequenceRun) -> list[Part]:
    """The report of a list of launches that was simulated."""
    schedulers = ", ".join(dict.fromkeys(r.scheduler for r in run.results))
    n = f"{run.of} launch{'es' * (run.of != 1)}"
    title = f"{n} on {run.gpu}{', ' * bool(schedulers)}{schedulers}{ENDED[run.status]}"
    together = {
        each.numbers[0]: f"{each.numbers[0]}-{each.numbers[-1]}"
        for each in run.concurrent
        if each.numbers[1:]
    }
    rows = [_launch(together.get(n, n), r) for n, r in zip(run.numbers, run.results, strict=True)]
    totals = table(_TOTALS, _totals(run.totals), "all launches together")
    notes = remark_parts(remark for result in run.results for remark in result.remarks)
    spread = [] if run.replicas is None else ["", str(run.replicas)]
    streams = [part for each in run.concurrent[:_SHOWN] for part in ("", *_on_streams(each))]
    shown = [shortened(_LAUNCHES, rows, title, _SHOWN), *streams, "", totals, *_hotspots(run), *spread]
    return [*shown, *notes, *_left_out(run), "", run.verdict]


def sequence_outcome_parts(outcome: SequenceOutcome) -> list[Part]:
    """The report of a list of launches that ran without time: each, then the buffers after the last."""
    n = len(outcome.steps)
    rows: list[tuple[object, ...]] = []
    for (*shape, _), same in groupby(enumerate(outcome.numbered), key=_in_a_row):
        numbers, steps = zip(*(each for _, each in same), strict=True)
        each = sum(step.warp_instructions for step in steps)
        rows.append((numbers[0] if len(steps) == 1 else f"{numbers[0]}-{numbers[-1]}", *shape, each))
    launches = shortened(_STEPS, rows, f"{n} launch{'es' * (n != 1)}", _SHOWN)
    return [
        launches,
        "",
        buffer_table(outcome.buffers, "buffers after the last launch"),
        *remark_parts(remark for step in outcome.steps for remark in step.remarks),
        *_left_out(outcome),
        "",
        outcome.verdict,
    ]


def _hotspots(run: SequenceRun) -> list[Part]:
    """Where the time went in each launch, if it was recorded."""
    parts: list[Part] = []
    for number, result in zip(run.numbers[:_SHOWN], run.results, strict=False):
        if result.hotspots is not None:
            parts += ["", f"launch {number}: {shown_name(result.kernel)}", *hotspot_parts(result.hotspots)]
    return parts


def _in_a_row(placed: tuple[int, tuple[int, LaunchOutcome]]) -> tuple[str, str, str, int]:
    """The same for launches of one kernel and shape with consecutive numbers."""
    k, (number, step) = placed
    return shown_name(step.kernel), _extents(step.grid), _extents(step.block), number - k


def _left_out(run: SequenceRun | SequenceOutcome) -> list[Part]:
    """What a list of recorded launches lacks."""
    return ["", *(f"not in the list: {what}" for what in run.left_out)] if run.left_out else []


def _launch(number: int | str, result: SimResult) -> tuple[object, ...]:
    return (
        number,
        shown_name(result.kernel),
        _extents(result.grid),
        _extents(result.block),
        result.resident_ctas,
        result.cycles,
        f"{result.thread_ipc:.2f}",
        result.l1["misses"],
        result.l2["misses"],
        result.dram["reads"],
    )


def _on_streams(ran: ConcurrentLaunches) -> list[Part]:
    """Launches that ran at the same time: the share of each, and of each stream with more than one."""
    rows: list[tuple[object, ...]] = [
        (
            number,
            shown_name(x.kernel),
            x.stream,
            " ".join(str(ran.numbers[k - 1]) for k in x.after),
            x.ctas_done,
            x.first_cycle,
            x.end_cycle,
            x.cycles,
            x.warp_instructions,
            f"{x.thread_ipc:.2f}",
        )
        for number, x in zip(ran.numbers, ran.result.launches, strict=True)
    ]
    title = f"on streams, {ran.result.policy}: {ran.result.cycles} cycles, {ran.result.overlap_cycles} of them shared"
    several = [x for x in ran.result.streams if x.launches > 1]
    notes = [
        f"stream {x.stream}: {x.launches} launches in {x.cycles} cycles, {x.warp_instructions} warp instructions, "
        f"thread IPC {x.thread_ipc:.2f}"
        for x in several
    ]
    return [shortened(_STREAMS, rows, title, _SHOWN), *notes[:_SHOWN]]


def _totals(totals: Totals) -> list[tuple[object, ...]]:
    slots = {kind: totals.stats.get(name, 0) for kind, name in SLOT_NAMES.items()}
    return [
        ("gpu_tot_sim_cycle", totals.cycles, "cycles"),
        ("gpu_tot_sim_insn", totals.thread_instructions, "thread instructions"),
        ("gpu_tot_ipc", f"{totals.thread_ipc:.2f}", "thread IPC"),
        ("gpu_tot_issued_cta", totals.ctas, "CTAs"),
        ("warp instructions", totals.warp_instructions, ""),
        *slot_rows(slots),
        *energy_rows(totals.energy),
    ]


def _extents(sizes: tuple[int, int, int]) -> str:
    """Sizes without ones at the end: `16 x 16`, `28`."""
    n = max((k + 1 for k in range(3) if sizes[k] > 1), default=1)
    return " x ".join(map(str, sizes[:n]))
