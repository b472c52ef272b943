"""Numbers of a thousand digits and more, which are refused before a text is read.

No number of the language has more than 64 bits. Python takes quadratic time to read a long one and refuses to print it,
so that every reader of a number would have to think of them.
"""

import re

from ptxtool.base.diag import error
from ptxtool.base.source import Source

MOST_DIGITS = 1000
_STEP = MOST_DIGITS // 2
_SAMPLED = re.compile(r"[0-9A-Fa-fxX]{2,}")
_LONG = re.compile(rf"[0-9][0-9A-Fa-fxX]{{{MOST_DIGITS},}}")


def refuse_long_numbers(source: Source) -> None:
    """Raise E101 for the first number of more than `MOST_DIGITS` digits, wherever it stands.

    Every 500th character is looked at: such a number has two of them in a row.
    """
    for found in _SAMPLED.finditer(source.text[::_STEP]):
        start, end = max(0, (found.start() - 1) * _STEP), (found.end() + 1) * _STEP
        if number := _LONG.search(source.text, start, end):
            message = f"a number of more than {MOST_DIGITS} digits"
            help = "the largest number has 64 bits: 20 decimal digits"
            raise error("E101", message, source, number.start(), number.end(), help)
