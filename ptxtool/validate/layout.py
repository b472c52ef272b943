"""Re-prove that only the layout of a file changed: same statements, same comments, each in the same order.

The text that `ptxtool.emit.layout` generated is parsed and its nodes are compared with those of the original, offsets
left out; of directives, whose node holds text, the tokens count. Comments are compared as texts, without blanks at
their end and the kind of line ends. The layout's own rules are not used.
"""

import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import zip_longest

from ptxtool.base.diag import Diagnostic
from ptxtool.emit.pieces import pieces
from ptxtool.ir.nodes import Function, Item, Module, Statement
from ptxtool.parse.grammar import terminals
from ptxtool.validate.functions import same_statement, same_words, wrong

_HELP = "the file was left as it is; this is a bug in ptxtool: please report it with the file"


def check_only_layout_changed(before: Module, after: Module) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `before`, for what a layout changed that it may not; () if nothing."""
    return (*_items(before, after), *_comments(before, after))[:1]


def _items(before: Module, after: Module) -> Iterator[Diagnostic]:
    for old, new in zip_longest(before.items, after.items):
        if isinstance(old, Function) and isinstance(new, Function):
            yield from _functions(old, new)
        elif old is None or new is None or not _same(old, new):
            yield _changed(before, old or before.items[-1])


def _functions(old: Function, new: Function) -> Iterator[Diagnostic]:
    heads = [(f.kind, f.name, f.linkage, f.body is None) for f in (old, new)]
    parts = ((old.params, new.params), (old.returns, new.returns), (old.directives, new.directives))
    if heads[0] != heads[1] or any(len(a) != len(b) or not all(map(_same, a, b)) for a, b in parts):
        yield _changed(old.module, old)
    for a, b in zip_longest(old.body or (), new.body or ()):
        if a is None or b is None or not _same(a, b):
            yield _changed(old.module, a or old)
            return


def _same_words(a: str, b: str) -> bool:
    # debug sections are long: blanks outside strings need no lexer
    return a == b or ('"' not in a and same_words(a, b)) or _tokens(a) == _tokens(b)


def _tokens(text: str) -> list[str]:
    return [piece.text for piece in pieces(text, 0, len(text)) if piece.kind != "comment"]


_same = partial(same_statement, same_text=_same_words)


@cache
def _comment() -> "re.Pattern[str]":
    return re.compile(f"{terminals()['STRING'].regex}|({terminals()['COMMENT'].regex})")


def _comments(before: Module, after: Module) -> Iterator[Diagnostic]:
    old, new = (
        [match for match in _comment().finditer(module.source.text) if match[1]] for module in (before, after)
    )
    for a, b in zip_longest(old, new):
        if a is None or b is None or _plain(a[1]) != _plain(b[1]):
            start, end = a.span() if a else (0, 0)
            yield Diagnostic("E303", "the layout would change this comment", before.source, start, end, _HELP)
            return


def _plain(comment: str) -> str:
    return comment.replace("\r\n", "\n").rstrip()


def _changed(module: Module, node: Item | Statement) -> Diagnostic:
    return wrong("the layout would change what this means", module.source, node, _HELP)
