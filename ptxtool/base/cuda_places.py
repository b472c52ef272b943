"""The places in CUDA sources that a text's instructions come from, by its `.loc` directives.

`.loc FILE LINE COLUMN` holds for all instructions after it, up to the next one of the function; FILE is the number of a
`.file` directive. Code of an inlined function has the place where it was written and, by `inlined_at FILE LINE COLUMN`,
that of the call; the call is itself inlined where the last `.loc` of its place before it says so. nvcc writes these
directives with `-lineinfo`. The text is searched, not parsed, so that diagnostics about broken texts have places too.

Reference: PTX ISA, debugging directives (`.loc`, `.file`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+"([^"\n]*)"', re.MULTILINE)
_LOC = re.compile(r"^[ \t]*\.loc[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+)([^\n]*)|\.(?:entry|func)\b", re.MULTILINE)
_CALL = re.compile(r"\binlined_at\s+(\d+)\s+(\d+)\s+(\d+)")
_MOST_CALLS = 16
"""Deeper chains of inlined calls are cut."""


@dataclass(frozen=True)
class CudaPlace:
    """A line of a CUDA source, and where its function was inlined, if it was. `path` is as `.file` has it."""

    path: str
    line: int
    inlined_at: "CudaPlace | None" = None

    @property
    def name(self) -> str:
        """`k.cu:12`, the file without its folders."""
        return f"{PurePosixPath(self.path.replace(chr(92), '/')).name}:{self.line}"

    @property
    def calls(self) -> "tuple[CudaPlace, ...]":
        """The places of the calls that were inlined, the innermost first."""
        return (self.inlined_at, *self.inlined_at.calls) if self.inlined_at else ()

    def __str__(self) -> str:
        """`vector.cuh:3 (inlined at k.cu:12)`."""
        calls = ", ".join(call.name for call in self.calls)
        return f"{self.name} (inlined at {calls})" if calls else self.name

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        calls = [call.name for call in self.calls]
        return {"cuda": self.name, **({"cuda_inlined_at": calls} if calls else {})}


class CudaPlaces:
    """The places of one text."""

    def __init__(self, text: str):
        self._offsets: list[int] = []
        self._places: list[CudaPlace | None] = []
        if ".loc" in text:
            files = dict(_FILE.findall(text))
            for offset, place in _places(text, files):
                self._offsets.append(offset)
                self._places.append(place)

    def at(self, offset: int) -> CudaPlace | None:
        """The place of what stands at an offset; None before a function's first `.loc`, and for the compiler's code."""
        k = bisect_right(self._offsets, offset)
        return self._places[k - 1] if k else None


def _places(text: str, files: dict[str, str]) -> Iterator[tuple[int, CudaPlace | None]]:
    """The offsets from which a place holds; None where a function begins, and for line 0."""
    last: dict[tuple[str, ...], CudaPlace] = {}
    for found in _LOC.finditer(text):
        if found[1] is None:
            last.clear()
            yield found.start(), None
            continue
        call = _CALL.search(found[4])
        outer = None
        if call is not None:
            outer = last.get(call.groups()) or CudaPlace(files.get(call[1], call[1]), int(call[2]))
            if len(outer.calls) >= _MOST_CALLS:
                outer = CudaPlace(outer.path, outer.line)
        place = CudaPlace(files.get(found[1], found[1]), int(found[2]), outer)
        last[found.groups()[:3]] = place
        yield found.start(), place if place.line else None
