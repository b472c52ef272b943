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


@pytest.mark.parametrize(
    "text", [".".join("a" * 20_000) + " = 1", "x = { " + "a.b . " * 10_000 + "c = 1 }", f"[{'a.' * 20_000}b]"]
)
def test_a_key_of_many_parts(text: str) -> None:
    with pytest.raises(PtxError, match="a key of more than 100 parts"):
        read_toml(Source("x.toml", f"a = 1\n{text}\n"), "")


@pytest.mark.parametrize("number", ["0x" + "f" * 4000, "9" * 400])
def test_a_number_of_many_digits(number: str) -> None:
    with pytest.raises(PtxError, match="a number of more than 300 digits"):
        read_toml(Source("x.toml", f"a = [1, {number}]\n"), "")


def test_many_fractions_are_no_key() -> None:
    numbers = ", ".join(["1.5"] * 1000)
    assert len(read_toml(Source("x.toml", f"a = [\n{numbers}\n]"), "")["a"]) == 1000


def test_a_byte_order_mark_is_skipped() -> None:
    source = Source.from_bytes("x.toml", b"\xef\xbb\xbfa = 1\nb = = 2")
    with pytest.raises(PtxError) as caught:
        read_toml(source, "")
    assert source.position(caught.value.diagnostics[0].start) == (2, 5)
    assert read_toml(Source.from_bytes("x.toml", b"\xef\xbb\xbfa = 1"), "") == {"a": 1}


def test_bytes_that_are_not_utf_8() -> None:
    """Comments may have them, as files of old editors do."""
    assert read_toml(Source.from_bytes("x.toml", b"a = 1 # caf\xe9"), "") == {"a": 1}
    source = Source.from_bytes("x.toml", b'a = 1\nb = [{ "caf\xe9" = 2 }]')
    with pytest.raises(PtxError, match="a byte that is not UTF-8") as caught:
        read_toml(source, "")
    assert source.position(caught.value.diagnostics[0].start) == (2, 12)
