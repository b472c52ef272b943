"""How large a variable is and how it is aligned: as its declaration says. For every layout of a state space.

Reference: PTX ISA, section 5.4 (variables: types, vectors, arrays, alignment).
"""

from math import prod

from ptxtool.ir.nodes import Declaration, Declarator, Vector
from ptxtool.isa.types import TYPES, Type


def round_up(value: int, multiple: int) -> int:
    """The least multiple of a number that is not below a value."""
    return -(-value // multiple) * multiple


def element_type(declaration: Declaration) -> Type:
    """The type of a variable's elements; untyped (texture and the like) counts as 64 bits."""
    return TYPES.get(declaration.type, TYPES["b64"])


def declared_size(declaration: Declaration, declarator: Declarator) -> int:
    """Bytes of a variable; 0 for an array without a size."""
    dimensions = declarator.dimensions
    if dimensions and dimensions[0] is None:
        items = declarator.value.items if isinstance(declarator.value, Vector) else ()
        dimensions = (len(items), *dimensions[1:])
    return prod(d or 0 for d in dimensions) * declaration.vector * element_type(declaration).bytes


def alignment_of(declaration: Declaration) -> int:
    """Bytes that a variable or parameter is aligned to. After `.ptr`, `.align` is that of the memory pointed to."""
    given = None if "ptr" in declaration.qualifiers else declaration.align
    return given or element_type(declaration).bytes * declaration.vector
