"""The TOML of a user's file: errors are reported at their place. For GPU files and launch files."""

import re
import tomllib
from typing import Any

from ptxtool.base.diag import error
from ptxtool.base.source import Source

_PLACE = re.compile(r"line (\d+), column (\d+)")


def read_toml(source: Source, advice: str) -> dict[str, Any]:
    """The tables of a text. Raises E502 at the line and column of the TOML reader's message."""
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as problem:
        text = str(problem)
        place = _PLACE.search(text)
        start = source.line_starts[int(place[1]) - 1] + int(place[2]) - 1 if place else len(source.text)
        message = re.sub(r"\s*\(at .*\)$", "", text)
        what = f"not TOML: {message[:1].lower()}{message[1:]}"
        raise error("E502", what, source, start, start + 1, advice) from None
    except (ValueError, RecursionError):
        raise error("E502", "not TOML: a value that cannot be read", source, help=advice) from None
