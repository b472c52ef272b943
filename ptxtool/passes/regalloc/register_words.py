"""The words of an instruction's text that may be registers, and the same text with other words in their place.

For `renaming.py`, which keeps every byte but for the names of registers. Comments and strings are found as well, so
that nothing in them is taken for a word.
"""

import re
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate, repeat

import numpy as np

# a word, or a comment or string, in which words have no meaning; `%` begins a word wherever it stands (`add.u32%r1`)
TOKEN = re.compile(
    r"(//[^\n]*|/\*.*?\*/|\"[^\"]*\"|(?:%|(?<![.\w$%])[$A-Za-z_])[\w$]*)", re.DOTALL | re.ASCII
)
# `$` is matched first and the character before it is tested afterwards: each alternative then begins with
# characters of its own, and the search is a third faster (measured)
MARKED = re.compile(r"(//[^\n]*|/\*.*?\*/|\"[^\"]*\"|%[\w$]+|\$(?<![\w$%]\$)[\w$]+)", re.DOTALL | re.ASCII)


class Words:
    """A part of a text, split into words and gaps between them, to be changed from its end to its beginning.

    Words in `names` are replaced at once. Gap g is the text before word g. Offsets are those of the original text, so
    every change must precede, in the text, the changes before it.
    """

    def __init__(self, text: str, start: int, end: int, pattern: re.Pattern[str], names: Mapping[str, str]):
        pieces = self._pieces = pattern.split(text[start:end])  # every other one is a word
        ends = array("q", accumulate(map(len, pieces), initial=start))  # half of a list's memory
        self._words, self._starts, self._gaps = pieces[1::2], np.array(ends[1:-1:2]), ends[:-1:2]
        pieces[1::2] = map(names.get, self._words, self._words)

    def places(self, starts: Sequence[int], ends: Sequence[int]) -> Sequence[tuple[int, int]]:
        """The first word of parts of the text, and the one after their last."""
        first, last = (np.searchsorted(self._starts, each).tolist() for each in (starts, ends))
        return [*zip(first, last, strict=True)]

    def rename(self, number: int, starts: Sequence[int], names: Mapping[tuple[int, str], str]) -> None:
        """Other names for some words of some statements, which start there and are numbered from a number on."""
        statement = (np.searchsorted(starts, self._starts, side="right") - 1 + number).tolist()
        found = zip(statement, self._words, strict=True)
        self._pieces[1::2] = map(names.get, found, self._pieces[1::2])

    def insert(self, gap: int, offset: int, text: str) -> None:
        """Put a text into a gap."""
        old, at = self._pieces[2 * gap], offset - self._gaps[gap]
        self._pieces[2 * gap] = f"{old[:at]}{text}{old[at:]}"

    def replace(self, first: int, last: int, start: int, end: int, text: str) -> None:
        """Replace some words and the text around them."""
        a, b = 2 * first, 2 * last
        before = self._pieces[a][: start - self._gaps[first]]
        after = self._pieces[b][end - self._gaps[last] :]
        self._pieces[a : b + 1] = [f"{before}{text}{after}", *repeat("", b - a)]

    def text(self) -> str:
        return "".join(self._pieces)
