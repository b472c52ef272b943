"""Occupancy, sharing plans and storage as tables."""

from collections.abc import Sequence
from itertools import groupby

from ptxtool.analysis.demotion.targets import DemotionTargets
from ptxtool.analysis.occupancy.occupancy import LIMITERS, Occupancy
from ptxtool.analysis.occupancy.overhead import LETTERS, Storage
from ptxtool.analysis.occupancy.sharing_plan import SharingPlan, percentage_text
from ptxtool.analysis.occupancy.switching_plan import ENTRY_BYTES, SwitchingPlan
from ptxtool.analysis.occupancy.unified_plan import UnifiedPlan
from ptxtool.base.phrases import counted
from ptxtool.report.bars import bar
from ptxtool.report.tables import Part, TextTable, clip, head, table
from ptxtool.results.register_counts import RegisterCounts

_CURVE = head(
    ">registers | >resident:bold | >unshared | >pairs | >without sharing | >warps | limiter | :cyan"
)
_DEMOTION = head(">registers | >demoted | >bytes of a CTA | >resident CTAs:bold | >warps | :cyan")
_STORAGE = head(">bits per SM:bold | what | formula | printed")
_TOTALS = head("scheme | >bits per SM:bold | >KB per SM | >KB of the GPU")


def plan_parts(plan: SharingPlan, counts: RegisterCounts | None = None, source: str = "") -> list[Part]:
    """One plan: what fits by each resource, and the pairs.

    With the counts of its kernel also these, and the origin of the number of registers (`source`).
    """
    needs, base = plan.unshared.needs, plan.unshared
    lines = _resident_lines(plan, " and ".join(plan.all_limiters))
    if plan.resource:
        private = (
            f"{plan.private_registers} of {counted(needs.registers_per_thread, 'register')} per thread"
            if plan.resource == "registers"
            else f"{plan.private_scratchpad} of {needs.scratchpad} bytes"
        )
        percent = f"{percentage_text(plan.percent)}% of {plan.resource} shared"
        lines.append(
            f"{percent}: {counted(plan.unshared_ctas, 'unshared CTA')} and "
            f"{counted(plan.shared_pairs, 'pair')} ({counted(base.resident_ctas, 'CTA')} "
            f"without sharing); private: {private}"
        )
    if counts is not None:
        lines += map(clip, str(counts).splitlines())
        lines.append(f"  taken: {needs.registers_per_thread}, {source}")
    columns = head("resource | >CTAs it admits | >without sharing")
    rows = [(name, _limit(plan.limits[name]), _limit(base.limits[name])) for name in LIMITERS]
    if not plan.resource:
        return [*lines, "", table(columns[:2], [row[:2] for row in rows])]
    return [*lines, "", table(columns, rows)]


def _resident_lines(plan: SharingPlan, limiter: str) -> list[str]:
    """The resident CTAs, what limits them, and what one of them takes."""
    needs, base = plan.unshared.needs, plan.unshared
    return [
        f"{counted(plan.resident_ctas, 'resident CTA')} on an SM of {base.gpu}, limited by {limiter}",
        f"{plan.active_warps} of {base.max_warps} warps; a CTA: {counted(needs.threads, 'thread')}, "
        f"{counted(needs.registers_per_thread, 'register')} per thread ({needs.registers} allocated), "
        f"{needs.scratchpad} bytes of scratchpad",
    ]


def unified_parts(plan: SharingPlan, split: UnifiedPlan) -> list[Part]:
    """The CTAs of an SM with unified memory, and its split."""
    return [*_resident_lines(plan, split.limiter), str(split)]


def switching_parts(plan: SwitchingPlan, split: UnifiedPlan | None = None) -> list[Part]:
    """The CTAs of an SM that switches them: what is active, and what is resident by how much is live; the split of
    unified memory."""
    active = plan.active
    limiter = split.limiter if split else " and ".join(active.all_limiters)
    lines = [
        f"{active.resident_ctas} active CTAs on an SM of {active.gpu}, limited by {limiter}",
        f"{plan.scheme.name}: registers of {plan.acrf_ctas} CTAs in the file, {plan.ctas} CTAs resident at most",
    ]
    if split is not None:
        lines.append(str(split))
    if plan.scheme.switching != "finereg":
        if plan.lines:
            bytes_of_one = counted(plan.lines * ENTRY_BYTES, "byte")
            lines[1] += f", {plan.ctas - plan.acrf_ctas} of them in DRAM ({bytes_of_one} each)"
        return list(lines)
    lines[1] += f", {plan.pcrf_entries} entries for live registers"
    columns = head(">live registers of a warp | >entries of a CTA | >resident CTAs:bold | :cyan")
    before, rows = 0, list[tuple[object, ...]]()
    for live, resident in plan.by_live:
        span = f"{live}" if live == before + 1 else f"{before + 1}-{live}"
        rows.append((span, plan.warps * live, resident, bar(resident, plan.ctas, 24)))
        before = live
    return [*lines, "", table(columns, rows)]


def curve_table(plans: Sequence[SharingPlan]) -> TextTable:
    """Resident CTAs over registers per thread; neighbours that are alike in everything share a row."""
    longest = max((plan.active_warps for plan in plans), default=0)
    rows: list[tuple[object, ...]] = []
    for figures, group in groupby(plans, key=_figures):
        alike = list(group)
        first, last = (plan.unshared.needs.registers_per_thread for plan in (alike[0], alike[-1]))
        span = str(first) if first == last else f"{first}-{last}"
        rows.append((span, *figures, bar(alike[0].active_warps, longest, 24)))
    return table(_CURVE, rows, f"resident CTAs over registers per thread ({plans[0].unshared.gpu})")


def demotion_parts(found: DemotionTargets, registers: int) -> list[Part]:
    """The register counts that are worth demoting to: what they take, what they bring, and why there are no more."""
    rows: list[tuple[object, ...]] = []
    if found.before:
        rows.append((registers, "-", "-", *_resident(found.before)))
    rows += [(t.registers, t.demoted, t.slot_bytes, *_resident(t.occupancy)) for t in found.targets]
    if not found.targets:
        return [f"no count below {counted(registers, 'register')} is worth demoting to: {found.end}"]
    gpu = found.targets[0].occupancy.gpu
    title = f"registers per thread that are worth demoting to ({gpu})"
    return [table(_DEMOTION, rows, title, (f"no more: {found.end}",))]


def _resident(found: Occupancy) -> tuple[object, ...]:
    return found.resident_ctas, found.active_warps, bar(found.active_warps, found.max_warps, 24)


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


def storage_totals(found: Sequence[Storage]) -> TextTable:
    """The storage of several schemes, a row each."""
    rows = [
        (each.scheme, each.bits_per_sm, _kilobytes(each.bits_per_sm), _kilobytes(each.bits)) for each in found
    ]
    title = f"storage that a scheme adds to {found[0].gpu}"
    note = "'--scheme NAME' shows a scheme part by part; 1 KB is 1024 bytes"
    return table(_TOTALS, rows, title, (note,))


def storage_table(storage: Storage) -> TextTable:
    """The storage of one scheme, part by part."""
    rows = [(item.bits, item.name, item.formula, item.note) for item in storage.items]
    title = f"{storage.scheme}: {storage.bits_per_sm} bits per SM ({_kilobytes(storage.bits_per_sm)} KB)"
    letters = ", ".join(
        f"{letter} {meaning}"
        for letter, meaning in LETTERS.items()
        if any(letter in i.formula for i in storage.items)
    )
    whole = f"{storage.bits} bits for the {storage.sms} SMs of {storage.gpu}"
    return table(_STORAGE, rows, title, (f"{whole}; {letters}", *storage.notes))


def _kilobytes(bits: int) -> str:
    return f"{bits / 8192:.2f}"
