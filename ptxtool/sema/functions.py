"""Function heads: parameters, results, linkage; declarations and definitions that agree; `.alias`.

Reference: PTX ISA, sections 5.1.6 (parameter state space), 7.1 (function declarations and definitions), 11.6 (linking
directives), 11.9.3 (.alias).
"""

from collections.abc import Iterator

from ptxtool.base.diag import Diagnostic, Note
from ptxtool.base.phrases import did_you_mean
from ptxtool.ir.names import diagnostic_at, note_at, span_of_word
from ptxtool.ir.nodes import Declaration, Directive, Function, Module
from ptxtool.ir.variables import alignment_of, declared_size, round_up
from ptxtool.isa.special import special
from ptxtool.isa.types import TYPES
from ptxtool.sema.variables import declaration_problems

_MOST_BYTES, _MORE_SINCE, _MOST_BYTES_BEFORE = 32764, (8, 1), 4352
"""Of a kernel's parameters, and the PTX version before which there were fewer."""


def size_of(declaration: Declaration) -> int:
    """The bytes of one parameter or result; 0 for a type without a width."""
    known = declaration.type in TYPES and declaration.declarators
    return declared_size(declaration, declaration.declarators[0]) if known else 0


def is_block(declaration: Declaration) -> bool:
    """Whether a parameter is an array of bytes, passed by its size and alignment."""
    return bool(declaration.declarators and declaration.declarators[0].dimensions)


def head_problems(function: Function) -> Iterator[Diagnostic]:
    """What is wrong with the parameters, results and linkage of one function."""
    place = "entry" if function.kind == "entry" else "func"
    for parameter in (*function.returns, *function.params):
        has_body = function.body is not None
        yield from declaration_problems(function.module, parameter, place, has_body=has_body)
    yield from _space_problems(function)
    if special(function.name) is not None:
        message = f"'{function.name}' means something already"
        yield _problem(function, message, function.name, "give the function another name")
    if len(function.returns) > 1 and any(r.space == "param" for r in function.returns):
        help = "several results are registers: write '.reg' in place of '.param', or return one array"
        message = f"'{function.name}' returns several '.param' values"
        yield _problem(function, message, function.returns[1].declarators[0].name, help)
    if "extern" in function.linkage and function.body is not None:
        message = f"'.extern' function '{function.name}' has a body"
        yield _problem(function, message, function.name, "remove '.extern', or the body")


def _space_problems(function: Function) -> Iterator[Diagnostic]:
    """Parameters of a kernel that exceed the space for them; reported at the first that does not fit."""
    if function.kind != "entry":
        return
    most = _MOST_BYTES if function.module.version >= _MORE_SINCE else _MOST_BYTES_BEFORE
    total = 0
    for parameter in function.params:
        total = round_up(total, alignment_of(parameter)) + size_of(parameter)
        if total > most and parameter.declarators:
            message = f"the parameters of '{function.name}' take {total} bytes, there are {most}"
            help = "pass a pointer to the data in '.global' memory"
            yield _problem(function, message, parameter.declarators[0].name, help)
            return


def prototype_problems(module: Module) -> Iterator[Diagnostic]:
    """Functions declared more than once that do not agree."""
    seen: dict[str, Function] = {}
    for item in module.items:
        if not isinstance(item, Function):
            continue
        before = seen.setdefault(item.name, item)
        if before is item or before.kind != item.kind:
            continue
        note = note_at("first declared here", module.source, before, before.name)
        what = _difference(before, item)
        if before.body is not None and item.body is None:
            message = f"'{item.name}' is declared again after its body"
            help = "declare a function before its body, or not at all"
            yield _problem(item, message, item.name, help, note)
        elif what:
            help = "write the same parameters and results in all of its declarations"
            yield _problem(item, f"'{item.name}' has {what} than before", item.name, help, note)


def _difference(before: Function, after: Function) -> str:
    for old, new, noun in (
        (before.params, after.params, "parameters"),
        (before.returns, after.returns, "results"),
    ):
        if len(old) != len(new):
            return f"another number of {noun}"
        if any(a.type != b.type or is_block(a) != is_block(b) for a, b in zip(old, new, strict=True)):
            return f"{noun} of other types"
    return ""


def alias_problems(module: Module) -> Iterator[Diagnostic]:
    """`.alias a, b`: `a` is a declared function, `b` a defined one."""
    for item in module.items:
        if not isinstance(item, Directive) or item.name != "alias":
            continue
        for n, word in enumerate(w.strip() for w in item.text.split(",")):
            function = module.functions.get(word)
            if function is not None and (n == 0 or function.body is not None):
                continue
            what = "declared" if n == 0 else "defined"
            others = [] if word in module.functions else module.functions
            help = did_you_mean(word, others, f"'.alias' takes a function {what} before it")
            place = span_of_word(module.source.text, item.start + len(".alias"), item.end, word)
            yield Diagnostic("E201", f"function '{word}' is not {what}", module.source, *place, help)


def _problem(function: Function, message: str, word: str, help: str, note: Note | None = None) -> Diagnostic:
    return diagnostic_at("E212", message, function.source, function, word, help, note)
