"""Positions count UTF-16 units and end lines as the protocol does."""

from ptxtool.lsp.positions import Position, Positions


def test_columns_are_utf_16_units() -> None:
    positions = Positions("a\n\U0001f600b\nc")  # an emoji is two units
    assert positions.at(3) == Position(1, 2)
    assert positions.offset(1, 2) == 3
    assert positions.offset(1, 3) == 4


def test_every_kind_of_line_end() -> None:
    positions = Positions("a\rb\r\nc\nd")
    assert [positions.at(k).line for k in (0, 2, 5, 7)] == [0, 1, 2, 3]
    assert positions.offset(2, 0) == 5
    # a form feed and U+2028 end no line
    assert Positions("a\fb\u2028c").at(4) == Position(0, 4)


def test_positions_outside_the_text_are_at_its_ends() -> None:
    positions = Positions("ab\ncd")
    assert positions.offset(0, 99) == 2
    assert positions.offset(9, 0) == 5


def test_an_edit_replaces_what_is_between() -> None:
    assert Positions("ab\ncd").edited(Position(0, 1), Position(1, 1), "X") == "aXd"
