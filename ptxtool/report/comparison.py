"""A ladder of schemes as a table with gain bars, and the first stall point of every rung."""

from ptxtool.formats.results import Comparison, Rung
from ptxtool.report.bars import bar
from ptxtool.report.tables import Column, Table, clip, table

_COLUMNS = (
    Column("scheme", style="cyan"),
    Column("CTAs", "right"),
    Column("cycles", "right"),
    Column("thread IPC", "right", style="bold"),
    Column("gain", "right", style="bold"),
    Column("", style="green"),
    Column("stall", "right"),
    Column("idle", "right"),
    Column("scoreboard", "right"),
    Column("L1 misses", "right"),
    Column("L2 misses", "right"),
)
_BAR = 12


def comparison_parts(comparison: Comparison) -> list[Table | str]:
    """The report of a ladder. Slots are scheduler slots: one per scheduler and cycle of an SM with work."""
    base = comparison.rungs[0].result
    grid, block = (" x ".join(map(str, e)) for e in (base.grid, base.block))
    title = (
        f"{comparison.kernel} on {base.gpu}: grid {grid}, block {block}, {base.registers} registers per thread, "
        f"{comparison.share_registers:g}% shared"
    )
    longest = max(10.0, *(abs(comparison.gain(rung)) for rung in comparison.rungs))
    rows = [_row(comparison, rung, longest) for rung in comparison.rungs]
    parts: list[Table | str] = [table(_COLUMNS, rows, title), ""]
    return [*parts, *_stall_lines(comparison), "", _verdict(comparison)]


def _row(comparison: Comparison, rung: Rung, longest: float) -> tuple[object, ...]:
    result, gain = rung.result, comparison.gain(rung)
    return (
        rung.name,
        result.resident_ctas,
        result.cycles,
        f"{result.thread_ipc:.2f}",
        "" if rung is comparison.rungs[0] else f"{gain:+.2f}%",
        bar(gain, longest, _BAR),
        *(result.slots[name] for name in ("stall", "idle", "scoreboard")),
        result.l1["misses"],
        result.l2["misses"],
    )


def _stall_lines(comparison: Comparison) -> list[str]:
    lines = ["first stall point (the first instruction at which a warp waited for a shared register)"]
    width = max(len(rung.name) for rung in comparison.rungs)
    for rung in comparison.rungs:
        point = rung.stall_point
        if not rung.result.shared_pairs:
            text = "nothing is shared"
        elif point is None:
            text = "none: no warp had to wait"
        else:
            who = f"{point.register} (register {point.sequence}), {point.warps} stops"
            text = f"instruction {point.instruction} (line {rung.stall_line}), {who}: {point.text}"
        lines.append(clip(f"  {rung.name:<{width}}  {text}"))
    private = next((r.result.private_registers for r in comparison.rungs if r.result.shared_pairs), None)
    if private is not None:
        lines.append(f"  a thread of a pair has registers 1 to {private} for itself")
    return lines


def _verdict(comparison: Comparison) -> str:
    checked = comparison.rungs[0].run.checked
    if not comparison.complete:
        return f"interrupted during {comparison.rungs[-1].name}, whose counters are those so far"
    if comparison.problems:
        return "results: WRONG, see the messages"
    expected = f"{', '.join(checked)} as expected, and " if checked else ""
    return f"results: {expected}all memory identical in all {len(comparison.rungs)} runs"
