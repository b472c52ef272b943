"""A listing: lines of code with something beside them, as text, and with the code in colour on a terminal.

`Part` is what a report is made of: a list of tables, listings and texts, each of which has a `str`.
"""

from dataclasses import dataclass

from ptxtool.base.render import Line
from ptxtool.report.tables import TextTable


@dataclass(frozen=True)
class Listing:
    """Lines of (text, style) pieces; the style "code" is PTX or PTXPlus text."""

    lines: tuple[Line, ...]

    def __str__(self) -> str:
        return "\n".join("".join(text for text, _ in line) for line in self.lines)


Part = TextTable | Listing | str
