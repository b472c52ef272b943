"""The page of an experiment of the papers: findings and exhibits, ours beside theirs, to be filtered and sorted."""

from dataclasses import asdict
from typing import Any

from ptxtool.report.pages.page import page
from ptxtool.results.exhibits import Exhibit, Reproduction

STYLES = ("reproduction.css",)
SCRIPTS = ("reproduction.js",)


def reproduction_page(reproduction: Reproduction) -> str:
    """The page as HTML."""
    return page(
        f"{reproduction.title} - ptxtool", STYLES, SCRIPTS, {"reproduction": reproduction_data(reproduction)}
    )


def reproduction_data(reproduction: Reproduction) -> dict[str, Any]:
    """The findings, the failures, and the exhibits, each as rows of cells."""
    return {
        "title": reproduction.title,
        "gpu": reproduction.gpu,
        "sources": list(reproduction.sources),
        "complete": reproduction.complete,
        "runs": reproduction.n_runs,
        "has_papers": reproduction.has_papers,
        "has_recorded": reproduction.has_recorded,
        "findings": [asdict(finding) for finding in reproduction.findings],
        "failures": [asdict(failure) for failure in reproduction.failures],
        "exhibits": [_exhibit(exhibit) for exhibit in reproduction.exhibits],
    }


def _exhibit(exhibit: Exhibit) -> dict[str, Any]:
    """One table: a list of cells per row, [ours, the papers', recorded] each, None where there is nothing."""
    cells = {(v.row, v.column): [v.ours, v.paper, v.recorded] for v in exhibit.values}
    return {
        "key": exhibit.key,
        "title": exhibit.title,
        "place": exhibit.place,
        "quantity": exhibit.quantity,
        "notes": list(exhibit.notes),
        "digits": exhibit.digits,
        "signed": exhibit.signed,
        "of_rows": exhibit.of_rows,
        "columns": list(exhibit.columns),
        "rows": [[row, [cells.get((row, column)) for column in exhibit.columns]] for row in exhibit.rows],
    }
