"""What the instruction table does not know in a module of a newer PTX version: W201, not an error.

The table ends with the version `NEWEST` (`ptxtool/isa/targets.py`). A module that says a later one may have words,
forms, types, directives, special registers and targets which the table lacks, and nothing near them in the table is a
better guess: each is reported as unknown, without a suggestion.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptxtool.base.diag import Diagnostic
from ptxtool.base.phrases import counted
from ptxtool.ir import nodes
from ptxtool.ir.names import diagnostic_at
from ptxtool.isa import targets
from ptxtool.isa.targets import NEWEST
from ptxtool.parse.hints import directives
from ptxtool.parse.specifiers import DECLARABLE, TUNING

if TYPE_CHECKING:
    from ptxtool.sema.hints.repair import Explanation

_SPECIAL = re.compile(r"%[a-z][a-z0-9]*_\w+|%[a-z]{3,}\w*")
"""Names that a special register may have and registers of compilers (`%r7`, `%rd1`, `%fd3`) have not."""
_READS_SPECIAL = frozenset({"mov", "cvt"})


def is_newer(module: nodes.Module) -> bool:
    """Whether a module's PTX version is above the table's."""
    return not module.is_ptxplus and targets.is_newer(module.version)


def not_in_table(what: str) -> str:
    """The message about a word that the table does not have."""
    return f"{what} is not in the table of PTX {NEWEST[0]}.{NEWEST[1]}"


def next_step(module: nodes.Module) -> str:
    """Where such a word can be looked up."""
    major, minor = module.version
    return f"look it up in the manual of PTX {major}.{minor}, or ask its ptxas"


def explain_newer(module: nodes.Module, text: str, n_operands: int) -> "Explanation":
    """The word of an opcode that the table does not have; the opcode itself where all of its words are known."""
    from ptxtool.sema.hints.explain import forms_of, words_of
    from ptxtool.sema.hints.repair import Explanation

    base, *words = text.split(".")
    forms = forms_of(base)
    known = words_of(forms)
    unknown = next((word for word in words if word not in known), "") if forms else base
    if unknown == base:
        what = f"'{base}'"
    elif unknown:
        what = f"'.{unknown}' of '{base}'"
    elif any(form.min_operands <= n_operands <= form.max_operands for form in forms):
        what = f"'{text}'"
    else:
        what = f"'{text}' with {counted(n_operands, 'operand')}"
    return Explanation(not_in_table(what), next_step(module), unknown)


def may_be_special(text: str, node: nodes.Instruction, operand: nodes.Operand | None) -> bool:
    """Whether an undeclared name may be a special register: it looks like one, and `mov` or `cvt` reads it."""
    is_read = node.opcode.base in _READS_SPECIAL and operand is not None and operand is not node.operands[0]
    return is_read and _SPECIAL.fullmatch(text) is not None


def newer_declarations(module: nodes.Module, *, needs_sizes: bool) -> Iterator[Diagnostic]:
    """The directives, and the types of variables and registers, that the table does not know.

    What an unknown type occupies is unknown too: an error (E212) for a caller that `needs_sizes`.
    """
    if not is_newer(module):
        return
    known = {word.removeprefix(".") for word in (*directives(), *TUNING)}
    for node in _declarations(module):
        if isinstance(node, nodes.Directive):
            word, code, size = node.name, "W201", ""
            is_known = word in known
        else:
            word, code, size = node.type, "E212" if needs_sizes else "W201", ", so its size is unknown"
            is_known = not word or f".{word}" in DECLARABLE
        if not is_known:
            message = not_in_table(f"'.{word}'") + size
            yield diagnostic_at(code, message, module.source, node, f".{word}", next_step(module))


def _declarations(module: nodes.Module) -> Iterator[nodes.Directive | nodes.Declaration]:
    for item in module.items:
        if not isinstance(item, nodes.Function):
            yield item
            continue
        yield from item.returns
        yield from item.params
        yield from item.directives
        inside = (statement for _, statement in item.other_statements)
        yield from (s for s in inside if isinstance(s, nodes.Directive | nodes.Declaration))
