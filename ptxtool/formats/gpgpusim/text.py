"""The text of GPGPU-Sim's configuration files: options and values with their places. For `machine.py`.

A `gpgpusim.config` is words: `-option value`; a value in double quotes may hold spaces and line ends; `#` begins a
comment; `-config FILE` stands for the text of another file. What is given last counts. The network's file (`.icnt`)
is lines `key = value;` with `//` comments.

Reference: GPGPU-Sim manual, "Simulation configuration"; the rules for words are those of GPGPU-Sim's option parser.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ptxtool.base.diag import PtxError, error
from ptxtool.base.source import Source
from ptxtool.formats.files import read_source

_WORD = re.compile(r'"[^"]*"?|\S+')
_OPTION = re.compile(r"-[A-Za-z]")
_NEXT_LINE = re.compile(r"\n\s*-[A-Za-z]")
_ENTRY = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*([^;\n]*?)[ \t]*;", re.MULTILINE)


@dataclass(frozen=True)
class Setting:
    """One option as a file gives it: `name` without its hyphen, and where name and value stand."""

    name: str
    value: str
    source: Source
    start: int
    value_start: int
    end: int

    def error(self, message: str, help: str) -> PtxError:
        """E502 at the value."""
        return error("E502", message, self.source, self.value_start, self.end, help)

    def wrong(self, help: str, what: str = "") -> PtxError:
        """E502 at the value, with a message such as "'-OPTION' has no result FIFO"; by default it quotes the value."""
        return self.error(f"'-{self.name}' " + (what or f"is '{self.value}'"), help)

    @property
    def line(self) -> int:
        return self.source.line(self.start)


def read_settings(path: Path, inside: tuple[Path, ...] = ()) -> tuple[Setting, ...]:
    """The options of a file in its order, those of `-config` files in their places. Raises E501, E502."""
    source = config_source(path)
    text = _without_comments(source.text, "#")
    words = list(_WORD.finditer(text))
    found: list[Setting] = []
    k = 0
    while k < len(words):
        word = words[k]
        start, end = word.span()
        if not _OPTION.match(word.group()):
            advice = (
                "an option begins with a hyphen, and its value follows it; a value with spaces needs quotes"
            )
            raise error("E502", f"'{word.group()}' is no option", source, start, end, advice)
        name = word.group()[1:]
        following = words[k + 1] if k + 1 < len(words) else None
        if following is None or _OPTION.match(following.group()):  # a switch by itself is on
            found.append(Setting(name, "1", source, start, start, end))
            k += 1
            continue
        setting = _setting(name, following, source, start)
        k += 2
        if name == "config":
            found += _included(setting, path, inside)
        else:
            found.append(setting)
    return tuple(found)


def read_network(path: Path) -> Mapping[str, Setting]:
    """The entries of a network file by key. Raises E501."""
    source = config_source(path)
    text = _without_comments(source.text, "//")
    return {
        found.group(1): Setting(
            found.group(1), found.group(2), source, found.start(1), found.start(2), found.end(2)
        )
        for found in _ENTRY.finditer(text)
    }


def _setting(name: str, word: re.Match[str], source: Source, start: int) -> Setting:
    text, (value_start, end) = word.group(), word.span()
    if text.startswith('"'):
        if len(text) < 2 or not text.endswith('"') or _NEXT_LINE.search(text):
            raise error(
                "E502",
                f"the quotes of '-{name}' do not end",
                source,
                value_start,
                value_start + 1,
                "close them after the value",
            )
        text = text[1:-1]
    return Setting(name, " ".join(text.split()), source, start, value_start, end)


def _included(setting: Setting, path: Path, inside: tuple[Path, ...]) -> tuple[Setting, ...]:
    other = path.parent / setting.value
    chain = (*inside, path.resolve())
    if other.resolve() in chain:
        raise setting.error(f"'{setting.value}' leads back to itself", "break the circle")
    try:
        return read_settings(other, chain)
    except PtxError as problem:
        first = problem.diagnostics[0]
        if first.source is not None:
            raise
        raise setting.error(first.message, first.help) from None


def config_source(path: Path) -> Source:
    """The text of a file. Raises E501."""
    return read_source(path, "give a readable file")


def _without_comments(text: str, mark: str) -> str:
    """The text with blanks in the place of comments, so that offsets stay."""
    return re.sub(re.escape(mark) + r"[^\n]*", lambda found: " " * len(found.group()), text)
