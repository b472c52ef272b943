"""Occupancy, sharing plans and storage as tables."""

from collections.abc import Sequence

from ptxtool.analysis.occupancy import LIMITERS
from ptxtool.analysis.overhead import Storage
from ptxtool.analysis.sharing import SharingPlan
from ptxtool.formats.register_counts import RegisterCounts
from ptxtool.report.bars import bar
from ptxtool.report.tables import Column, Table, clip, table

_CURVE = (
    Column("registers", "right"),
    Column("resident", "right", style="bold"),
    Column("unshared", "right"),
    Column("pairs", "right"),
    Column("without sharing", "right"),
    Column("warps", "right"),
    Column("limiter"),
    Column("", style="cyan"),
)
_STORAGE = (Column("bits per SM", "right", style="bold"), Column("what"), Column("formula"))


def plan_parts(
    plan: SharingPlan, counts: RegisterCounts | None = None, source: str = ""
) -> list[Table | str]:
    """One plan: what fits by each resource, and the pairs.

    With the counts of its kernel also these, and with whose number of registers was taken (`source`).
    """
    needs, base = plan.unshared.needs, plan.unshared
    lines = [
        f"{plan.resident_ctas} resident CTAs on an SM of {base.gpu}, limited by {' and '.join(plan.all_limiters)}",
        f"{plan.active_warps} of {base.max_warps} warps; a CTA: {needs.threads} threads, {needs.registers_per_thread} "
        f"registers per thread ({needs.registers} allocated), {needs.scratchpad} bytes of scratchpad",
    ]
    if plan.resource:
        private = (
            f"{plan.private_registers} of {needs.registers_per_thread} registers per thread"
            if plan.resource == "registers"
            else f"{plan.private_scratchpad} of {needs.scratchpad} bytes"
        )
        percent = f"{float(plan.percent):g}% of {plan.resource} shared"
        lines.append(
            f"{percent}: {plan.unshared_ctas} unshared CTAs and {plan.shared_pairs} pairs ({base.resident_ctas} CTAs "
            f"without sharing); private: {private}"
        )
    if counts is not None:
        lines += map(clip, str(counts).splitlines())
        lines.append(f"  taken: {needs.registers_per_thread}, {source}")
    columns = (Column("resource"), Column("CTAs it admits", "right"), Column("without sharing", "right"))
    rows = [(name, _limit(plan.limits[name]), _limit(base.limits[name])) for name in LIMITERS]
    if not plan.resource:
        return [*lines, "", table(columns[:2], [row[:2] for row in rows])]
    return [*lines, "", table(columns, rows)]


def curve_table(plans: Sequence[SharingPlan]) -> Table:
    """Resident CTAs over registers per thread; neighbours that are alike in everything share a row."""
    longest = max((plan.active_warps for plan in plans), default=0)
    rows: list[tuple[object, ...]] = []
    groups: list[list[SharingPlan]] = []
    for plan in plans:
        if groups and _figures(groups[-1][0]) == _figures(plan):
            groups[-1].append(plan)
        else:
            groups.append([plan])
    for group in groups:
        first, last = (p.unshared.needs.registers_per_thread for p in (group[0], group[-1]))
        span = str(first) if first == last else f"{first}-{last}"
        rows.append((span, *_figures(group[0]), bar(group[0].active_warps, longest, 24)))
    return table(_CURVE, rows, f"resident CTAs over registers per thread ({plans[0].unshared.gpu})")


def _figures(plan: SharingPlan) -> tuple[object, ...]:
    return (
        plan.resident_ctas,
        plan.unshared_ctas,
        plan.shared_pairs,
        plan.unshared.resident_ctas,
        plan.active_warps,
        plan.limiter,
    )


def _limit(limit: int | None) -> str:
    return "-" if limit is None else str(limit)


def storage_table(storage: Storage) -> Table:
    """The storage of one scheme."""
    rows = [(item.bits, item.name, item.formula) for item in storage.items]
    title = f"{storage.scheme} sharing: {storage.bits_per_sm} bits per SM"
    note = (
        f"{storage.bits} bits for the {storage.sms} SMs of {storage.gpu}; T CTA slots and W warp slots per SM"
    )
    return table(_STORAGE, rows, title, (note,))
