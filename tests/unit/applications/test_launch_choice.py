"""Launches chosen by number."""

import pytest

from ptxtool.applications.launch_choice import ALL, launch_choice
from ptxtool.base.diag import PtxError


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("3", [3]),
        ("3,7-9", [3, 7, 8, 9]),
        ("7-9", [7, 8, 9]),
        ("2, 4", [2, 4]),
        ("every:4", [1, 5, 9]),
        ("every:1", [*range(1, 11)]),
        ("first:2", [1, 2]),
    ],
)
def test_the_chosen_ones_of_ten(text: str, chosen: list[int]) -> None:
    choice = launch_choice(text)
    assert [number for number in range(1, 11) if number in choice] == chosen


def test_all_is_all() -> None:
    assert 1 in ALL
    assert 10**9 in ALL


@pytest.mark.parametrize(
    "text", ["", "0", "9-7", "0-3", "every:0", "every:", "first:x", "last:2", "1,,2", "-3", "1-2-3"]
)
def test_no_choice(text: str) -> None:
    with pytest.raises(PtxError, match="chooses no launches") as caught:
        launch_choice(text)
    assert "every:10 (1, 11, 21 and so on)" in caught.value.diagnostics[0].help
