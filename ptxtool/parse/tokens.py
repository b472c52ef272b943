"""The token: what the builders of statements read, whichever lexer made it."""

import msgspec


class Token(msgspec.Struct, frozen=True, gc=False):
    """One token; `kind` is the grammar's terminal, `start` and `end` are offsets into the source text."""

    kind: str
    text: str
    start: int
    end: int
