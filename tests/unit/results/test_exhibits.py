"""Tables of an experiment as plain data."""

import pytest

from ptxtool.results.exhibits import Exhibit, ExhibitValue, Failure, Finding, Reproduction

VALUES = (
    ExhibitValue("b", "LRR", 1.5, 2.0),
    ExhibitValue("a", "LRR", None, 3.0),
    ExhibitValue("b", "GTO, greedy", 0.25),
)
EXHIBIT = Exhibit("gain", "Gains", "table 1", "percent", VALUES)


def test_rows_and_columns_are_in_the_order_of_their_first_values() -> None:
    assert (EXHIBIT.rows, EXHIBIT.columns) == (("b", "a"), ("LRR", "GTO, greedy"))
    assert EXHIBIT.at("b", "LRR") is VALUES[0]
    assert EXHIBIT.at("a", "GTO, greedy") is None


@pytest.mark.parametrize(
    ("number", "signed", "text"),
    [
        (1.005, False, "1.00"),
        (2.5, True, "+2.50"),
        (-2.5, False, "-2.50"),
        (-0.001, False, "0.00"),  # nothing has no sign
        (-0.001, True, "-0.00"),
        (None, True, ""),
    ],
)
def test_numbers(number: float | None, signed: bool, text: str) -> None:
    assert Exhibit("k", "t", "p", "q", (), signed=signed).text(number) == text


def test_every_value_is_a_line_of_csv() -> None:
    found = Reproduction(
        "t", "gpu", (), (EXHIBIT,), (Finding("q", "o", "p", None),), (Failure("r", "s", "e"),), 3
    )
    assert found.to_csv().splitlines() == [
        "exhibit,quantity,row,column,ours,paper",
        "gain,percent,b,LRR,1.5,2.0",
        "gain,percent,a,LRR,,3.0",
        'gain,percent,b,"GTO, greedy",0.25,',
    ]
    assert found.exhibit("gain") is EXHIBIT
    with pytest.raises(KeyError):
        found.exhibit("ladder")
