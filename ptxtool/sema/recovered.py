"""What is wrong with the meaning of a text that has syntax errors too, for `ptxtool check`: all mistakes in one run.

Only where nothing but single instructions is broken, for then every declaration and label is known. Errors only:
warnings are about what runs after what, and of that a broken instruction is a part.
"""

import re
from collections.abc import Callable

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Module
from ptxtool.isa.table import table
from ptxtool.parse.broken import SyntaxErrors
from ptxtool.sema.module import check_module

_INSTRUCTION = re.compile(r"(?:@!?[\w$%.]+\s+)?([a-z]\w*)")
_MORE_THAN_ONE = re.compile(r"[{}]\s*$|^\s*[.{}]|;\s*\S|(?<!:):(?!:)", re.MULTILINE)
"""In what was passed over: a brace, a directive, a second statement or a label, which later ones may need."""


def check_recovered(
    broken: SyntaxErrors, check: Callable[[Module], tuple[Diagnostic, ...]] = check_module
) -> tuple[Diagnostic, ...]:
    """The errors of what could be read, but for lines that are broken."""
    if broken.rest is None or not all(_is_one_instruction(broken.rest, *span) for span in broken.skipped):
        return ()
    source = broken.rest.source
    reported = {source.line(d.start) for d in broken.diagnostics}
    found = check(broken.rest)
    return tuple(d for d in found if d.is_error and source.line(d.start) not in reported)


def _is_one_instruction(rest: Module, start: int, end: int) -> bool:
    text = rest.source.text[start:end]
    word = _INSTRUCTION.match(text)
    opcodes = {key.partition(".")[0] for key in table().forms}
    return word is not None and word[1] in opcodes and not _MORE_THAN_ONE.search(text)
