"""The report of `ptxtool gate`: a table for terminals, and Markdown for the summary or comment of a pull request."""

from collections.abc import Iterator

from ptxtool.base.mangled import shown_name
from ptxtool.base.phrases import counted
from ptxtool.base.render import printable
from ptxtool.formats.gate_limits import HIGHER_IS_BETTER
from ptxtool.report.tables import TextTable, head, table
from ptxtool.results.gates import Gate, Verdict


def gate_table(gate: Gate) -> TextTable:
    """A row for every measure of every kernel."""
    rows = [
        (
            shown_name(v.kernel),
            v.measure,
            _number(v.before),
            _number(v.after),
            _change(v),
            _accepted(v),
            _word(v),
        )
        for v in gate.verdicts
    ]
    notes = [f"{shown_name(name)}: no longer there" for name in gate.missing]
    columns = head("kernel | measure | >before | >after | >change | accepted | ")
    return table(columns, rows, verdict_line(gate), notes)


def verdict_line(gate: Gate) -> str:
    """What came out, in a line."""
    n = len(gate.problems)
    kernels = counted(len(gate.kernels), "kernel")
    return f"gate: {counted(n, 'limit')} exceeded, {kernels}" if n else f"gate: passed, {kernels}"


def gate_markdown(gate: Gate) -> str:
    """A summary for GitHub and GitLab: what is exceeded first, then everything in a table that can be folded open."""
    mark = "❌" if gate.problems else "✅"
    lines = [f"### {mark} ptxtool {verdict_line(gate)}", ""]
    exceeded = [v for v in gate.verdicts if not v.is_kept]
    if exceeded:
        lines += [*_rows(exceeded), ""]
    changed = [v for v in gate.verdicts if v.is_kept and v.before != v.after]
    if changed:
        lines += [f"<details><summary>{counted(len(changed), 'change')} within limits</summary>", ""]
        lines += [*_rows(changed), "", "</details>", ""]
    lines += [f"- `{_cell(name)}`: no longer there" for name in gate.missing]
    return "\n".join(lines).rstrip("\n")


def _rows(verdicts: list[Verdict]) -> Iterator[str]:
    yield "| kernel | measure | before | after | change | accepted |"
    yield "|---|---|--:|--:|--:|---|"
    for v in verdicts:
        cells = (_number(v.before), _number(v.after), _change(v), _accepted(v))
        yield f"| `{_cell(shown_name(v.kernel))}` | {v.measure} | {' | '.join(cells)} |"


def _cell(name: str) -> str:
    """A name in a table of Markdown: nothing in it ends the cell or the code."""
    return printable(name).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _change(v: Verdict) -> str:
    if v.before is None or v.after is None or v.before == v.after:
        return ""
    percent = f" ({100 * (v.after - v.before) / v.before:+.1f}%)" if v.before else ""
    return f"{v.after - v.before:+d}{percent}"


def _accepted(v: Verdict) -> str:
    if v.bound is None:
        return ""
    return f"{'>=' if v.measure in HIGHER_IS_BETTER else '<='} {v.bound:g}"


def _word(v: Verdict) -> str:
    return "" if v.limit is None else "ok" if v.is_kept else "EXCEEDED"
