"""What is shown about the word under the cursor, as Markdown.

An opcode: its forms, that of this instruction first, with the versions that have them. A register: its class, where it
is declared, its live range, definitions and uses, and how many registers are live before this instruction. Special
registers, labels, variables and functions: what they are, and their declaration.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ptxtool.base.bits import indices
from ptxtool.base.phrases import counted
from ptxtool.ir.nodes import Function, Instruction
from ptxtool.isa.special import special
from ptxtool.isa.table import table
from ptxtool.lsp.document import Document, instruction_number
from ptxtool.lsp.names import Occurrence
from ptxtool.lsp.navigation import definition, occurrence_at, references
from ptxtool.report.kernels.instructions import form_lines, forms_of
from ptxtool.sema.operands.operand_spans import word_span

_MOST_LINES = 14
"""Lines of forms."""
_MOST_PLACES = 12
"""Lines of definitions or uses that are listed."""
_SCOPES = {
    "lane": "differs between the lanes of a warp",
    "warp": "the same in a warp",
    "cta": "the same in a CTA",
    "sm": "the same on an SM",
    "grid": "the same in the whole launch",
    "time": "changes while the kernel runs",
}


class Hover(NamedTuple):
    """Markdown about the characters from `start` to `end`."""

    start: int
    end: int
    text: str


def hover(document: Document, offset: int) -> Hover | None:
    """What is known about the word at an offset; None where that is nothing."""
    statement = document.statement_at(offset)
    if isinstance(statement, Instruction):
        start, end = word_span(statement, document.text, "")
        if start <= offset <= end:
            return Hover(start, end, _opcode(statement, document))
    name = occurrence_at(document, offset)
    if name is None:
        return None
    function = document.function_at(offset)
    match name.meaning.kind:
        case "register" if function is not None:
            text = _register(document, function, name, statement)
        case "special":
            text = _special(name.meaning.name)
        case _:
            text = _declared(document, name)
    return Hover(name.start, name.end, text)


def _code(lines: Sequence[str]) -> str:
    return "\n".join(["```ptx", *lines, "```"])


def _opcode(node: Instruction, document: Document) -> str:
    module = document.module
    is_plus = module is not None and module.is_ptxplus
    base = node.opcode.base
    matches = table().matches(node.opcode.text, len(node.operands), is_plus)
    chosen = [match.form for match in matches[:1]]
    others = [f for f in forms_of(table(), base) if f not in chosen and f.dialect in ("", _dialect(is_plus))]
    parts: list[str] = []
    if chosen:
        parts.append(_code(form_lines(chosen)))
    elif not others:
        return f"`{base}` is not in the instruction table: it is passed through."
    else:
        parts.append(
            f"No form of `{base}` is `{node.opcode.text}` with {counted(len(node.operands), 'operand')}."
        )
    lines = form_lines(others)
    if lines:
        more = len(lines) - _MOST_LINES
        parts.append(f"Other forms of `{base}`:" if chosen else "Its forms:")
        parts.append(_code(lines[:_MOST_LINES]))
        if more > 0:
            parts.append(f"{counted(more, 'more line')}: `ptxtool isa {base}`")
    return "\n\n".join(parts)


def _dialect(is_plus: bool) -> str:
    return "ptxplus" if is_plus else "ptx"


def _special(name: str) -> str:
    found = special(name)
    assert found is not None
    parts = f", parts {', '.join('.' + p for p in found.parts)}" if found.parts else ""
    return f"`{name}`: special register, `.{found.type}`{parts}; {_SCOPES[found.scope]}."


def _declared(document: Document, name: Occurrence) -> str:
    kind = {"range": "registers"}.get(name.meaning.kind, name.meaning.kind)
    places = references(document, name.start)
    found = definition(document, name.start)
    n_uses = sum(o.role != "declared" for o in places)
    head = f"**{kind}** `{name.meaning.name}`, used {counted(n_uses, 'time')}"
    if not found:
        return head
    line = document.positions.at(found[0].start).line
    text = document.text
    start = text.rfind("\n", 0, found[0].start) + 1
    end = text.find("\n", found[0].end)
    shown = text[start : end if end >= 0 else len(text)].strip()
    function = document.function_at(found[0].start)
    if name.meaning.kind == "function" and function is not None:
        stop = function.body_start if function.body is not None else function.end
        shown = text[function.start : stop].strip()
    return f"{head}; line {line + 1}:\n\n{_code(shown.splitlines()[:_MOST_LINES])}"


def _register(document: Document, function: Function, name: Occurrence, statement: object) -> str:
    registers = function.registers
    # the word is resolved where it stands: blocks may hide outer registers
    n = instruction_number(function, statement) if isinstance(statement, Instruction) else 0
    index = registers.resolve_index(name.meaning.name, n)
    if index < 0:
        return _declared(document, name)
    register = registers[index]
    declared = document.positions.at(register.declaration.start).line + 1
    lines = [
        f"**register** `{register.name}`: `.{register.type}`"
        + (f", vector of {register.vector}" if register.vector > 1 else "")
        + f", class {register.kind}, number {register.sequence_number}; declared in line {declared}",
    ]
    defs = [i for i, step in enumerate(function.def_uses) if index in step.defs]
    uses = [i for i, step in enumerate(function.def_uses) if index in step.uses]
    lines += [f"defined: {_lines(function, defs)}", f"used: {_lines(function, uses)}"]
    found = document.pressure(function)
    if found is not None:
        live = [i for i, bits in enumerate(found.liveness.before_bits) if bits >> index & 1]
        lines.append(f"live before: {_ranges(function, live)}")
        if isinstance(statement, Instruction):
            here = found.liveness.before_bits[n]
            lines.append(
                f"here {'live' if here >> index & 1 else 'not live'}; pressure here: "
                f"{found.curve[n]} 32-bit registers and {counted(found.predicates[n], 'predicate')} live "
                f"({len(indices(here))} names), the kernel's most {found.maximum}"
            )
    return "\n\n".join(lines)


def _lines(function: Function, instructions: Sequence[int]) -> str:
    found = list(dict.fromkeys(function.line(i) for i in instructions))
    if not found:
        return "nowhere"
    shown = ", ".join(map(str, found[:_MOST_PLACES]))
    more = len(found) - _MOST_PLACES
    return f"line{'s' if len(found) > 1 else ''} {shown}" + (f" and {more} more" if more > 0 else "")


def _ranges(function: Function, instructions: Sequence[int]) -> str:
    """Consecutive instructions as ranges of lines."""
    if not instructions:
        return "nowhere"
    runs: list[list[int]] = []
    for i in instructions:
        if runs and i == runs[-1][1] + 1:
            runs[-1][1] = i
        else:
            runs.append([i, i])
    texts = []
    for first, last in runs[:_MOST_PLACES]:
        a, b = function.line(first), function.line(last)
        texts.append(f"{a}" if a == b else f"{a}-{b}")
    more = len(runs) - _MOST_PLACES
    return "lines " + ", ".join(texts) + (f" and {counted(more, 'more range')}" if more > 0 else "")
