"""`.pragma "enable_smem_spilling"` where ptxas refuses a file for it, or finds no use for it (W214).

It makes ptxas spill registers to shared memory first. It belongs into the body of a kernel whose shared memory and
stack are known when ptxas compiles it.

Reference: PTX ISA, section 12 (descriptions of `.pragma` strings); the rest was asked of ptxas 13.0.
"""

from collections.abc import Iterator

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Declaration, Directive, Function, Module
from ptxtool.isa.types import TYPES
from ptxtool.sema.called import reached
from ptxtool.sema.variables import n_elements
from ptxtool.sema.version_fix import raised_version

WORD = "enable_smem_spilling"
SINCE = (8, 7)
"""The PTX version that has the pragma."""
_BYTES_OF_A_CTA = 48 << 10


def spilling_problems(module: Module) -> Iterator[Diagnostic]:
    """The warnings about each such pragma of a module."""
    if WORD not in module.source.text:
        return
    for item in module.items:
        if isinstance(item, Directive) and _is_wanted(item):
            yield _outside(module, item)
        if not isinstance(item, Function):
            continue
        yield from (_outside(module, directive) for directive in item.directives if _is_wanted(directive))
        inside = [s for _, s in item.other_statements if isinstance(s, Directive) and _is_wanted(s)]
        trouble = _trouble(item) if inside else None
        if trouble is not None:
            yield _problem(module, inside[0], *trouble)


def _is_wanted(item: Directive) -> bool:
    return item.name == "pragma" and WORD in (word.strip().strip('"') for word in item.text.split(","))


def _outside(module: Module, item: Directive) -> Diagnostic:
    return _problem(module, item, "it is outside of a kernel's body", "move it between the kernel's braces")


def _problem(module: Module, item: Directive, why: str, help: str, verb: str = "refuses") -> Diagnostic:
    message = f"ptxas {verb} '{WORD}' here: {why}"
    code = "W205" if module.version < SINCE else "W214"
    fix = raised_version(module, why) if code == "W205" else None
    return Diagnostic(code, message, module.source, item.start, item.end, help, None, fix)


def _trouble(function: Function) -> tuple[str, ...] | None:
    """Why ptxas does not spill to shared memory in a function, and what to do; None where it does."""
    module = function.module
    if module.version < SINCE:
        return f"it needs '.version {SINCE[0]}.{SINCE[1]}'", "raise '.version'"
    if function.kind != "entry":
        return f"'{function.name}' is no kernel", "move it into the kernels that call the function"
    found = reached(function)
    if found.open_calls:
        line = module.source.line(found.open_calls[0].start)
        return f"the call in line {line} needs a stack of unknown size", "remove it, or the call"
    sizes = {name: item for one in found.functions for name, item in _shared(one).items()}
    dynamic = next((name for name, item in sizes.items() if _is_dynamic(item)), "")
    if dynamic:
        return f"'{dynamic}' is shared memory that the launch sizes", "give the variable a size, or remove it"
    total = sum(n_elements(d) * _width(item) for item in {*sizes.values()} for d in item.declarators)
    if total >= _BYTES_OF_A_CTA:
        what = f"the variables of '{function.name}' take all {_BYTES_OF_A_CTA} bytes of shared memory"
        return what, "remove it, or make the variables smaller", "ignores"
    return None


def _shared(function: Function) -> dict[str, Declaration]:
    """The shared variables that a function names, with their declarations."""
    own = (s for _, s in function.other_statements if isinstance(s, Declaration))
    known = {d.name: item for item in own for d in item.declarators}
    found: dict[str, Declaration] = {}
    for node in function.instructions:
        for name in (n.text for operand in node.operands for n in names(operand)):
            item = known.get(name) or function.module.variables.get(name)
            if item is not None and item.space == "shared":
                found[name] = item
    return found


def _is_dynamic(item: Declaration) -> bool:
    return any(declarator.dimensions[:1] == (None,) for declarator in item.declarators)


def _width(item: Declaration) -> int:
    return TYPES[item.type].bytes * item.vector if item.type in TYPES else 0
