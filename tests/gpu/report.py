"""What a check found, as text: a table of rows by family, errors of approximations, reasons, and every difference."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from approximations import SIGNIFICANDS, approximation
from gpu.check import BAD, OUTCOMES, Row
from gpu.programs import row_name


def report(rows: Sequence[Row], name: str) -> str:
    """The whole report; it ends with a line that says how it went."""
    return "\n".join(
        [*_table(rows, name), *_errors(rows), *_reasons(rows), *_differences(rows), _summary(rows)]
    )


def is_good(rows: Sequence[Row]) -> bool:
    """Whether nothing differs that is not listed."""
    return all(row.outcome not in BAD for row in rows)


def _table(rows: Sequence[Row], name: str) -> Iterator[str]:
    yield f"rows of the instruction table on {name}"
    yield "".join(f"{head:>14}" for head in ("", "compared", *OUTCOMES))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[row.form.family][row.outcome] += 1
    total: Counter[str] = sum(counts.values(), Counter())
    for family, count in [*sorted(counts.items()), ("all", total)]:
        compared = sum(n for outcome, n in count.items() if outcome != "skipped")
        yield "".join(f"{cell:>14}" for cell in (family, compared, *(count[o] for o in OUTCOMES)))
    items = Counter(t.outcome for row in rows for t in row.tried)
    yield "instructions: " + ", ".join(f"{items[o]} {o}" for o in OUTCOMES if items[o])


def _errors(rows: Sequence[Row]) -> Iterator[str]:
    """The largest error within its bound, by approximate function."""
    worst: dict[str, float] = {}
    for row in rows:
        for t in row.tried:
            known = approximation(t.item.text.split()[0])
            if known is not None and t.outcome in ("equal", "NaN bits", "within bound"):
                worst[known.instruction] = max(worst.get(known.instruction, 0.0), t.worst)
    if worst:
        yield "largest difference of approximate functions, in last places"
    for instruction, places in sorted(worst.items()):
        assert instruction.rpartition(".")[2] in SIGNIFICANDS
        yield f"  {instruction}: {places:.3g}"


def _reasons(rows: Sequence[Row]) -> Iterator[str]:
    """Why rows were skipped, and which differences are listed."""
    skipped = [f"  {row_name(row.form)}: {row.why}" for row in rows if row.outcome == "skipped"]
    if skipped:
        yield "skipped rows"
        yield from skipped
    listed = sorted(
        {
            f"  {t.item.text.split()[0]}: {t.message}"
            for row in rows
            for t in row.tried
            if t.outcome == "listed"
        }
    )
    if listed:
        yield "listed differences"
        yield from listed


def _differences(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        for t in row.tried:
            if t.outcome in BAD:
                yield f"{t.outcome}: {t.item.text}"
                yield f"  row: {row_name(row.form)}"
                yield from (f"  {line}" for line in t.message.splitlines())


def _summary(rows: Sequence[Row]) -> str:
    compared = [row for row in rows if row.outcome != "skipped"]
    bad = sum(row.outcome in BAD for row in compared)
    what = (
        f"{bad} of {len(compared)} compared rows differ"
        if bad
        else f"all {len(compared)} compared rows agree"
    )
    return f"{what}; {len(rows) - len(compared)} skipped"
