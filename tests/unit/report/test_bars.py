"""Bars and curves in characters."""

import pytest

from ptxtool.report.bars import bar, chart


@pytest.mark.parametrize(
    ("value", "longest", "shown"),
    [(10, 10, "####"), (5, 10, "##"), (0, 10, ""), (-5, 10, "--"), (20, 10, "####"), (1, 0, "")],
)
def test_bar(value: float, longest: float, shown: str) -> None:
    assert bar(value, longest, 4) == shown


def test_chart_marks_reach_the_values() -> None:
    assert chart([0, 1, 3, 2]) == ["3 |  #", "2 |  ##", "1 | ###", "  +----"]


def test_chart_of_many_values_shows_every_maximum() -> None:
    lines = chart([*range(1000), 5000, *range(999)], width=10, height=5)
    assert len(lines) == 6
    assert lines[0] == "5000 |     #"
    assert lines[-1] == "     +----------"


def test_chart_of_nothing() -> None:
    assert chart([]) == []
    assert chart([0, 0]) == ["1 |", "  +--"]
