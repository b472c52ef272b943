"""One figure that a machine has to show: what is measured, what is expected, and the source of the expectation."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A figure of `row` (a row or section of the document): `low` <= `measure()` <= `high`.

    `expected` is the document's figure as it says it; where it is one number, `low` and `high` allow for what the
    document leaves open (`why`).
    """

    row: str
    what: str
    expected: str
    low: float
    high: float
    measure: Callable[[], float]
    why: str = ""

    def __str__(self) -> str:
        return f"{self.row}: {self.what}"

    def holds(self, measured: float) -> bool:
        # a slope is a quotient of whole numbers
        return self.low - 1e-9 <= measured <= self.high + 1e-9


def exactly(row: str, what: str, figure: float, measure: Callable[[], float]) -> Case:
    """A figure that leaves nothing open."""
    return Case(row, what, f"{figure:g}", figure, figure, measure)


def within(
    row: str, what: str, expected: str, low: float, high: float, measure: Callable[[], float], why: str = ""
) -> Case:
    """A figure given as a range, as a bound, or as about so much."""
    return Case(row, what, expected, low, high, measure, why)


def shown(figure: float) -> str:
    """A measured figure as the page has it."""
    return f"{figure:.3f}".rstrip("0").rstrip(".") if abs(figure) < 1000 else f"{figure:.0f}"
