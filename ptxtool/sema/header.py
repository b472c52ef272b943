"""The head of a file: `.version`, `.target` and `.address_size`, in this order, once, with valid values.

Reference: PTX ISA, section 11.1 (PTX module directives).
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from ptxtool.base.diag import Diagnostic, Note
from ptxtool.base.phrases import did_you_mean
from ptxtool.ir.names import span_of_word
from ptxtool.ir.nodes import Directive, Item, Module
from ptxtool.isa.targets import FIRST_VERSION, OPTIONS, exists, first_version
from ptxtool.sema.hints.newer import is_newer, next_step, not_in_table
from ptxtool.sema.version_fix import raised_version

_VERSION = re.compile(r"(\d+)\.(\d+)")
_HEAD = ("version", "target", "address_size")


def character_problems(module: Module) -> Iterator[Diagnostic]:
    """The first character that is no ASCII: ptxas refuses a file for one, even in a comment."""
    text = module.source.text
    found = None if text.isascii() else re.search(r"[^\x00-\x7f]", text)
    if found is not None:
        message = f"'{found[0]}' is no ASCII character, and ptxas reads no others, not even in comments"
        help = "write comments and names of files in ASCII before the file is assembled"
        yield Diagnostic("W209", message, module.source, *found.span(), help)


def header_problems(module: Module) -> Iterator[Diagnostic]:
    """What is wrong with the directives at the head of a module."""
    place = 0  # the next of `_HEAD` that may come
    for item in module.items:
        name = item.name if isinstance(item, Directive) else ""
        if name not in _HEAD:
            if place < 2:
                yield _missing(module, item, _HEAD[place])
                place = 2
            place = 3
            continue
        assert isinstance(item, Directive)
        at = _HEAD.index(name)
        if at > place and place < 2:
            if module.directive(_HEAD[place]) is None:  # else it is reported at its own place
                yield _missing(module, item, _HEAD[place])
        elif at < place:
            first = next(i for i in module.items if isinstance(i, Directive) and i.name == name)
            wrong = "stands twice" if first is not item else "is not at the head of the file"
            message = f"'.{name}' {wrong}"
            help = "a file begins with '.version', '.target' and '.address_size', each once"
            yield _problem(module, item, message, help)
        yield from _value_problems(module, item)
        place = max(place, at + 1)
    if place < 2 and module.items:
        yield _missing(module, module.items[-1], _HEAD[place])


def file_problems(module: Module) -> Iterator[Diagnostic]:
    """Source files with a number that another one has."""
    first: dict[str, Directive] = {}
    for item in module.items:
        if isinstance(item, Directive) and item.name == "file":
            number = item.text.split()[0]
            before = first.setdefault(number, item)
            if before is not item:
                note = Note("the first is here", module.source, before.start, before.end)
                message, help = f"two files have the number {number}", "'.loc' needs a number for each"
                yield Diagnostic("E213", message, module.source, item.start, item.end, help, note)


def _missing(module: Module, item: Item, name: str) -> Diagnostic:
    target = ".target sm_10, map_f64_to_f32" if module.is_ptxplus else ".target sm_80"
    example = {"version": ".version 8.0", "target": target}[name]
    message = f"no '.{name}' at the head of the file"
    order = "first" if name == "version" else "after '.version'"
    end = min(item.end, module.source.text.find("\n", item.start) % (len(module.source.text) + 1))
    help = f"write '{example}' {order}"
    return Diagnostic("E213", message, module.source, item.start, max(end, item.start), help)


def _problem(
    module: Module, item: Directive, message: str, help: str, word: str = "", code: str = "E213"
) -> Diagnostic:
    """A problem of a directive, at a word of its value if there is one."""
    after_name = item.start + 1 + len(item.name)
    span = span_of_word(module.source.text, after_name, item.end, word) if word else (item.start, item.end)
    return Diagnostic(code, message, module.source, *span, help)


def _value_problems(module: Module, item: Directive) -> Iterator[Diagnostic]:
    if item.name == "address_size":
        if item.text not in ("32", "64"):
            message = f"there are no addresses of {item.text} bits"
            yield _problem(module, item, message, "write '.address_size 64', or 32", item.text)
    elif item.name == "version":
        found = _VERSION.match(item.text)
        if found and not exists((int(found[1]), int(found[2]))):
            help = (
                "the PTX ISA's release notes list the versions: 1.0 to 1.5, 2.0 to 2.3, ..., 8.0 to 8.8, 9.0"
            )
            yield _problem(module, item, f"there is no PTX version {found[0]}", help, found[0])
        elif found and is_newer(module):
            message = not_in_table(f"'.version {found[0]}'")
            help = "what the table does not have is a warning, and passes through"
            yield _problem(module, item, message, help, found[0], "W201")
    else:
        yield from _target_problems(module, item)


def _architecture_below(word: str) -> str:
    """The newest architecture with a smaller number than one that does not exist."""
    found = re.fullmatch(r"sm_(\d{2,3})[af]?", word)
    numbers = [int(t[3:]) for t in FIRST_VERSION if t[3:].isdecimal()]
    below = [n for n in numbers if n <= int(found[1])] if found else []
    return f"sm_{max(below)}" if below else ""


def _target_problems(module: Module, item: Directive) -> Iterator[Diagnostic]:
    words = [w.strip() for w in item.text.split(",")]
    targets = [w for w in words if first_version(w) is not None]
    known = sorted({*FIRST_VERSION, *OPTIONS})
    for word in words:
        if first_version(word) is None and word not in OPTIONS and is_newer(module):
            yield _problem(module, item, not_in_table(f"'{word}'"), next_step(module), word, "W201")
            targets.append(word)
        elif first_version(word) is None and word not in OPTIONS:
            otherwise = "an architecture is 'sm_' and its number, such as 'sm_80'"
            help = did_you_mean(word, known, otherwise, meant=_architecture_below(word))
            yield _problem(module, item, f"unknown target '{word}'", help, word)
            targets.append(word)
    for word in targets:
        first = first_version(word)
        if first is not None and module.version < first:
            message = f"'{word}' needs '.version {first[0]}.{first[1]}'"
            found = _problem(module, item, message, "raise '.version'", word, "W205")
            yield replace(found, fix=raised_version(module, message))
    if not targets:
        yield _problem(module, item, "'.target' names no architecture", "write one first, such as 'sm_80'")
        return
    if {"texmode_unified", "texmode_independent"} <= set(words):
        message = "'texmode_unified' and 'texmode_independent' exclude each other"
        yield _problem(module, item, message, "keep one of them", "texmode_independent")
    number = re.sub(r"\D", "", targets[0])
    if "map_f64_to_f32" in words and number and int(number) >= 13:
        message = f"'map_f64_to_f32' does not go with '{targets[0]}'"
        yield _problem(module, item, message, "it has double precision: remove the option", "map_f64_to_f32")
