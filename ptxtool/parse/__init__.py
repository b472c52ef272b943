"""Source text to nodes: `parse`, and `parse_with_lark`, the reference that tests compare it with.

Cheap to import: `ptxtool` itself imports this package.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxtool.base.source import Source
    from ptxtool.ir.nodes import Module


def parse(text: str | bytes, name: str = "<string>") -> "Module":
    """Parse a text; diagnostics call it `name`. Raises `PtxError` with all syntax errors of the text."""
    from ptxtool.parse.driver import parse_source

    return parse_source(_source(text, name))


def parse_with_lark(text: str | bytes, name: str = "<string>") -> "Module":
    """Parse with the whole-file LALR parser: the reference, ten times slower, first error only."""
    from ptxtool.parse.whole_file import parse_source

    return parse_source(_source(text, name))


def _source(text: str | bytes, name: str) -> "Source":
    from ptxtool.base.source import Source

    return Source.from_bytes(name, text) if isinstance(text, bytes) else Source(name, text)
