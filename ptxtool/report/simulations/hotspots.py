"""Where the time of a simulated launch went: the reasons, the hottest instructions, the SMs, and a listing.

Shares are of all scheduler slots of the launch. docs/hotspots.md explains the reasons, and which
instruction a slot is charged to.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from ptxtool.base.mangled import shown_name
from ptxtool.report.bars import bar
from ptxtool.report.tables import Part, TextTable, head, table
from ptxtool.results.hotspots import ISSUED, REASONS, Hotspot, Hotspots

_REASONS = head("slots | >number:bold | >share | :cyan | >least of an SM | >most")
_SMS = head(">SM | >slots | >issued | >stall | >idle | >scoreboard | mostly:cyan")
_CUDA = head("CUDA line | >issues | >lost:bold | >share | >caused | mostly:cyan")
_HOTTEST = head(">line | >lost:bold | >share | waiting for:cyan | instruction:code")
_LISTING = head(
    ">line | >issues | >lanes | >split | >acc. | >hit | >lost:bold | :red | >caused | mostly:cyan"
    " | instruction:code"
)
_LEGEND = (
    "lanes: active per issue; split: issues that diverged; acc.: accesses per instruction; hit: of loads, in L1 or L1C",
    "lost: slots in which it could not issue, or held its warp back; caused: slots of any that waited for it",
)
_HOTTEST_SHOWN = 10
_LONGEST = 5  # marks of the listing's bars
_KINDS = (ISSUED, "stall", "idle", "scoreboard")


def hotspot_parts(found: Hotspots) -> list[Part]:
    """The report of a launch: reasons, SMs, hottest instructions, CUDA lines where they are known, and the listing."""
    parts: list[Part] = [_reasons(found), "", _sms(found), *_register_use(found), "", _hottest(found)]
    if any(spot.cuda for spot in found.instructions):
        parts += ["", _cuda(found)]
    functions = dict.fromkeys(spot.function for spot in found.instructions)
    for name in functions:
        parts += ["", _listing(found, name)]
    return [*parts, *_LEGEND]


def _share(n: int, total: int) -> str:
    return f"{n / total:.1%}" if total else ""


def _reasons(found: Hotspots) -> TextTable:
    """The kinds of slots, and below each its reasons, the most frequent first."""
    total = found.slots
    totals = found.kinds(found.reasons)
    per_sm = [{**found.kinds(reasons), **reasons} for reasons in found.per_sm]
    rows: list[tuple[object, ...]] = []
    for kind in _KINDS:
        mine = [name for name in REASONS if found.kind(name) == kind and found.reasons[name]]
        rows.append(_reason(kind, kind, totals[kind], total, per_sm))
        for name in sorted(mine, key=lambda name: -found.reasons[name]):
            rows.append(_reason(f"  {REASONS[name].label}", name, found.reasons[name], total, per_sm))
    title = f"where the time goes: {total} slots (a scheduler, a cycle), by kind and reason"
    return table(_REASONS, rows, title)


def _reason(
    label: str, name: str, n: int, total: int, per_sm: Iterable[Mapping[str, int]]
) -> tuple[object, ...]:
    counts = [reasons[name] for reasons in per_sm]
    share = n / total if total else 0.0
    return label, n, _share(n, total), bar(share, 1.0, 30), min(counts), max(counts)


def _sms(found: Hotspots) -> TextTable:
    rows: list[tuple[object, ...]] = []
    for index, reasons in enumerate(found.per_sm):
        total = sum(reasons.values())
        kinds = found.kinds(reasons)
        lost = {name: n for name, n in reasons.items() if name != ISSUED}
        rows.append((index, total, *(_share(kinds[kind], total) for kind in _KINDS), _mostly(lost, total, 3)))
    return table(_SMS, rows, "per SM: its slots, and what most of those that did not issue waited for")


def _register_use(found: Hotspots) -> list[Part]:
    use = found.register_use
    if use is None:
        return []
    return [
        "",
        f"registers accessed in {use.window} instructions of an SM, of those of its warps: {use.mean:.1f}%"
        f" ({use.least:.1f} to {use.most:.1f}%, {use.windows} times)",
    ]


def _mostly(reasons: Mapping[str, int], total: int, most: int) -> str:
    """The most frequent reasons with their shares, those below half a percent left out."""
    some = [name for name, n in reasons.items() if 200 * n >= total > 0]
    ordered = sorted(some, key=lambda name: -reasons[name])
    return ", ".join(f"{REASONS[name].label} {reasons[name] / total:.0%}" for name in ordered[:most])


def _hottest(found: Hotspots) -> TextTable:
    """The instructions at which most slots were lost."""
    hottest = found.hottest()[:_HOTTEST_SHOWN]
    rows: list[tuple[object, ...]] = [
        (spot.line, spot.lost, _share(spot.lost, found.slots), _mostly(spot.reasons, spot.lost, 3), spot.text)
        for spot in hottest
    ]
    columns = _HOTTEST
    if any(spot.cuda for spot in hottest):
        columns = (*_HOTTEST[:1], *head("CUDA line"), *_HOTTEST[1:])
        rows = [(row[0], spot.cuda, *row[1:]) for row, spot in zip(rows, hottest, strict=True)]
    return table(columns, rows, "the instructions at which most slots were lost")


def _cuda(found: Hotspots) -> TextTable:
    """The same slots by the lines of the CUDA source, in its order."""
    places: dict[tuple[str, int], list[Hotspot]] = {}
    for spot in found.instructions:
        name, _, number = spot.cuda.rpartition(":")
        if spot.cuda and (spot.issues or spot.lost):
            places.setdefault((name, int(number)), []).append(spot)
    rows: list[tuple[object, ...]] = []
    for (file, line), spots in sorted(places.items()):
        reasons: Counter[str] = Counter()
        for spot in spots:
            reasons.update(spot.reasons)
        lost = reasons.total()
        rows.append(
            (
                f"{file}:{line}",
                sum(spot.issues for spot in spots),
                lost,
                _share(lost, found.slots),
                sum(spot.caused for spot in spots) or "",
                _mostly(reasons, lost, 3),
            )
        )
    return table(_CUDA, rows, "by line of the CUDA source (.loc)")


def _listing(found: Hotspots, function: str) -> TextTable:
    """The instructions of a function that issued or lost slots, in the order of the text."""
    longest = max((spot.lost for spot in found.instructions), default=0)
    mine = [spot for spot in found.instructions if spot.function == function]
    shown = [spot for spot in mine if spot.issues or spot.lost]
    rows = [
        (
            spot.line,
            spot.issues,
            f"{spot.active / spot.issues:.3g}" if spot.issues else "",
            _share(spot.divergent, spot.issues) if spot.divergent else "",
            f"{spot.transactions_per_access:.3g}" if spot.memory else "",
            _hit_rate(spot),
            spot.lost,
            bar(spot.lost, longest, _LONGEST),
            spot.caused or "",
            _mostly(spot.reasons, spot.lost, 1),
            spot.text,
        )
        for spot in shown
    ]
    nowhere = sum(found.elsewhere.values())
    notes = [f"{len(mine) - len(shown)} of its instructions never issued"] * (len(shown) < len(mine))
    if function == found.instructions[0].function and nowhere:
        notes.append(f"{nowhere} slots ({_share(nowhere, found.slots)}) without a warp are no instruction's")
    return table(_LISTING, rows, f"{shown_name(function)}, instruction by instruction", notes)


def _hit_rate(spot: Hotspot) -> str:
    asked = spot.hits + spot.misses + spot.pending_hits
    return f"{spot.hits / asked:.0%}" if asked else ""
