"""docs/reproduction.md: what its text says of the rows of images in the L1 is what its tables have."""

import pytest
from checkout import CHECKOUT

from ptxtool.sweep.reproduction.papers import SHARING, paper
from ptxtool.sweep.reproduction.verdicts import rank_correlation

PAGE = (CHECKOUT / "docs" / "reproduction.md").read_text(encoding="utf-8")
LONGER_ROWS = {"CONV2": "rows of 12,416 bytes", "SRAD1": "2080 pixels a row", "SRAD2": "2080 pixels a row"}


def table(name: str) -> list[list[str]]:
    """The rows of a table, its head left out."""
    block = PAGE.split(f"<!-- {name} -->\n")[1].split(f"<!-- end of {name} -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()[2:]]


def explained(experiment: str) -> dict[tuple[str, str], list[str]]:
    """IPC, order, sharing and gain, by application and what changes."""
    return {(row[0], row[1]): row[2:6] for row in table(f"{experiment} explained")}


@pytest.mark.parametrize("experiment", SHARING)
def test_every_experiment_is_on_the_page(experiment: str) -> None:
    rows = {(a.name, e.change) for a in paper(experiment).application for e in a.experiment}
    assert rows == {row for row in explained(experiment) if row[1] != "as it is"}


def test_longer_rows_give_the_papers_ranks() -> None:
    """Spearman's correlation by hand: places 4 1 7 2 3 6 5 beside the papers' 2 5 7 3 4 6 1, 1 - 6 * 38 / 336;
    with longer rows 4 6 7 2 3 5 1, 1 - 6 * 8 / 336."""
    rows = explained("scratchpad-sharing")
    applications = paper("scratchpad-sharing").application
    printed = [a.gain for a in applications]
    as_they_are = [float(rows[a.name, "as it is"][3].split()[0]) for a in applications]
    longer = [float(rows[a.name, LONGER_ROWS.get(a.name, "as it is")][3].split()[0]) for a in applications]
    found = [rank_correlation(gains, printed) for gains in (as_they_are, longer)]
    assert found == [pytest.approx(1 - 6 * 38 / 336), pytest.approx(1 - 6 * 8 / 336)]
    assert "rank correlation of the gains is +0.86 instead of +0.32" in PAGE
    assert all(abs(float(rows[name, row][1])) < 1 for name, row in LONGER_ROWS.items())
