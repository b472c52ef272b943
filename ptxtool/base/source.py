"""Source text with a name, and positions in it.

Offsets are indices into `Source.text`; lines and columns are counted from 1. Text read from bytes is decoded
as UTF-8 with surrogate escapes, so that writing it back gives the same bytes whatever a comment holds.
"""

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxtool.base.cuda_places import CudaPlaces


_NEAR = 1 << 13
"""Lines are counted up to an offset before this one, as long as nothing needs the starts of all."""


@dataclass(frozen=True)
class Source:
    """One input text. `name` is what diagnostics print: a path, or "<stdin>", "<string>"."""

    name: str
    text: str = field(repr=False)

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> "Source":
        return cls(name, data.decode("utf-8", "surrogateescape"))

    def to_bytes(self) -> bytes:
        return self.text.encode("utf-8", "surrogateescape")

    @cached_property
    def line_starts(self) -> "array[int]":
        """Offset of the first character of every line."""
        return array("q", chain((0,), (end.end() for end in re.finditer("\n", self.text))))

    @cached_property
    def cuda(self) -> "CudaPlaces":
        """The places in CUDA sources that parts of a PTX text come from."""
        from ptxtool.base.cuda_places import CudaPlaces  # not for commands that ask for no place

        return CudaPlaces(self.text)

    def line(self, offset: int) -> int:
        """Line number, from 1, of an offset."""
        if offset < _NEAR and "line_starts" not in self.__dict__:
            return 1 + self.text.count("\n", 0, offset)
        return bisect_right(self.line_starts, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset."""
        line = self.line(offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a line, without its line end."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")
