"""A ladder of schemes as a table with gain bars, and the first stall point of every rung."""

from ptxtool.analysis.occupancy.sharing_plan import NOTHING_SHARED, percentage_text
from ptxtool.base.mangled import shown_name
from ptxtool.report.bars import bar
from ptxtool.report.kernels.cuda import NAMED, PlaceText
from ptxtool.report.simulations.simulation import no_pairs, remark_parts, waited_for
from ptxtool.report.tables import Part, clip, head, table
from ptxtool.results.run_results import Comparison, Rung

_COLUMNS = head(
    "scheme:cyan | >CTAs | >cycles | >thread IPC:bold | >gain:bold | :green | >stall | >idle | >scoreboard"
    " | >L1 misses | >L2 misses"
)
_NAME_AND_BAR = 31  # as much as leaves the table within its width


def comparison_parts(comparison: Comparison, cuda: PlaceText = NAMED) -> list[Part]:
    """The report of a ladder. Slots are scheduler slots: one per scheduler and cycle of an SM with work."""
    base = comparison.rungs[0].result
    grid, block = (" x ".join(map(str, e)) for e in (base.grid, base.block))
    title = (
        f"{shown_name(comparison.kernel)} on {base.gpu}: "
        f"grid {grid}, block {block}, {base.registers} registers per thread, "
        f"{percentage_text(comparison.percent)}% of the {comparison.resource} shared"
    )
    longest = max(10.0, *(abs(comparison.gain(rung) or 0.0) for rung in comparison.rungs))
    room = max(0, _NAME_AND_BAR - max(len(rung.name) for rung in comparison.rungs))
    rows = [_row(comparison, rung, longest, min(room, 12)) for rung in comparison.rungs]
    parts: list[Part] = [table(_COLUMNS, rows, title), ""]
    notes = remark_parts(remark for rung in comparison.rungs for remark in rung.result.remarks)
    stalls = _stall_lines(comparison, cuda)
    spread, energy = _spread_lines(comparison), _energy_lines(comparison)
    return [*parts, *spread, *energy, *stalls, *notes, "", _verdict(comparison)]


def _row(comparison: Comparison, rung: Rung, longest: float, room: int) -> tuple[object, ...]:
    result, gain = rung.result, comparison.gain(rung)
    return (
        rung.name,
        result.resident_ctas,
        result.cycles,
        f"{result.thread_ipc:.2f}",
        "" if rung is comparison.rungs[0] or gain is None else f"{gain:+.2f}%",
        bar(gain or 0.0, longest, room),
        *(result.slots[name] for name in ("stall", "idle", "scoreboard")),
        result.l1["misses"],
        result.l2["misses"],
    )


def _spread_lines(comparison: Comparison) -> list[str]:
    """The gains of the other rungs over replicas; no line without replicas."""
    found = {rung.name: spread for rung in comparison.rungs[1:] if (spread := comparison.gains(rung))}
    if not found:
        return []
    n, width = len(next(iter(found.values())).values), max(map(len, found))
    lines = [f"gain in {n} replicas (mean, least to greatest)"]
    for name, spread in found.items():
        none = ": none, it has both signs" if spread.has_both_signs else ""
        text = f"{spread.mean:+.2f}%  ({spread.least:+.2f} to {spread.greatest:+.2f}){none}"
        lines.append(f"  {name:<{width}}  {text}")
    return [*lines, ""]


def _energy_lines(comparison: Comparison) -> list[str]:
    """The energy of the other rungs over that of the first; no line where there is nothing to compare."""
    changes = [comparison.energy_change(rung) for rung in comparison.rungs[1:]]
    shown = ", ".join(f"{change:+.1f}%" for change in changes if change is not None)
    return [f"energy over {comparison.rungs[0].name}, rung by rung: {shown}"] if shown else []


def _stall_lines(comparison: Comparison, cuda: PlaceText) -> list[str]:
    if not any(rung.result.shared_pairs for rung in comparison.rungs):
        return _why_unshared(comparison)
    what = {"registers": "a shared register", "scratchpad": "the shared part of the scratchpad"}
    waited = what[comparison.resource]
    lines = [f"first stall point (the first instruction at which a warp waited for {waited})"]
    width = max(len(rung.name) for rung in comparison.rungs)
    for rung in comparison.rungs:
        point = rung.stall_point
        if not rung.result.shared_pairs:
            text = "nothing is shared"
        elif point is None:
            text = "none: no warp had to wait"
        else:
            place = ", ".join(filter(None, (f"line {rung.stall_line}", cuda(point.cuda))))
            where = f"instruction {point.instruction} ({place})"
            text = f"{where}, {waited_for(point, 'register ')}, {point.warps} stops: {point.text}"
        lines.append(clip(f"  {rung.name:<{width}}  {text}"))
    shared = next((rung.result for rung in comparison.rungs if rung.result.shared_pairs), None)
    if shared is not None and comparison.resource == "registers":
        lines.append(f"  a thread of a pair has registers 1 to {shared.private_registers} for itself")
    elif shared is not None:
        lines.append(f"  a CTA of a pair has the first {shared.private_scratchpad} bytes for itself")
    return lines


def _why_unshared(comparison: Comparison) -> list[str]:
    """Why there is no pair in any rung."""
    why = no_pairs(comparison.rungs[-1].result) if comparison.percent else NOTHING_SHARED
    return [why, "gains are those of schedulers and passes"]


def _verdict(comparison: Comparison) -> str:
    checked = comparison.rungs[0].run.checked
    if not comparison.complete:
        last = comparison.rungs[-1]
        if last.result.status == "done":
            return f"interrupted during the replicas of {last.name}"
        return f"interrupted during {last.name}, whose counters are those so far"
    if comparison.problems:
        return "results: WRONG, see the messages"
    expected = f"{', '.join(checked)} as expected, and " if checked else ""
    return f"results: {expected}all memory identical in all {len(comparison.rungs)} runs"
