"""Where the keys of a machine are set: in one of the files that it was read from. For `gpu.py`.

A machine is a file laid over those it inherits; each is a `Layer`. Some errors are found when the machine is used, long
after it was read: `placed` finds the place of the key that a message names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.source import Source
from ptxtool.formats.gpgpusim.text import Setting

KeyPlace = tuple[Source, int, int]
_KEY = re.compile(r"[a-z]\w*\.[A-Za-z]\w*")


@dataclass(frozen=True)
class Layer:
    """One file of a machine. `settings` are the keys of a GPGPU-Sim file with the options that gave them."""

    source: Source
    settings: Mapping[str, Setting] | None = None

    def find(self, keys: tuple[str, ...]) -> KeyPlace | None:
        """Where a key is set, None if it is not; a place that ends at 0 for an option's default."""
        if self.settings is not None:
            given = self.settings.get(".".join(keys))
            return (given.source, given.value_start, given.end) if given else None
        start, end = locate(self.source, keys)
        return (self.source, start, end) if end else None


@dataclass(frozen=True)
class GpuFiles:
    """The files that a machine was read from, its own first. No part of what the machine is: all are equal."""

    layers: tuple[Layer, ...] = field(compare=False, repr=False)

    def find(self, keys: tuple[str, ...]) -> KeyPlace | None:
        """Where a key is set: in the first of the files that has it."""
        return next(filter(None, (layer.find(keys) for layer in self.layers)), None)

    def placed(self, problem: PtxError, name: str) -> PtxError:
        """The same errors, those that name a key of machine `name` with its place, which then stands for the name."""
        return PtxError(self._placed(each, name) for each in problem.diagnostics)

    def _placed(self, diagnostic: Diagnostic, name: str) -> Diagnostic:
        message = diagnostic.message.removeprefix(f"{name}: ")
        for key in _KEY.findall(f"{message} {diagnostic.help}"):
            place = None if diagnostic.source else self.find(tuple(key.split(".")))
            if place and place[2]:
                return replace(diagnostic, message=message, source=place[0], start=place[1], end=place[2])
        return diagnostic


def locate(source: Source, keys: tuple[str, ...]) -> tuple[int, int]:
    """Offsets of the last word of a dotted key, (0, 0) if the text has none: under its header, or inline."""
    found, start, end, depth = (0, 0), 0, len(source.text), 0
    for n in range(len(keys), 0, -1):
        dotted = r"\s*\.\s*".join(map(re.escape, keys[:n]))
        header = re.compile(rf"^\s*\[\s*({dotted})\s*\]", re.M).search(source.text)
        if header:
            following = re.compile(r"^\s*\[", re.M).search(source.text, header.end())
            found, start, depth = header.span(1), header.end(), n
            end = following.start() if following else end
            break
    for key in keys[depth:]:
        if key.isdigit() or key == "...":  # an item of a list: its list is place enough
            break
        hit = re.compile(rf"(?:^\s*|[{{,.]\s*)({re.escape(key)})\s*[=.]", re.M).search(
            source.text, start, end
        )
        if hit is None:
            return 0, 0
        found, start = hit.span(1), hit.end()
    return found
