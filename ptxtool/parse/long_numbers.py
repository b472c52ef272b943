"""Numbers of a thousand digits and more, which are refused before a text is read, except in comments and strings.

No number of the language has more than 64 bits. Python takes quadratic time to read a long one and refuses to print it,
so that every reader of a number would have to think of them.
"""

import re
from collections.abc import Iterator
from functools import cache

from ptxtool.base.diag import error
from ptxtool.base.source import Source
from ptxtool.parse.grammar import terminals

MOST_DIGITS = 1000
_STEP = MOST_DIGITS // 2
_DIGITS = "0123456789ABCDEFabcdefXx"
_SAMPLED = re.compile(f"[{_DIGITS}](?=[{_DIGITS}])")
_BETWEEN = re.compile(f"[{_DIGITS}]{{{_STEP}}}")
_LONG = re.compile(rf"[A-Fa-fXx]*+([0-9][{_DIGITS}]{{{MOST_DIGITS},}})")


def refuse_long_numbers(source: Source) -> None:
    """Raise E101 for the first number of more than `MOST_DIGITS` digits, outside comments and strings."""
    if next(_long_numbers(source.text), None) is None:
        return
    blanked = _comment_or_string().sub(lambda hit: " " * len(hit[0]), source.text)
    for number in _long_numbers(blanked):
        message = f"a number of more than {MOST_DIGITS} digits"
        help = "the largest number has 64 bits: 20 decimal digits"
        raise error("E101", message, source, *number.span(1), help)


def _long_numbers(text: str) -> "Iterator[re.Match[str]]":
    """The first long number of every part of a text that may have one.

    Every 500th character is looked at: such a number has two of them in a row, and what is between them.
    """
    for found in _SAMPLED.finditer(text[::_STEP]):
        at = found.start() * _STEP
        if _BETWEEN.match(text, at):
            before = text[max(0, at - _STEP) : at]
            if number := _LONG.match(text, at - len(before) + len(before.rstrip(_DIGITS))):
                yield number


@cache
def _comment_or_string() -> "re.Pattern[str]":
    known = terminals()
    return re.compile(f"{known['COMMENT'].regex}|{known['STRING'].regex}")
