"""The variants of a kernel as a table, the fastest first, and why one of them was chosen."""

from collections import Counter
from collections.abc import Iterator

from ptxtool.base.mangled import shown_name
from ptxtool.base.phrases import counted
from ptxtool.report.tables import Part, clip, head, shortened
from ptxtool.results.tuning import AssembledSpills, Tuning, Variant

_COLUMNS = head(
    "variant:cyan | >registers | >shared | >occupancy | >instructions | >predicted:bold | >cycles | >simulated:bold"
)
MOST_ROWS = 24


def tuning_parts(tuning: Tuning) -> list[Part]:
    """The report of a tuning. Gains, predicted and simulated, are over the original; shared memory is in
    bytes; occupancy is resident warps of those an SM could hold."""
    title = f"{shown_name(tuning.kernel)} on {tuning.gpu}: CTAs of {counted(tuning.threads, 'thread')}"
    rows = [_row(tuning, variant) for variant in tuning.ranked]
    n_equal = len(tuning.variants) - len(rows)
    equal = [f"{counted(n_equal, 'further variant')} with the same text as one of these"] if n_equal else []
    lines = [*equal, *_declined(tuning), *_ends(tuning), *_assembled(tuning)]
    notes = ["", *map(clip, lines)] if lines else []
    return [shortened(_COLUMNS, rows, title, MOST_ROWS), *notes, "", *_verdict(tuning)]


def _row(tuning: Tuning, variant: Variant) -> tuple[object, ...]:
    gain, is_original = tuning.gain(variant), variant is tuning.original
    return (
        variant.name,
        variant.registers,
        variant.shared_bytes,
        f"{100 * variant.occupancy.fraction:.1f}%",
        variant.instructions,
        "" if is_original else f"{tuning.predicted_gain(variant):+.1f}%",
        variant.cycles,
        "WRONG" if variant.problem else "" if is_original or gain is None else f"{gain:+.1f}%",
    )


def _declined(tuning: Tuning) -> Iterator[str]:
    for why, n in Counter(declined.why for declined in tuning.declined).items():
        yield f"{counted(n, 'variant')} declined: {why}"


def _ends(tuning: Tuning) -> Iterator[str]:
    if tuning.end:
        yield f"no further register counts to demote to: {tuning.end}"


def _assembled(tuning: Tuning) -> Iterator[str]:
    if tuning.ptxas:
        yield tuning.ptxas + (", bytes spilled at most registers per thread:" if tuning.assembled else "")
    for row in tuning.assembled:
        yield f"  {row.target:>3}: {_spilled(row)}"


def _spilled(row: AssembledSpills) -> str:
    if row.spill_bytes is None or row.pragma_spill_bytes is None:
        return "no figure"
    return f"{row.spill_bytes} to local memory; with enable_smem_spilling {row.pragma_spill_bytes}"


def _verdict(tuning: Tuning) -> Iterator[str]:
    """The chosen variant, and what it changes."""
    chosen, first = tuning.chosen, tuning.original
    how = "by simulation" if first.cycles is not None else "by prediction"
    if tuning.interrupted:
        yield "interrupted: the same command with --store goes on with the rest"
    if not tuning.pays:
        resident = (
            f"{counted(first.occupancy.resident_ctas, 'CTA')} per SM, limited by {first.occupancy.limiter}"
        )
        yield f"nothing pays ({how}): the original is fastest, with {resident}"
        return
    yield f"chosen {how}: {chosen.name}"
    yield f"  {chosen.pipeline}"
    before, after = first.occupancy, chosen.occupancy
    limiters = (
        before.limiter if before.limiter == after.limiter else f"{before.limiter}, then {after.limiter}"
    )
    added = chosen.instructions - first.instructions
    yield (
        f"  {first.registers} -> {chosen.registers} registers, {first.shared_bytes} -> {chosen.shared_bytes} bytes of "
        f"shared memory, {abs(added)} instructions {'added' if added >= 0 else 'removed'}"
    )
    yield (
        f"  {before.resident_ctas} -> {after.resident_ctas} CTAs per SM, {100 * before.fraction:.1f}% -> "
        f"{100 * after.fraction:.1f}% of the warps; limited by {limiters}"
    )
