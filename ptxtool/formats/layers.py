"""Where the keys of a machine are set: in one of the files that it was read from. For `gpu.py`.

A machine is a file laid over those it inherits; each is a `Layer`. Some errors are found when the machine is used, long
after it was read: `placed` finds the place of the key that a message names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.source import Source
from ptxtool.formats.gpgpusim.text import Setting

KeyPlace = tuple[Source, int, int]
_KEY = re.compile(r"[a-z]\w*\.[A-Za-z]\w*")
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\w-]+|[][{},=.\n]',
    re.DOTALL,
)


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
    """Offsets of a key, (0, 0) if the text has none: of its header, or of the last word where a value is set."""
    places = _key_places(source.text)
    in_list = next((n for n, key in enumerate(keys) if key.isdigit() or key == "..."), len(keys))
    return places.get(keys[:in_list], (0, 0))  # an item of a list: its list is place enough


@lru_cache(maxsize=16)  # a machine asks for a few hundred keys of two or three files
def _key_places(text: str) -> dict[tuple[str, ...], tuple[int, int]]:
    """The offsets of every key of a valid TOML text, those of dotted keys, headers and inline tables included."""
    places: dict[tuple[str, ...], tuple[int, int]] = {}
    table: tuple[str, ...] = ()
    inside: list[tuple[str, ...] | None] = []  # inline tables by their key; None for a list
    prefix, key, start, end = table, list[str](), 0, 0
    expects_key, is_header = True, False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word[0] == "#" or word == ".":
            continue
        if not expects_key:
            if word == "{":
                inside.append(tuple(key))
                prefix, key, expects_key = tuple(key), [], True
            elif word == "[":
                inside.append(None)
            elif word in "]}":
                key = list(inside.pop() or key)
            elif (word == "\n" and not inside) or (word == "," and inside and inside[-1] is not None):
                prefix, key, expects_key = (inside[-1] or ()) if inside else table, [], True
        elif word == "[":
            is_header, prefix, key = True, (), []
        elif word == "]":
            table, is_header = tuple(key), False
            places.setdefault(table, (start, end))
        elif word == "=":
            key, expects_key = [*prefix, *key], False
        elif word == "}":
            key, expects_key = list(inside.pop() or ()), False
        elif word == "\n":
            prefix, key = table, []
        elif word != ",":
            start, end = start if is_header and key else token.start(), token.end()
            key.append(word.strip("\"'"))
            if not is_header:
                places.setdefault((*prefix, *key), (start, end))
    return places
