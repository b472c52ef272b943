"""The TOML of a user's file: errors at their place."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.toml import read_toml


def test_tables() -> None:
    assert read_toml(Source("x.toml", "a = 1\n[b]\nc = [2]"), "") == {"a": 1, "b": {"c": [2]}}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a = 1\nb = = 2\n", (2, 5)),
        ("a = 1\na = 2\n", (2, 6)),  # known at the end of the line
        ("é = 1\n", (1, 1)),
    ],
)
def test_an_error_stands_at_its_line_and_column(text: str, place: tuple[int, int]) -> None:
    source = Source("x.toml", text)
    with pytest.raises(PtxError) as caught:
        read_toml(source, "write TOML")
    (found,) = caught.value.diagnostics
    assert (found.code, found.help) == ("E502", "write TOML")
    assert found.message.startswith("not TOML: ")
    assert "(at " not in found.message
    assert source.position(found.start) == place


def test_the_end_of_a_text_is_a_place() -> None:
    source = Source("x.toml", 'a = "open')
    with pytest.raises(PtxError) as caught:
        read_toml(source, "")
    assert caught.value.diagnostics[0].start == len(source.text)


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = 1" + "0" * 5000])
def test_a_value_that_cannot_be_read(text: str) -> None:
    with pytest.raises(PtxError, match="not TOML"):
        read_toml(Source("x.toml", text), "")
