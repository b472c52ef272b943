"""Instructions that the file's `.version` or `.target` lacks: too new (W205), or ended (E203); idle words (W208).

The instruction table knows what came when. Each opcode text is reported once, at its first use.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from ptxtool.base.diag import Diagnostic, Fix
from ptxtool.ir.nodes import Instruction, Module
from ptxtool.isa.forms import Since
from ptxtool.isa.table import Match, repeated, table
from ptxtool.isa.targets import has
from ptxtool.sema.hints.explain import missing
from ptxtool.sema.operands.operand_spans import word_span
from ptxtool.sema.version_fix import raised_version


def feature_problems(module: Module) -> Iterator[Diagnostic]:
    """Every opcode of a PTX module that is newer or older than the module says it is."""
    seen: dict[tuple[str, int], Instruction] = {}
    for function in module.functions.values():
        for node in function.instructions:
            seen.setdefault((node.opcode.text, len(node.operands)), node)
    reported: set[str] = set()
    for (text, n), node in seen.items():
        if text in reported:
            continue
        matches = table().matches(text, n, ptxplus=False)
        yield from _idle_word(module, node, matches)
        found = _problem(module, node, matches)
        if found is not None:
            reported.add(text)
            yield found


def _at_word(code: str, message: str, module: Module, node: Instruction, word: str, help: str) -> Diagnostic:
    """A diagnostic at a modifier of an instruction, or at its whole opcode."""
    return Diagnostic(code, message, module.source, *word_span(node, module.source.text, word), help)


def _idle_word(module: Module, node: Instruction, matches: Iterable[Match]) -> Iterator[Diagnostic]:
    """A modifier that ptxas takes and that means nothing: a second time, or '.pred' as a further type."""
    text = node.opcode.text
    word = repeated(text)
    if word:
        message, help = f"'.{word}' stands twice", "it means the same once: remove one of them"
    elif ".pred" in text and not any(
        "pred" in (m.type, m.stype, m.utype, m.vtype, *m.modifiers) for m in matches
    ):
        word, message, help = "pred", f"'.pred' means nothing at '{node.opcode.base}'", "remove it"
    if word and matches:
        found = _at_word("W208", message, module, node, word, help)
        words = text.split(".")
        last = len(words) - 1 - words[::-1].index(word)
        better = ".".join([*words[:last], *words[last + 1 :]])
        yield replace(found, fix=Fix(*word_span(node, module.source.text, ""), better))


def _problem(module: Module, node: Instruction, matches: Iterable[Match]) -> Diagnostic | None:
    """What is wrong under the form that is least wrong, None if one is there."""
    found: list[Diagnostic] = []
    for match in matches:
        one = _gone(module, node, match) or _newer(module, node, match)
        if one is None:
            return None
        found.append(one)
    return min(found, key=lambda d: d.is_error) if found else None


def _gone(module: Module, node: Instruction, match: Match) -> Diagnostic | None:
    until = match.form.until
    number = "".join(c for c in module.target if c.isdecimal())
    if until is None or not number or not match.form.is_gone(module.version, int(number)):
        return None
    major, minor = until.version
    ends = [f"PTX {major}.{minor}"] if major else []
    ends += [f"'sm_{max(until.targets, key=int)}'"] if until.targets else []
    message = f"'{node.opcode.text}' ended with {' and '.join(ends)}"
    return _at_word("E203", message, module, node, "", _replacement(node, module.version, int(number)))


def _replacement(node: Instruction, version: tuple[int, int], target: int) -> str:
    """What to write in place of a form that ended: a modifier more, and perhaps an operand."""
    text, n = node.opcode.text, len(node.operands)
    for count in (n, n + 1):
        words = missing(text, partial(_is_there, n_operands=count, version=version, target=target))
        if words:
            return words + (", and the operand that it brings" if count > n else "")
    return f"'ptxtool isa {node.opcode.base}' lists the forms that replace it, or lower '.version'"


def _is_there(text: str, n_operands: int, version: tuple[int, int], target: int) -> bool:
    matches = table().matches(text, n_operands, ptxplus=False)
    return any(not match.form.is_gone(version, target) for match in matches)


def _newer(module: Module, node: Instruction, match: Match) -> Diagnostic | None:
    words = ["", *match.modifiers, *filter(None, (match.type, match.stype, match.utype, match.vtype))]
    for word in (w for w in words if w in match.form.since):
        lacks = _lacks(match.form.since[word], module.version, module.target)
        if lacks:
            what = f"'.{word}' of '{node.opcode.base}'" if word else f"'{node.opcode.text}'"
            help = f"raise {lacks.split()[0]}' if the machine has it"
            found = _at_word("W205", f"{what} needs {lacks}", module, node, word, help)
            return replace(found, fix=raised_version(module, lacks))
    return None


def _lacks(since: Since, version: tuple[int, int], target: str) -> str:
    """What is missing for a feature: "'.version 7.0'", "'.target sm_80'", "" if nothing is."""
    if version < since.version:
        return f"'.version {since.version[0]}.{since.version[1]}'"
    if since.targets and target and not any(has(target, t) for t in since.targets):
        return " or ".join(f"'.target sm_{t}'" for t in since.targets)
    return ""
