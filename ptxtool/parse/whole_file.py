"""The reference parser: Lark over the whole file at once.

Used by tests, which hold the per-statement parser to it, and by the benchmark. It reports the first error only.
"""

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.ir.nodes import Module
from ptxtool.parse import diagnose
from ptxtool.parse.grammar import is_ptx, lark_parse
from ptxtool.parse.long_numbers import refuse_long_numbers
from ptxtool.parse.operands import TooDeep


def parse_source(source: Source) -> Module:
    """Parse a whole source. Raises `PtxError` with one diagnostic."""
    import lark

    refuse_long_numbers(source)
    start, end = diagnose.text_start(source), len(source.text)
    try:
        items = lark_parse(source, "module" if is_ptx(source, start) else "plus_module", start, end)
    except lark.UnexpectedInput as found:
        raise PtxError(diagnose.syntax_error(source, found, start, end, True)[0]) from None
    except TooDeep:
        raise PtxError(diagnose.too_deep(source, start, end)) from None
    if not items:
        raise PtxError(diagnose.nothing_there(source))
    return Module(source, tuple(items))
