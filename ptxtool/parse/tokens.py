"""The token: what the builders of statements read, whichever lexer made it."""

from typing import NamedTuple


class Token(NamedTuple):
    """One token; `kind` is the grammar's terminal, `start` and `end` are offsets into the source text."""

    kind: str
    text: str
    start: int
    end: int
