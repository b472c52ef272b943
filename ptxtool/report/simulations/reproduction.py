"""An experiment of the papers as text: all exhibits, ours beside theirs."""

from collections.abc import Iterator
from dataclasses import replace

from ptxtool.report.tables import WIDTH, Column, Part, TextTable, head, split, table
from ptxtool.results.exhibits import Exhibit, ExhibitValue, Reproduction

_AGREES = {True: "agrees", False: "differs", None: ""}


def reproduction_parts(reproduction: Reproduction) -> list[Part]:
    """The report: what agrees, then every exhibit. A cell is our value, followed by the papers' in brackets, and by
    that of recorded launches in square ones."""
    head = f"{reproduction.title} on {reproduction.gpu}: {reproduction.n_runs} runs"
    parts: list[Part] = [head, *reproduction.sources, "", _findings(reproduction)]
    for exhibit in reproduction.exhibits:
        parts += ["", *_tables(exhibit)]
    if reproduction.failures:
        parts += ["", f"{len(reproduction.failures)} runs have no result"]
        parts += [f"  {f.row}, {f.scheme}: {f.reason}" for f in reproduction.failures]
    if not reproduction.complete:
        parts += ["", "interrupted: what ran so far is kept, and the same command goes on"]
    return parts


def _findings(reproduction: Reproduction) -> TextTable:
    columns, title = head("question:cyan | :bold | ours"), "What the results say"
    rows = [(f.question, _AGREES[f.agrees], f.ours) for f in reproduction.findings]
    if not reproduction.has_papers:
        return table(columns, rows, title)
    with_papers = [(*row, f.paper) for row, f in zip(rows, reproduction.findings, strict=True)]
    columns, shape = (*columns, Column("papers")), "Do the results have the papers' shape?"
    if not reproduction.has_recorded:
        return table(columns, with_papers, shape)
    with_recorded = [(*row, f.recorded) for row, f in zip(with_papers, reproduction.findings, strict=True)]
    return table((*columns, Column("recorded")), with_recorded, shape)


def _tables(exhibit: Exhibit) -> Iterator[TextTable]:
    """An exhibit in tables that are no wider than a line: the first has the title, the last the notes."""
    tables = split(exhibit_table(exhibit), WIDTH)
    for k, each in enumerate(tables):
        title, notes = ("" if k else each.title), (each.notes if each is tables[-1] else ())
        yield replace(each, title=title, notes=notes)


def exhibit_table(exhibit: Exhibit) -> TextTable:
    """One exhibit as a table of text."""
    columns = (Column(exhibit.of_rows, style="cyan"), *(Column(c, "right") for c in exhibit.columns))
    rows = [(row, *(_cell(exhibit, exhibit.at(row, c)) for c in exhibit.columns)) for row in exhibit.rows]
    legend = "; (papers)" if any(value.paper is not None for value in exhibit.values) else ""
    legend += "; [recorded]" if any(value.recorded is not None for value in exhibit.values) else ""
    title = f"{exhibit.title} ({exhibit.place}): {exhibit.quantity}{legend}"
    return table(columns, rows, title, exhibit.notes)


def _cell(exhibit: Exhibit, value: ExhibitValue | None) -> str:
    if value is None:
        return ""
    ours = exhibit.text(value.ours) or "-"
    papers = "" if value.paper is None else f" ({exhibit.text(value.paper)})"
    return ours + papers + ("" if value.recorded is None else f" [{exhibit.text(value.recorded)}]")
