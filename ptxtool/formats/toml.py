"""The TOML of a user's file: errors are reported at their place. For GPU files and launch files."""

import re
import tomllib
from typing import Any

from ptxtool.base.diag import error
from ptxtool.base.source import Source

_PLACE = re.compile(r"line (\d+), column (\d+)")
_LONG_KEY = re.compile(r"""(?<![\w-])(?:[\w\-"']++[ \t]*+\.[ \t]*+){100}""")
_LONG_NUMBER = re.compile(r"\b(?:0[xob][0-9a-fA-F_]{300}|[0-9][0-9_]{300})")
_BYTE_ORDER_MARK = "\ufeff"


def _has_mark(source: Source) -> bool:
    return source.text.startswith(_BYTE_ORDER_MARK)


def read_toml(source: Source, advice: str) -> dict[str, Any]:
    """The tables of a text. Raises E502 at the line and column of the TOML reader's message.

    A byte order mark is skipped, as Windows editors write one. Keys of many parts and numbers of many digits are
    refused: for them the reader takes quadratic time, and recurses.
    """
    for pattern, what in (
        (_LONG_KEY, "a key of more than 100 parts"),
        (_LONG_NUMBER, "a number of more than 300 digits"),
    ):
        if found := pattern.search(source.text):
            raise error(
                "E502",
                f"not TOML that is read here: {what}",
                source,
                found.start(),
                found.start() + 1,
                advice,
            )
    try:
        return tomllib.loads(
            source.text.replace(_BYTE_ORDER_MARK, " ", 1) if _has_mark(source) else source.text
        )
    except tomllib.TOMLDecodeError as problem:
        text = str(problem)
        place = _PLACE.search(text)
        start = source.line_starts[int(place[1]) - 1] + int(place[2]) - 1 if place else len(source.text)
        message = re.sub(r"\s*\(at .*\)$", "", text)
        what = f"not TOML: {message[:1].lower()}{message[1:]}"
        raise error("E502", what, source, start, start + 1, advice) from None
    except (ValueError, RecursionError):
        raise error("E502", "not TOML: a value that cannot be read", source, help=advice) from None
