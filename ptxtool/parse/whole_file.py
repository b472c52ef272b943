"""The reference parser: Lark over the whole file at once.

Used by tests, which hold the per-statement parser to it, and by the benchmark. It reports the first error only.
"""

from ptxtool.base.diag import error
from ptxtool.base.source import Source
from ptxtool.ir.nodes import Module
from ptxtool.parse.grammar import lark_parser
from ptxtool.parse.operands import TooDeep


def parse_source(source: Source) -> Module:
    """Parse a whole source. Raises `PtxError` with one diagnostic."""
    import lark

    parser = lark_parser()
    parser.options.transformer.start(source)
    try:
        items = parser.parse(source.text, start="module")
    except lark.UnexpectedInput as found:
        start = found.pos_in_stream if found.pos_in_stream is not None else len(source.text)
        raise error("E101", "syntax error", source, start, start + 1) from None
    except TooDeep:
        raise error("E101", "operand nested too deeply", source) from None
    return Module(source, tuple(items))  # type: ignore[arg-type]  # the builder's module() gives items
