"""The tables of launch files: where a key stands, and values of the wrong kind."""

from pathlib import Path
from typing import Any

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_tables import LaunchTable, key_span

TEXT = """grid = 1
[[args]]
name = "a"
[[ args ]]
type = "f32"
name = "b"
[define]
grid = "a"
"""


@pytest.mark.parametrize(
    ("table", "index", "key", "line", "word"),
    [
        ("", 0, "grid", 1, "grid"),
        ("args", 0, "name", 3, "name"),
        ("args", 1, "name", 6, "name"),
        ("args", 1, "", 4, "[[ args ]]"),
        ("args", 0, "type", 2, "[[args]]"),  # it stands in the other one alone
        ("args", 7, "name", 6, "name"),  # the last
        ("define", 0, "grid", 8, "grid"),
    ],
)
def test_the_place_of_a_key(table: str, index: int, key: str, line: int, word: str) -> None:
    source = Source("launch.toml", TEXT)
    start, end = key_span(source, table, index, key)
    assert (source.line(start), TEXT[start:end]) == (line, word)


def test_a_key_that_is_nowhere() -> None:
    assert key_span(Source("launch.toml", TEXT), key="block") == (0, 0)
    assert key_span(Source("launch.toml", TEXT), "expect", key="arg") == (0, 0)


def table(**values: Any) -> LaunchTable:
    return LaunchTable(Source("launch.toml", ""), Path("folder"), values)


@pytest.mark.parametrize(
    ("given", "sizes"),
    [(7, (7, 1, 1)), ([4, 2], (4, 2, 1)), ([1, 1, 64], (1, 1, 64)), ([1024], (1024, 1, 1))],
)
def test_missing_sizes_are_one(given: object, sizes: tuple[int, int, int]) -> None:
    assert table(block=given, grid=1).launch().block == sizes


@pytest.mark.parametrize(
    ("values", "reported"),
    [
        ({"grid": 1}, "missing key 'block'"),
        ({"grid": 1, "block": [1, 1, 65]}, "'block' is 65 in z; at most 64 is possible"),
        ({"grid": 1, "block": [32, 33]}, "a block of 1056 threads; at most 1024 fit"),
        ({"grid": [1, 65536], "block": 1}, "'grid' is 65536 in y; at most 65535 is possible"),
        ({"grid": True, "block": 1}, "'grid' must be one to three positive whole numbers"),
        ({"grid": 1, "block": 1, "registers": 1.0}, "'registers' must be a whole number >= 1, not '1.0'"),
        ({"grid": 1, "block": 1, "scheduler": 3}, "'scheduler' must be a text in quotes"),
    ],
)
def test_wrong_values(values: dict[str, Any], reported: str) -> None:
    with pytest.raises(PtxError) as caught:
        table(**values).launch()
    assert caught.value.diagnostics[0].message == reported
    assert caught.value.diagnostics[0].code == "E502"


def test_a_scheduler_of_the_users_own_lies_beside_the_launch_file() -> None:
    assert table(grid=1, block=1, scheduler="mine.py:pick").launch().scheduler == "folder/mine.py:pick"
    assert table(grid=1, block=1, scheduler="gto").launch().scheduler == "gto"


def test_a_flag_is_true_or_false() -> None:
    assert table(timed=False).flag("timed", default=True) is False
    assert table().flag("timed", default=True) is True
    with pytest.raises(PtxError, match="must be true or false"):
        table(timed=1).flag("timed", default=True)


def test_rows_are_tables() -> None:
    rows = list(table(args=[{"name": "a"}, {}]).rows("args", ["name"]))
    assert [(row.name, row.index, row.text("name")) for row in rows] == [("args", 0, "a"), ("args", 1, None)]
    for wrong in ({"name": "a"}, [3], [{"nmae": "a"}]):
        with pytest.raises(PtxError):
            list(table(args=wrong).rows("args", ["name"]))
