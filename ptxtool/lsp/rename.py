"""Rename a register, label, variable or function, proved: the text means the same but for the name.

The places of the name are replaced, the new text is read and checked, and compared with the old one in two ways:

* Name by name: each occurrence of the new text means what the occurrence at its place meant before. The meanings are
  mapped one to one, and only the renamed one has another name.
* For registers and labels, `ptxtool diff` finds in each function the same statements, and no other figure.

So a name that is taken, that something inner hides, or that means something already (`%tid`) is refused. A register of
a range is renamed with all others of it: `%r3` to `%x3` makes `%r<9>` to `%x<9>`.

Preconditions: a text without syntax errors.
"""

from ptxtool.analysis.compare.difference import difference
from ptxtool.base.diag import PtxError
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.lsp.document import Document
from ptxtool.lsp.names import IDENTIFIER, Meaning, Occurrence, occurrences, outer_occurrences
from ptxtool.lsp.navigation import occurrence_at, references
from ptxtool.parse import parse
from ptxtool.sema.module import check_module


class Refused(Exception):
    """A name that cannot be given, with the reason in words for the user."""


def renameable(document: Document, offset: int) -> Occurrence:
    """The name at an offset; `Refused` where there is none that can be renamed."""
    found = occurrence_at(document, offset)
    if document.module is None or document.parsed.errors:
        raise Refused("a text with syntax errors: what else has the name is not known")
    if found is None:
        raise Refused("no register, label, variable or function here")
    if found.meaning.kind == "special":
        raise Refused(f"'{found.meaning.name}' is a special register")
    if not any(o.role == "declared" for o in references(document, offset)):
        raise Refused(f"'{found.meaning.name}' is declared nowhere in this file")
    return found


def rename(document: Document, offset: int, new: str) -> tuple[TextEdit, ...]:
    """The edits that give the name at an offset another one. Raises `Refused`."""
    found = renameable(document, offset)
    if not IDENTIFIER.fullmatch(new):
        raise Refused(f"'{new}' is no name: letters, digits, '_' and '$', perhaps after a '%'")
    places = references(document, offset)
    whole = next((o.meaning.name for o in places if o.meaning.kind == "range"), "")
    if whole and found.meaning.kind == "register":
        number = found.meaning.name.removeprefix(whole)
        if not new.endswith(number) or new == number or new.removesuffix(number)[-1].isdigit():
            raise Refused(
                f"'{found.meaning.name}' is one of '{whole}<...>', which is renamed as a whole: "
                f"end the new name with {number}"
            )
        places = references(document, next(o.start for o in places if o.meaning.kind == "range"))
        new = new.removesuffix(number)
    edits = tuple(TextEdit(o.start, o.end, _new_name(o, whole, new)) for o in places)
    _prove(document, edits, found.meaning.kind in ("register", "range", "label"))
    return edits


def _new_name(place: Occurrence, whole: str, new: str) -> str:
    return new + place.meaning.name.removeprefix(whole) if whole else new


def _prove(document: Document, edits: tuple[TextEdit, ...], is_local: bool) -> None:
    old = document.module
    assert old is not None
    try:
        text = splice(document.text, edits)
        new = parse(text, old.source.name)
    except PtxError as problem:
        raise Refused(f"it would no longer be read: {problem.diagnostics[0].message}") from None
    before = [d.code for d in check_module(old)]
    for found in check_module(new):
        if found.code in before:
            before.remove(found.code)
        else:
            raise Refused(f"it would be reported: {found.message}")
    sides = _meanings(old), _meanings(new)
    mapped: dict[Meaning, Meaning] = {}
    back: dict[Meaning, Meaning] = {}
    if len(sides[0]) != len(sides[1]):
        raise Refused("another name would get a meaning, or lose it")
    for one, other in zip(*sides, strict=True):
        if mapped.setdefault(one, other) != other or back.setdefault(other, one) != one:
            raise Refused(f"'{other.name}' would mean something else in one of its places")
    for first, second in zip(old.items, new.items, strict=True) if is_local else ():
        if isinstance(first, Function) and isinstance(second, Function) and _differ(first, second):
            try:
                same = difference(first, second).is_same
            except PtxError:
                continue  # a label is missing, before and after
            if not same:
                raise Refused(f"'{second.name}' would not be the same function")


def _differ(first: Function, second: Function) -> bool:
    """Whether two functions with bodies have different texts."""
    texts = (f.source.text[f.start : f.end] for f in (first, second))
    return first.body is not None and next(texts) != next(texts)


def _meanings(module: Module) -> list[Meaning]:
    """What the names of a text mean, in its order; a function's place is that of no text."""
    found = [*outer_occurrences(module)]
    for item in module.items:
        if isinstance(item, Function):
            found += occurrences(item)
    return [o.meaning for o in sorted(found, key=lambda o: o.start)]
