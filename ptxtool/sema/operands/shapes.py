"""What an operand is, seen from its instruction: the kind and type of every name and literal in it.

For the checks that hold operands against the instruction table. Equal shapes are one object, so that a verdict about an
instruction can be remembered by its opcode and the identities of its operands' shapes.
"""

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, eq=False, slots=True)
class OperandShape:
    """One operand. `kind` says what `type`, `items` and `length` mean:

    register   of `type`; `length` 2, 4, 8 for a vector register
    constant   "int", "f32" (`0f...`) or "f64" (decimal fractions, `0d...`)
    special    a special register of `type`; `length` 4 for a whole vector
    variable   in the state space `type`; its name stands for its address. The function's own parameters and results
               are in "param::in" and "param::out"
    opaque     a texture, sampler or surface: "texref", "samplerref", "surfref"
    function   "entry" or "func"
    label, sink, text, list, undeclared
    sum        a register or variable plus a constant; `type` is "offset" where that is no integer
    vector     `{...}` of `items`
    pair       `a|b`
    memory     `[...]`: the base, then the coordinates; `type` is "offset" where the offset is no integer
    negated    `!x`; minus: `-x`; selected: `x.b0`, the selector in `type`
    """

    kind: str
    type: str = ""
    items: tuple["OperandShape", ...] = ()
    length: int = 1


@cache
def shape(kind: str, type: str = "", items: tuple[OperandShape, ...] = (), length: int = 1) -> OperandShape:
    """The shape with these fields; always the same object for the same fields."""
    return OperandShape(kind, type, items, length)


UNDECLARED = shape("undeclared")

_CONSTANTS = {
    "int": "an integer constant",
    "f32": "a floating-point constant",
    "f64": "a floating-point constant",
}
_KINDS = {
    "label": "a label",
    "sink": "no register",
    "text": "a string",
    "list": "a list in parentheses",
    "sum": "an address with an offset",
    "pair": "a pair of destinations",
    "memory": "a memory operand",
    "negated": "a negated operand",
    "minus": "an operand with a sign",
    "selected": "a part of a register",
}


def description(found: OperandShape) -> str:
    """What a shape is, in words, for a message: "a '.u32' register"."""
    match found.kind:
        case "register":
            vector = f".v{found.length}" if found.length > 1 else ""
            return f"a '{vector}.{found.type}' register"
        case "constant":
            return _CONSTANTS[found.type]
        case "special":
            return "a special register"
        case "variable":
            return "a parameter" if found.type.startswith("param") else f"a '.{found.type}' variable"
        case "opaque":
            return f"a '.{found.type}'"
        case "function":
            return "a kernel" if found.type == "entry" else "a function"
        case "vector":
            return f"a vector of {len(found.items)}"
        case kind:
            return _KINDS.get(kind, kind)
