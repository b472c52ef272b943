"""The TOML of a user's file: errors are reported at their place. For GPU files and launch files."""

import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ptxtool.base.diag import error
from ptxtool.base.source import Source

_PLACE = re.compile(r"line (\d+), column (\d+)")
_LONG_KEY = re.compile(r"""(?<![\w-])(?:[\w\-"']++[ \t]*+\.[ \t]*+){100}""")
_LONG_NUMBER = re.compile(r"\b(?:0[xob][0-9a-fA-F_]{300}|[0-9][0-9_]{300})")
_BYTE_ORDER_MARK = "\ufeff"
_NOT_UTF8 = re.compile(r"[\ud800-\udfff]")
"""What `Source` has in place of bytes that are no UTF-8; only comments may have them."""


def _has_mark(source: Source) -> bool:
    return source.text.startswith(_BYTE_ORDER_MARK)


def read_toml(source: Source, advice: str) -> dict[str, Any]:
    """The tables of a text. Raises E502 at the line and column of the TOML reader's message.

    A byte order mark is skipped, as Windows editors write one. Keys of many parts and numbers of many digits are
    refused: for them the reader takes quadratic time, and recurses.
    """
    has_long_key = any(line.count(".") >= 100 for line in source.text.splitlines())  # or seems to
    for pattern, what, is_possible in (
        (_LONG_KEY, "a key of more than 100 parts", has_long_key),
        (_LONG_NUMBER, "a number of more than 300 digits", True),
    ):
        if is_possible and (found := pattern.search(source.text)):
            raise error(
                "E502",
                f"not TOML that is read here: {what}",
                source,
                found.start(),
                found.start() + 1,
                advice,
            )
    try:
        read = tomllib.loads(
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
    if (found := _NOT_UTF8.search(source.text)) and any(map(_NOT_UTF8.search, _strings(read))):
        raise error("E502", "not TOML: a byte that is not UTF-8", source, *found.span(), advice)
    return read


def _strings(value: Any) -> Iterator[str]:
    """The keys and strings in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in chain(value, value.values()) if isinstance(value, dict) else value:
            yield from _strings(item)
