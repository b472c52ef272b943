"""Directives that text of a newer PTX version than the instruction table's may have: read as text, not refused.

For the parser; `ptxtool.sema.hints.newer` reports them. An unknown directive ends with its line or its semicolon,
whichever comes first; one with a block of its own remains an error.
"""

import re

from ptxtool.base.source import Source
from ptxtool.ir.nodes import Directive
from ptxtool.isa.targets import is_newer_text
from ptxtool.parse.grammar import terminals
from ptxtool.parse.specifiers import DECLARABLE, TUNING

_DIRECTIVE = re.compile(r'\.([A-Za-z_]\w*)((?:[^;\n"/{}]|"[^"\n]*"|/(?![/*]))*+);?')


def newer_directive(source: Source, start: int) -> Directive | None:
    """The unknown directive at an offset; None where the text is not newer, or the word is a known one out of place."""
    found = _DIRECTIVE.match(source.text, start)
    if found is None or not is_newer_text(source.text):
        return None
    word = f".{found[1]}"
    if word in TUNING or word in DECLARABLE or re.fullmatch(terminals()["LINKAGE"].regex, word):
        return None
    end = found.end() if found[0].endswith(";") else start + len(found[0].rstrip())
    return Directive(start, end, found[1], found[2].strip())
