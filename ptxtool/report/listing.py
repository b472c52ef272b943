"""A listing: lines of code with something beside them, as text, and with the code in colour on a terminal."""

from dataclasses import dataclass

from ptxtool.base.render import Line


@dataclass(frozen=True)
class Listing:
    """Lines of (text, style) pieces; the style "code" is PTX or PTXPlus text."""

    lines: tuple[Line, ...]

    def __str__(self) -> str:
        return "\n".join("".join(text for text, _ in line) for line in self.lines)
