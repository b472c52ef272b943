"""A simulated run as a table of its counters."""

from collections.abc import Iterable, Mapping

from ptxtool.analysis.energy.breakdown import EnergyBreakdown
from ptxtool.base.mangled import shown_name
from ptxtool.base.phrases import counted
from ptxtool.report.bars import bar
from ptxtool.report.kernels.cuda import NAMED, PlaceText
from ptxtool.report.simulations.hotspots import hotspot_parts
from ptxtool.report.tables import Part, clip, head, shortened, table
from ptxtool.results.run_results import Run
from ptxtool.results.simulation import SimResult, StallPoint

_COUNTERS = head("counter | >value:bold | :cyan")
_STALLS = head(">line | >stops | >warp-cycles | >first cycle | waited for | instruction:code")
_STALLS_SHOWN = 10
_SHARES = 84
"""Characters for the parts of the energy, as many as leave the table within its width."""
ENDED = {"done": "", "interrupted": " (interrupted)", "max-cycles": " (cycle limit reached)"}
"""What a title says of how a simulation ended."""


def run_parts(run: Run, cuda: PlaceText = NAMED) -> list[Part]:
    """The report of one run: the counters, the stall points, where the time went, and whether the results are right."""
    result = run.result
    parts: list[Part] = [table(_COUNTERS, _counters(result), _title(result))]
    if result.shared_pairs:
        parts += ["", *_stalls(result, cuda)]
    elif result.sharing:
        parts += ["", no_pairs(result)]
    if result.dynamic is not None:
        parts += ["", str(result.dynamic)]
    if result.switching is not None:
        parts += ["", *str(result.switching).splitlines()]
    if "register_waits" in result.core:
        waits, cycles = (result.core[f"register_wait{part}"] for part in ("s", "_cycles"))
        parts += ["", f"setmaxnreg: {counted(waits, 'wait')} for registers, {cycles} warp cycles"]
    if result.pool is not None:
        parts += ["", str(result.pool)]
    if result.renaming is not None:
        parts += ["", str(result.renaming)]
    if result.unified is not None:
        parts += ["", str(result.unified)]
    if result.hotspots is not None:
        parts += ["", *hotspot_parts(result.hotspots)]
    if run.replicas is not None:
        parts += ["", str(run.replicas)]
    return [*parts, *remark_parts(result.remarks), "", run.verdict]


_REMARKS_SHOWN = 4


def remark_parts(remarks: Iterable[str]) -> list[Part]:
    """The remarks of one or several runs, each once, after an empty line."""
    found = [*dict.fromkeys(remarks)]
    more = len(found) - _REMARKS_SHOWN
    lines = [f"note: {remark}" for remark in found[:_REMARKS_SHOWN]]
    lines += [f"note: {more} more in the remarks of --json"] * (more > 0)
    return ["", *lines] if lines else []


def _title(result: SimResult) -> str:
    grid, block = (" x ".join(map(str, e)) for e in (result.grid, result.block))
    return (
        f"{shown_name(result.kernel)} on {result.gpu}, {result.scheduler}{result.sharing}{ENDED[result.status]}\n"
        f"grid {grid}, block {block}, {result.registers} registers per thread, "
        f"{result.scratchpad_bytes} bytes of scratchpad per CTA"
    )


def _counters(result: SimResult) -> list[tuple[object, ...]]:
    pairs = f"{result.unshared_ctas} unshared + {result.shared_pairs} pairs, " if result.shared_pairs else ""
    rows: list[tuple[object, ...]] = [
        ("resident CTAs per SM", result.resident_ctas, f"{pairs}limited by {result.limiter}"),
        ("CTAs", result.ctas_done, "" if result.ctas_done == result.n_ctas else f"done of {result.n_ctas}"),
        ("cycles", result.cycles, ""),
        ("thread IPC", f"{result.thread_ipc:.2f}", "lanes per cycle, whole GPU"),
        ("warp IPC per SM", f"{result.warp_ipc:.3f}", ""),
        ("thread instructions", result.thread_instructions, ""),
        ("warp instructions", result.warp_instructions, ""),
    ]
    rows += slot_rows(result.slots)
    for part, counts in (("L1", result.l1), ("L2", result.l2), ("DRAM", result.dram)):
        rows += [(f"{part} {name.replace('_', ' ')}", n, "") for name, n in counts.items()]
    return rows + energy_rows(result.energy)


def energy_rows(energy: EnergyBreakdown) -> list[tuple[object, ...]]:
    """The energy with its largest parts, and the average power."""
    return [
        ("energy (uJ)", f"{energy.total_uj:.2f}", clip(energy.shares_text, _SHARES)),
        ("average power (W)", f"{energy.power_w:.2f}", ""),
    ]


def no_pairs(result: SimResult) -> str:
    """Why no CTAs share anything though they may."""
    ctas = counted(result.resident_ctas, "CTA")
    return (
        f"nothing is shared: {ctas} per SM without sharing and no more with it, limited by {result.limiter}"
    )


def slot_rows(slots: Mapping[str, float]) -> list[tuple[object, ...]]:
    """The kinds of scheduler slots, each with its share and a bar."""
    total = sum(slots.values())
    rows: list[tuple[object, ...]] = []
    for name in ("issued", "stall", "idle", "scoreboard"):
        n = slots.get(name, 0)
        share = n / total if total else 0.0
        rows.append((f"slots {name}", n, f"{share:6.1%} {bar(share, 1.0, 30)}".rstrip()))
    return rows


def _stalls(result: SimResult, cuda: PlaceText) -> list[Part]:
    """Where non-owner warps stopped, in the order of the text."""
    points = sorted(result.stall_points, key=lambda point: point.instruction)
    what, private = "a shared register", f"sequence numbers 1 to {result.private_registers}"
    n_private = result.private_registers
    if result.share_scratchpad:
        what, private = "shared scratchpad", f"bytes below {result.private_scratchpad}"
        n_private = result.private_scratchpad
    if not points:
        return [f"stall points: none; no warp had to wait for {what}", *_released(result)]
    rows: list[tuple[object, ...]] = [
        (p.line, p.warps, p.warp_cycles, p.first_cycle, waited_for(p), clip(p.text, 64)) for p in points
    ]
    columns = _STALLS
    if any(p.cuda for p in points):
        columns = (*_STALLS, *head("CUDA line"))
        rows = [(*row, cuda(p.cuda)) for row, p in zip(rows, points, strict=True)]
    title = (
        f"stall points: where warps waited for {what} (private: {private})"
        if n_private
        else f"stall points: where warps waited for {what} (none is private)"
    )
    return [shortened(columns, rows, title, _STALLS_SHOWN), *_released(result)]


def waited_for(point: StallPoint, noun: str = "") -> str:
    """The register at which a warp stopped, with its number, or the byte of shared scratchpad, with its variable."""
    if point.offset < 0:
        return f"{point.register} ({noun}{point.sequence})"
    return f"{point.variable} (byte {point.offset})" if point.variable else f"byte {point.offset}"


def _released(result: SimResult) -> list[str]:
    n = int(result.stats.get("locks_released_early", 0))
    return [f"locks released at marks: {n}"] if n else []
