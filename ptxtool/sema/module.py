"""Everything that can be said about the meaning of a module: what `ptxtool check` reports.

The pass pipeline keeps the lighter `sema/verify.py`, on which this builds. Errors are what ptxas refuses or no tool
could give a meaning, warnings what it takes without a word. PTXPlus has no ptxas: there names, forms and guards are
checked.
"""

from collections.abc import Iterator

from ptxtool.base.collector import paused_collector
from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Declaration, Function, Module
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
        found = [
            *module_declarations(module),
            *header_problems(module),
            *newer_declarations(module, needs_sizes=False),
        ]
        if not module.is_ptxplus:
            found += [*prototype_problems(module), *redeclaration_problems(module), *file_problems(module)]
            found += [*bank_problems(module), *alias_problems(module), *feature_problems(module)]
            found += [*spilling_problems(module), *launch_bound_problems(module)]
            found += character_problems(module)
        for item in module.items:
            if isinstance(item, Function):
                found += _function_problems(item)
            elif isinstance(item, Declaration) and not module.is_ptxplus:
                found += declaration_problems(module, item, "module")
    return tuple(sorted(found, key=lambda d: (d.start, d.end, d.code)))


def _function_problems(function: Function) -> Iterator[Diagnostic]:
    check = BodyCheck(function)
    found = check.run()
    yield from found
    if not function.module.is_ptxplus:
        yield from head_problems(function)
        yield from tuning_problems(function)
    if not any(d.is_error for d in found):  # what runs after what is known only if all of it means something
        yield from flow_problems(function, check.regions)
