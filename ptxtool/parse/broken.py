"""A text with syntax errors: what they are, and what could be read in spite of them, for checks of the rest.

A broken instruction is passed over, the statements around it are whole: what they mean can be checked, so that one run
finds mistakes of both kinds. Where more is broken (a declaration, a head, braces) names and scopes are in doubt, and
what the rest means would be guessed.
"""

from collections.abc import Iterable

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.ir.nodes import Module


class SyntaxErrors(PtxError):
    """The syntax errors of a text.

    `rest` is the module without the statements that hold them, None where more than statements of bodies are
    broken; `skipped` is where those statements stand.
    """

    def __init__(
        self, diagnostics: Iterable[Diagnostic], rest: Module | None, skipped: Iterable[tuple[int, int]]
    ):
        super().__init__(diagnostics)
        self.rest = rest
        self.skipped = tuple(skipped)
