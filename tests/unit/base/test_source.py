"""Positions in a source text, and bytes that are kept whatever they are."""

import pytest

from ptxtool.base.source import Source

TEXT = Source("k.ptx", "ab\r\n\ncd\n")


@pytest.mark.parametrize(
    ("offset", "position"),
    [(0, (1, 1)), (1, (1, 2)), (3, (1, 4)), (4, (2, 1)), (5, (3, 1)), (7, (3, 3)), (8, (4, 1))],
)
def test_lines_and_columns_count_from_1(offset: int, position: tuple[int, int]) -> None:
    assert TEXT.position(offset) == position
    assert TEXT.line(offset) == position[0]


def test_the_text_of_a_line_has_no_line_end() -> None:
    assert [TEXT.line_text(line) for line in (1, 2, 3, 4)] == ["ab", "", "cd", ""]
    assert Source("", "one\ntwo").line_text(2) == "two"


@pytest.mark.parametrize("data", [b"// caf\xe9\n", b"\xff\xfe\x00", "// Größe\n".encode(), b"a\r\nb\rc"])
def test_bytes_come_back_as_they_were(data: bytes) -> None:
    assert Source.from_bytes("k.ptx", data).to_bytes() == data


def test_a_letter_of_two_bytes_is_one_column() -> None:
    assert Source.from_bytes("k.ptx", "ö x".encode()).position(2) == (1, 3)


def test_lines_are_counted_alike_before_and_after_their_starts_are_known() -> None:
    text = "".join(
        f"{'x' * (k % 7)}\n" for k in range(4000)
    )  # beyond the offsets up to which lines are counted
    counted, known = Source("", text), Source("", text)
    assert len(known.line_starts) == 4001
    offsets = [*range(40), 8190, 8191, 8192, 8193, len(text)]
    assert [counted.line(k) for k in offsets] == [known.line(k) for k in offsets]
