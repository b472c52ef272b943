"""Source text to nodes: `parse`, and `parse_with_lark`, the reference it is held to."""

from ptxtool.base.callable_module import make_callable
from ptxtool.base.source import Source
from ptxtool.ir.nodes import Module


def parse(text: str | bytes, name: str = "<string>") -> Module:
    """Parse a PTX or PTXPlus file. Raises `PtxError` with every syntax error of the file."""
    from ptxtool.parse.driver import parse_source

    return parse_source(source_of(text, name))


def parse_with_lark(text: str | bytes, name: str = "<string>") -> Module:
    """Parse with the whole-file LALR parser: the reference, ten times slower, first error only."""
    from ptxtool.parse.whole_file import parse_source

    return parse_source(source_of(text, name))


def source_of(text: str | bytes, name: str) -> Source:
    return Source.from_bytes(name, text) if isinstance(text, bytes) else Source(name, text)


make_callable(__name__)  # `ptxtool.parse(...)` is the function
