"""Where the name under the cursor is declared, and everywhere it stands."""

from collections.abc import Iterator

from ptxtool.ir.nodes import Function
from ptxtool.lsp.document import Document
from ptxtool.lsp.names import Meaning, Occurrence, outer_occurrences


def occurrence_at(document: Document, offset: int) -> Occurrence | None:
    """The name at an offset, or one that ends there."""
    function = document.function_at(offset)
    module = document.module
    if module is None:
        return None
    found = document.occurrences(function) if function is not None else outer_occurrences(module)
    return next((o for o in found if o.start <= offset <= o.end), None)


def definition(document: Document, offset: int) -> tuple[Occurrence, ...]:
    """The declarations of the name at an offset; none for special registers."""
    name = occurrence_at(document, offset)
    if name is None:
        return ()
    found = [o for o in references(document, offset) if o.role == "declared"]
    if name.meaning.kind == "function" and len(found) > 1:  # declared, and defined with a body
        bodies = [o for o in found if (f := document.function_at(o.start)) is not None and f.body is not None]
        return tuple(bodies or found)
    return tuple(found)


def references(document: Document, offset: int) -> tuple[Occurrence, ...]:
    """Every place of the name at an offset, declarations included, in the order of the text.

    A register of a range has the range's declaration among them, a range all places of its registers.
    """
    name = occurrence_at(document, offset)
    if name is None or document.module is None:
        return ()
    is_local = name.meaning.kind in ("register", "range", "label") or (
        name.meaning.kind == "variable" and name.meaning.place >= 0
    )
    here = document.function_at(offset)
    if is_local:
        all_names: Iterator[Occurrence] = iter(document.occurrences(here) if here is not None else ())
    else:
        all_names = _everywhere(document)
    return tuple(o for o in all_names if _is_same(o.meaning, name.meaning))


def _everywhere(document: Document) -> Iterator[Occurrence]:
    module = document.module
    if module is None:
        return
    found = [*outer_occurrences(module)]
    for item in module.items:
        if isinstance(item, Function):
            found += document.occurrences(item)
    yield from sorted(found, key=lambda o: o.start)


def _is_same(one: Meaning, other: Meaning) -> bool:
    if one == other:
        return True
    kinds = {one.kind, other.kind}
    if one.place != other.place or kinds != {"register", "range"}:
        return False
    whole, single = (one, other) if one.kind == "range" else (other, one)
    return is_of_range(single.name, whole.name)


def is_of_range(name: str, prefix: str) -> bool:
    """Whether a name is one of `prefix<n>`: the prefix and a number without leading zeros."""
    number = name.removeprefix(prefix)
    return name.startswith(prefix) and number.isdecimal() and (number == "0" or number[0] != "0")
