"""Rematerialisation: constants that are computed anew wherever they are read, instead of being kept in a register.

For spilling. `constant_definitions.py` finds the registers that are constant. The *rematerialisation sequence* of one
is its definition, preceded by the definitions of what it is computed from, as far as one register is enough for all of
them: every instruction reads at most the result of the one before, none is wider than the last, and none is a copy,
which would copy the register to itself. `LONGEST` bounds its length. Variables of nested blocks have no name outside
and are in no sequence.

Reference: P. Briggs, K. Cooper, L. Torczon, "Rematerialization", 1992.
"""

from collections.abc import Sequence

from ptxtool.analysis.flow.constant_definitions import constant_definitions
from ptxtool.analysis.flow.copies import is_copy
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Declaration, Function, ScopeClose, ScopeOpen

LONGEST = 3
"""Instructions of the longest sequence."""


def rematerialisation_sequences(function: Function, def_uses: Sequence[DefUse]) -> dict[int, tuple[int, ...]]:
    """Per constant register, the instructions that compute it, in order; the last one defines it."""
    registers = function.registers
    hidden = _hidden(function)
    found: dict[int, tuple[int, ...]] = {}
    for i, register in constant_definitions(function, def_uses).items():
        sources = def_uses[i].uses
        before = found.get(sources[0], ()) if len(sources) == 1 else ()
        if len(sources) > 1 or (sources and not before) or len(before) >= LONGEST:
            continue
        if registers[register].is_predicate or is_copy(function, i):
            continue
        if hidden and any(
            name.text in hidden for o in function.instructions[i].operands for name in names(o)
        ):
            continue
        if all(registers[def_uses[j].defs[0]].units <= registers[register].units for j in before):
            found[register] = (*before, i)
    return found


def _hidden(function: Function) -> set[str]:
    """The names of variables declared in nested blocks."""
    found: set[str] = set()
    depth = 0
    for _, statement in function.other_statements:
        depth += isinstance(statement, ScopeOpen) - isinstance(statement, ScopeClose)
        if depth and isinstance(statement, Declaration):
            found.update(declarator.name for declarator in statement.declarators)
    return found
