"""What may be written at a place: opcodes, their modifiers and types, registers, special registers, labels, directives.

The statement under the cursor is looked at as text, for it is seldom whole. After `add.` the forms of the instruction
table say what may follow; among operands it is what the function declares.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ptxtool.ir.nodes import Declaration, Function, Instruction, Label
from ptxtool.isa.forms import Form
from ptxtool.isa.special import special_registers
from ptxtool.isa.table import table
from ptxtool.isa.types import TYPES
from ptxtool.lsp.document import Document
from ptxtool.parse.hints import directives
from ptxtool.report.kernels.instructions import opcodes

_BEFORE = re.compile(r"[\w$%.:]*\Z")
_HIDDEN = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"[^\"\n]*\"?", re.DOTALL)
_GUARD = re.compile(r"\s*@\s*!?\s*[\w$%.]+\s+")
_LABEL = re.compile(r"\s*[\w$%]+\s*:(?!:)")
_WINDOW = 4000
"""Characters before the cursor that are looked at for the beginning of the statement."""
_SPACES = ("reg", "param", "shared", "local", "global", "const", "tex", "sreg")
_IN_BODY = frozenset(
    {".version", ".target", ".address_size", ".entry", ".func", ".visible", ".extern", ".weak", ".file"}
)
_BRANCHES = ("bra", "brx", "call", "ssy", "callp", "breakaddr")


class Candidate(NamedTuple):
    """One completion. `kind` is "opcode", "modifier", "type", "register", "special", "label", "name" or "directive"."""

    text: str
    kind: str
    detail: str = ""


class Completion(NamedTuple):
    """What may stand in place of the characters from `start` to the cursor."""

    start: int
    candidates: tuple[Candidate, ...]


def complete(document: Document, offset: int) -> Completion:
    """The candidates at an offset, those that begin with what is written there."""
    window = document.text[max(0, offset - _WINDOW) : offset]
    if _is_hidden(window):
        return Completion(offset, ())
    statement = _statement(_HIDDEN.sub(lambda m: " " * len(m[0]), window))
    match = _BEFORE.search(statement)
    written = match[0] if match else ""
    before = statement[: len(statement) - len(written)]
    module = document.module
    is_plus = (
        module.is_ptxplus if module else ".version" in document.text[:400] and "+" in document.text[:400]
    )
    function = document.function_at(offset)
    if not before.strip():
        if written.startswith("."):
            return _from(offset - len(written), written, _directives(function is not None))
        if "." in written:
            word, _, last = written.rpartition(".")
            return _from(offset - len(last), last, modifiers(word.split("."), is_plus))
        return _from(offset - len(written), written, _opcodes(is_plus))
    if written.startswith("."):
        return _from(offset - len(written) + 1, written[1:], _types())
    if "." in written:  # a part: %tid.x
        name, _, last = written.rpartition(".")
        found = special_registers().get(name)
        parts = [Candidate(p, "modifier") for p in (found.parts if found else ())]
        return _from(offset - len(last), last, parts)
    first = before.split()[0].split(".")[0]
    names = list(_names(document, function, first))
    return _from(offset - len(written), written, names)


def _from(start: int, written: str, candidates: Iterable[Candidate]) -> Completion:
    return Completion(start, tuple(c for c in candidates if c.text.startswith(written)))


def _is_hidden(window: str) -> bool:
    """Whether the end of a text is in a comment or string."""
    last = max(_HIDDEN.finditer(window), key=lambda match: match.end(), default=None)
    if last is None or last.end() != len(window):
        return False
    text = last[0]
    if text.startswith("//"):
        return True
    if text.startswith("/*"):
        return len(text) < 4 or not text.endswith("*/")
    return len(text) < 2 or not text.endswith('"')


def _statement(window: str) -> str:
    """The statement that the end of a text belongs to, without a guard or label before it.

    A line that begins like a statement is one, even if the line before has no semicolon yet.
    """
    start = max(window.rfind(c) for c in ";}")
    brace = window.rfind("{")
    if brace > start and "\n" in window[brace:]:  # a block; `{` in a line is a vector
        start = brace
    statement = window[start + 1 :]
    line = statement.rpartition("\n")[2]
    if re.match(r"[ \t]*(?:@|\.?[a-z]*\Z|[a-z]\w*\.)", line) or not statement.strip():
        statement = line
    for pattern in (_LABEL, _GUARD):
        if found := pattern.match(statement):
            statement = statement[found.end() :]
    return statement


def _directives(in_body: bool) -> Iterator[Candidate]:
    known = (*directives(), *(f".{space}" for space in _SPACES))
    for word in sorted(dict.fromkeys(known)):
        if not (in_body and word in _IN_BODY):
            yield Candidate(word, "directive")


def _opcodes(is_plus: bool) -> list[Candidate]:
    wanted = ("", "ptxplus" if is_plus else "ptx")
    forms = table().forms
    known = {key.split(".")[0] for key in forms if any(f.dialect in wanted for f in forms[key])}
    return [Candidate(word, "opcode") for word in opcodes(table()) if word in known]


def _types() -> list[Candidate]:
    return [*(Candidate(name, "type") for name in TYPES), Candidate("v2", "type"), Candidate("v4", "type")]


def modifiers(words: list[str], is_plus: bool) -> list[Candidate]:
    """What may follow an opcode's words after another dot, by the forms that begin so."""
    found: dict[str, Candidate] = {}
    wanted = ("", "ptxplus" if is_plus else "ptx")
    for key, forms in table().forms.items():
        base = key.split(".")
        n = min(len(base), len(words))
        if base[:n] != words[:n]:
            continue
        if len(base) > len(words):  # `cp.` may go on with `async`
            word = base[len(words)]
            found.setdefault(word, Candidate(word, "modifier"))
            continue
        for form in forms:
            if form.dialect in wanted:
                for word, is_type in _next(form, words[len(base) :]):
                    found.setdefault(
                        word, Candidate(word, "type" if is_type else "modifier", _since(form, word))
                    )
    return [*found.values()]


def _next(form: Form, words: list[str]) -> Iterator[tuple[str, bool]]:
    """The words that a form may have after some of its own, and whether each is a type."""
    places = {0}  # groups that may be next
    for word in words:
        places = {k + 1 for start in places for k in _reachable(form, start) if _has(form, k, word)}
    for start in sorted(places):
        for k in _reachable(form, start):
            for word in form.groups[k].alternatives:
                yield word, bool(form.groups[k].slot)


def _reachable(form: Form, start: int) -> Iterator[int]:
    """The groups from one on, up to the first that cannot be left out."""
    for k in range(start, len(form.groups)):
        yield k
        if not form.groups[k].optional:
            return


def _has(form: Form, group: int, word: str) -> bool:
    return word in form.groups[group].alternatives


def _since(form: Form, word: str) -> str:
    since = form.since.get(word) or form.since.get("")
    if since is None or since.version <= (1, 0):
        return ""
    return f"PTX {since.version[0]}.{since.version[1]}"


def _names(document: Document, function: Function | None, opcode: str) -> Iterator[Candidate]:
    """The names that may stand among operands; labels first where the opcode takes them."""
    module = document.module
    if function is not None:
        labels = [Candidate(s.name, "label") for _, s in function.other_statements if isinstance(s, Label)]
        registers = [Candidate(name, "register", f".{kind}") for name, kind in _registers(function).items()]
        yield from (*labels, *registers) if opcode in _BRANCHES else (*registers, *labels)
        own = (s for _, s in function.other_statements if isinstance(s, Declaration) and s.space != "reg")
        for declaration in (*function.params, *function.returns, *own):
            if declaration.space != "reg":
                yield from (
                    Candidate(d.name, "name", f".{declaration.space}") for d in declaration.declarators
                )
    if module is not None:
        for name, declaration in module.variables.items():
            yield Candidate(name, "name", f".{declaration.space}")
        yield from (Candidate(name, "name", f".{f.kind}") for name, f in module.functions.items())
    for name, register in special_registers().items():
        yield Candidate(name, "special", f".{register.type}")


def _registers(function: Function) -> dict[str, str]:
    """The registers that the text names, and those declared one by one, with their types."""
    found: dict[str, str] = {}
    for _, statement in function.other_statements:
        if isinstance(statement, Declaration) and statement.space == "reg":
            found |= {d.name: statement.type for d in statement.declarators if d.count is None}
    used = {k for step in function.def_uses for k in step.touched} if _is_short(function) else ()
    registers = function.registers
    for k in sorted(used):
        found.setdefault(registers[k].name, registers[k].type)
    for _, statement in function.other_statements:
        if isinstance(statement, Declaration) and statement.space == "reg":
            for d in statement.declarators:
                if d.count:  # the next of a range may be new
                    found.setdefault(d.name, f"{statement.type}, a range of {d.count}")
    return found


def _is_short(function: Function) -> bool:
    return sum(type(s) is Instruction for s in function.body or ()) < 50_000
