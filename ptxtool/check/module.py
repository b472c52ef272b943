"""Everything that can be said about the meaning of a module: `ptxtool check`."""

from ptxtool.base.diag import Diagnostic
from ptxtool.check.instructions import InstructionCheck
from ptxtool.ir.nodes import Function, Module
from ptxtool.ir.verify import module_declarations


def check_module(module: Module) -> tuple[Diagnostic, ...]:
    """Every error and warning about what a module means, in the order of its text."""
    found = list(module_declarations(module))
    for item in module.items:
        if isinstance(item, Function):
            found += InstructionCheck(item).run()
    return tuple(sorted(found, key=lambda d: (d.start, d.end, d.code)))
