"""Values as short HTML for notebooks: a title, a table, a curve. What `_repr_html_` methods return.

Text colours are the notebook's own (`inherit`, `currentColor`), so that light and dark themes both fit; nothing has an
id, a style sheet or a script. Every text is escaped here, and control characters are made visible: a name cannot act.
"""

from collections.abc import Iterable, Sequence
from html import escape

from ptxtool.base.render import printable

MOST_ROWS = 12
_CELL = "padding:.1em .7em;border-bottom:1px solid rgba(128,128,128,.35);white-space:nowrap;"
_WIDTH, _HEIGHT = 480, 60


def text(value: object) -> str:
    """A value as it may stand in HTML; floats with two places."""
    return escape(
        printable(f"{value:.2f}" if isinstance(value, float) else "" if value is None else str(value))
    )


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """A title and a table; numbers are aligned to the right. Of more than `MOST_ROWS` rows the first are shown."""
    found = list(rows)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in found[:MOST_ROWS])
    head = "".join(f'<th style="{_CELL}text-align:left">{text(column)}</th>' for column in columns)
    more = len(found) - MOST_ROWS
    notes = [note] if note else []
    notes += [f"and {more} more"] if more > 0 else []
    return (
        f"<div><strong>{text(title)}</strong>"
        f'<table style="border-collapse:collapse;margin:.3em 0;color:inherit"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
        f"{''.join(f'<small>{text(each)}</small> ' for each in notes)}</div>"
    )


def _cell(value: object) -> str:
    align = "right" if isinstance(value, int | float) else "left"
    return f'<td style="{_CELL}text-align:{align}">{text(value)}</td>'


def curve(values: Sequence[int], label: str) -> str:
    """The steps of a curve from 0 to its maximum as a picture, 480 x 60; "" for no values."""
    most = max(values, default=0)
    if not most:
        return ""
    points = " ".join(
        f"{(i + side) * _WIDTH / len(values):.1f},{_HEIGHT - value * (_HEIGHT - 4) / most:.1f}"
        for i, value in enumerate(values)
        for side in (0, 1)
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img"'
        f' aria-label="{text(label)}" style="max-width:100%"><polygon points="0,{_HEIGHT} {points} {_WIDTH},{_HEIGHT}"'
        ' fill="currentColor" fill-opacity=".25" stroke="currentColor"/></svg>'
    )
