"""How large a variable is and how it is aligned: as its declaration says. For every layout of a state space.

Reference: PTX ISA, section 5.4 (variables: types, vectors, arrays, alignment).
"""

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
    count = declaration.vector
    dimensions = list(declarator.dimensions)
    if dimensions and dimensions[0] is None:
        inner = 1
        for dimension in dimensions[1:]:
            inner *= dimension or 0
        items = declarator.value.items if isinstance(declarator.value, Vector) else ()
        return len(items) * inner * count * element_type(declaration).bytes
    for dimension in dimensions:
        count *= dimension or 0
    return count * element_type(declaration).bytes


def alignment_of(declaration: Declaration) -> int:
    """Bytes that a variable or parameter is aligned to. After `.ptr`, `.align` is that of the memory pointed to."""
    given = None if "ptr" in declaration.qualifiers else declaration.align
    return given or element_type(declaration).bytes * declaration.vector
