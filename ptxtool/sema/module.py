"""Everything that can be said about the meaning of a module: what `ptxtool check` reports.

The pass pipeline keeps the lighter `sema/verify.py`, on which this builds. Errors are what ptxas refuses or no tool
could give a meaning, warnings what it takes without a word. PTXPlus has no ptxas: there names, forms and guards are
checked.
"""

from collections.abc import Iterable, Iterator

from ptxtool.base.collector import paused_collector
from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Function, Module
from ptxtool.sema.body import BodyCheck
from ptxtool.sema.features import feature_problems
from ptxtool.sema.flow import flow_problems
from ptxtool.sema.functions import alias_problems, head_problems, prototype_problems
from ptxtool.sema.header import character_problems, file_problems, header_problems
from ptxtool.sema.hints.newer import newer_declarations
from ptxtool.sema.launch_bounds import launch_bound_problems
from ptxtool.sema.shared_spilling import spilling_problems
from ptxtool.sema.tuning import tuning_problems
from ptxtool.sema.variables import bank_problems, declaration_problems, redeclaration_problems
from ptxtool.sema.verify import module_declarations


def check_module(module: Module) -> tuple[Diagnostic, ...]:
    """Every error and warning about what a module means, in the order of its text."""
    with paused_collector():
        found = [*module_problems(module)]
        for item in module.items:
            if isinstance(item, Function):
                found += function_problems(item)
    return in_order(found)


def in_order(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Diagnostics in the order of the text."""
    return tuple(sorted(found, key=lambda d: (d.start, d.end, d.code)))


def module_problems(module: Module) -> Iterator[Diagnostic]:
    """What is wrong with a module as a whole, and with its declarations."""
    yield from module_declarations(module)
    yield from header_problems(module)
    yield from newer_declarations(module, needs_sizes=False)
    if module.is_ptxplus:
        return
    yield from (*prototype_problems(module), *redeclaration_problems(module), *file_problems(module))
    yield from (*bank_problems(module), *alias_problems(module), *feature_problems(module))
    yield from (*spilling_problems(module), *launch_bound_problems(module))
    yield from character_problems(module)
    for item in module.declarations():
        yield from declaration_problems(module, item, "module")


def function_problems(function: Function) -> Iterator[Diagnostic]:
    """What is wrong with one function; it depends on its text, on the heads of others and on declarations."""
    check = BodyCheck(function)
    found = check.run()
    yield from found
    if not function.module.is_ptxplus:
        yield from head_problems(function)
        yield from tuning_problems(function)
    if not any(d.is_error for d in found):  # what runs after what is known only if all of it means something
        yield from flow_problems(function, check.regions)
