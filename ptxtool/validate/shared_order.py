"""Re-prove an order of shared variables: only their declarations traded places, and no kernel takes more scratchpad.

The texts are compared without the declarations of shared variables; the texts of these must be the same ones, in any
order, in the module and in each function by itself. Names keep their meaning: none is declared twice in one function,
and none moves out of the head of a body.
"""

from collections import Counter
from collections.abc import Iterator

from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.base.diag import Diagnostic
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Declaration, Function, Instruction, Module
from ptxtool.validate.functions import wrong


def check_shared_order(before: Module, after: Module) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for all that changed but the order of shared variables."""
    return tuple(_problems(before, after))


def _problems(before: Module, after: Module) -> Iterator[Diagnostic]:
    if _without(before) != _without(after):
        yield Diagnostic("E303", "something besides declarations of shared variables changed", after.source)
        return
    if _declared(before) != _declared(after):
        yield Diagnostic("E303", "the declarations of shared variables are not the same ones", after.source)
    for name, kernel in after.kernels.items():
        old, new = shared_layout(before.kernels[name]).bytes, shared_layout(kernel).bytes
        if new > old:
            yield wrong(f"'{name}' takes {new} bytes of scratchpad, which were {old}", after.source, kernel)
        names = [d.name for s in _shared(kernel) for d in s.declarators]
        if len(set(names)) != len(names):
            yield wrong(f"a shared variable of '{name}' is declared twice", after.source, kernel)


def _shared(function: Function) -> Iterator[Declaration]:
    return (s for s in function.body or () if isinstance(s, Declaration) and s.space == "shared")


def _declarations(module: Module) -> list[list[Declaration]]:
    """The declarations of shared variables of the module, then of each function."""
    outer = [d for d in module.declarations() if d.space == "shared"]
    return [outer, *(list(_shared(f)) for f in module.items if isinstance(f, Function))]


def _declared(module: Module) -> list[Counter[str]]:
    """The texts of the declarations of the module and of each function; per function, the number after its head."""
    found: list[Counter[str]] = []
    for group in _declarations(module):
        found.append(Counter(" ".join(module.source.text[d.start : d.end].split()) for d in group))
    for function in (f for f in module.items if isinstance(f, Function)):
        first = next((s.start for s in function.body or () if isinstance(s, Instruction)), function.end)
        found.append(Counter({"after the head": sum(d.start > first for d in _shared(function))}))
    return found


def _without(module: Module) -> list[str]:
    """The words of a module's text with the same word for every declaration of a shared variable."""
    edits = [TextEdit(d.start, d.end, ".shared") for group in _declarations(module) for d in group]
    return splice(module.source.text, edits).split()
