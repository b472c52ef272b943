"""Line information: which `.loc` holds for an instruction.

`.loc FILE LINE COLUMN` holds for all instructions after it in the text, up to the next one of the function.

PTX ISA, debugging directives: `.loc`.
"""

from ptxtool.ir.nodes import Directive, Function, Instruction, Statement


def is_location(statement: Statement) -> bool:
    """Whether a statement is a `.loc`."""
    return type(statement) is Directive and statement.name == "loc"


def locations(function: Function) -> tuple[Directive | None, ...]:
    """The `.loc` of every instruction; None before the first one."""
    found: list[Directive | None] = []
    current: Directive | None = None
    for statement in function.body or ():
        if type(statement) is Instruction:
            found.append(current)
        elif type(statement) is Directive and statement.name == "loc":
            current = statement
    return tuple(found)
