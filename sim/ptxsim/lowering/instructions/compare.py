"""Comparison and selection: setp, set, selp, slct, testp; PTXPlus's `set` into condition codes.

A comparison is one of `eq`, `lt`, `le`, "both are numbers", perhaps with operands exchanged or the result inverted.
"""

from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.floating import compare_type, float_source
from ptxsim.lowering.instructions.packed import element_type, is_packed, merge, split
from ptxsim.lowering.rows import (
    AND_TABLE,
    BOOLEAN_TABLES,
    COPY_TABLE,
    NOT_TABLE,
    OR_TABLE,
    Operation,
    unsupported,
)
from ptxtool.ir.nodes import Dual, Operand, Unary
from ptxtool.isa.types import TYPES, Type

_COMPARISONS = [
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "lo",
    "ls",
    "hi",
    "hs",
    "equ",
    "neu",
    "ltu",
    "leu",
    "gtu",
    "geu",
    "num",
    "nan",
]
# integers: base comparison, exchanged, inverted
_INTEGER = {
    "eq": ("eq", False, 0),
    "ne": ("eq", False, 1),
    "lt": ("lt", False, 0),
    "le": ("le", False, 0),
    "gt": ("lt", True, 0),
    "ge": ("le", True, 0),
}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
# floats: the unordered ones are the complements of the opposite ordered ones
_FLOAT = {
    "eq": ("eq", False, 0),
    "lt": ("lt", False, 0),
    "le": ("le", False, 0),
    "gt": ("lt", True, 0),
    "ge": ("le", True, 0),
    "neu": ("eq", False, 1),
    "ltu": ("le", True, 1),
    "leu": ("lt", True, 1),
    "gtu": ("le", False, 1),
    "geu": ("lt", False, 1),
    "num": ("num", False, 0),
    "nan": ("num", False, 1),
}


def compare(b: UopBuilder, name: str, first: int, second: int, type_: Type) -> int:
    """The predicate row of a comparison of two values of a type (as `float_source` or `source` gives them)."""
    if type_.is_float:
        kind = f"f{type_.bits}"
        if name in ("ne", "equ"):  # not equal and ordered, and its complement
            equal = b.compute(f"eq_{kind}", first, second)
            numbers = b.compute(f"num_{kind}", first, second)
            ordered_different = b.combine(AND_TABLE, numbers, b.combine(NOT_TABLE, equal))
            return ordered_different if name == "ne" else b.combine(NOT_TABLE, ordered_different)
        if name not in _FLOAT:
            unsupported(f"'.{name}' of floating-point values")
        base, exchanged, inverted = _FLOAT[name]
    else:
        width = 64 if type_.bits == 64 else 32
        signed = type_.is_signed and name not in _UNSIGNED
        name = _UNSIGNED.get(name, name)
        if name not in _INTEGER:
            unsupported(f"'.{name}' of integers")
        base, exchanged, inverted = _INTEGER[name]
        kind = f"u{width}" if base == "eq" or not signed else f"s{width}"
    if exchanged:
        first, second = second, first
    return b.compute(f"{base}_{kind}", first, second, e=inverted)


def _conditions(b: UopBuilder, op: Operation, type_: Type) -> list[int]:
    """The comparison of operands 1 and 2, of each element where they are packed."""
    if type_.is_float:
        pair = [split(b, float_source(b, op, k, type_), type_) for k in (1, 2)]
        type_ = element_type(type_)
        return [
            compare(b, op.match.one_of(*_COMPARISONS), *compare_type(b, first, second, type_))
            for first, second in zip(*pair, strict=True)
        ]
    first, second = b.source(op, 1, type_), b.source(op, 2, type_)
    if b.takes_absolute(op):
        first = b.compute("abs_s64" if type_.bits == 64 else "abs_s32", first)
    return [compare(b, op.match.one_of(*_COMPARISONS), first, second, type_)]


def _with_predicate(b: UopBuilder, op: Operation, condition: int) -> int:
    """The comparison combined with operand 3, where there is one."""
    if len(op.operands) < 4:
        return condition
    table = BOOLEAN_TABLES[op.match.one_of("and", "or", "xor")]
    return b.combine(table, condition, b.predicate(op.operands[3]))


def write_predicates(b: UopBuilder, operand: Operand, first: int, second: int | None = None) -> None:
    """Write a predicate (PTXPlus: as condition code, Z inverted) and, for `p|q`, a second one."""
    operands = (operand.first, operand.second) if isinstance(operand, Dual) else (operand,)
    for target, value in zip(operands, (first, second), strict=False):
        if value is None:
            unsupported("a second destination")
        row = b.predicate_destination(target)
        if b.ptxplus:
            b.combine(NOT_TABLE, value, d=row)
            for k in range(1, 4):
                b.combine(0, value, d=row + k)
        else:
            b.combine(COPY_TABLE, value, d=row)


@rule("setp")
def _setp(b: UopBuilder, op: Operation) -> None:
    conditions = _conditions(b, op, op.type)
    first = _with_predicate(b, op, conditions[0])
    second = None
    if isinstance(op.operands[0], Dual):  # the comparison of the upper element, or the complement
        other = conditions[1] if is_packed(op.type) else b.combine(NOT_TABLE, conditions[0])
        second = _with_predicate(b, op, other)
    write_predicates(b, op.operands[0], first, second)


_ONE = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF0000000000000}


@rule("set")
def _set(b: UopBuilder, op: Operation) -> None:
    conditions = [_with_predicate(b, op, c) for c in _conditions(b, op, op.stype)]
    type_ = element_type(op.type)
    width = 64 if type_.bits == 64 else 32
    if type_.is_float:
        true = b.constant(_ONE[{"ff64": "f64"}.get(type_.name, type_.name)], width)
    else:
        true = b.constant(-1, width)
    operand = op.operands[0]
    second = (
        b.register(operand.second.text)
        if isinstance(operand, Dual) and hasattr(operand.second, "text")
        else None
    )
    if isinstance(operand, Dual) and second is not None and second.is_predicate:
        # PTXPlus, an old form: the first gets the result, the second its complement
        write_predicates(b, operand, conditions[0], b.combine(NOT_TABLE, conditions[0]))
        return
    d = b.destination(op)
    if is_packed(op.stype):  # ones or all bits in each half, whatever the result's type
        halves = [b.compute("sel_u32", true, b.constant(0), c) for c in conditions]
        b.emit("mov_u32", d.row, merge(b, halves, op.stype))
    else:
        b.emit(f"sel_u{width}", d.row, true, b.constant(0, width), conditions[0])
    d.finish()


@rule("selp")
def _selp(b: UopBuilder, op: Operation) -> None:
    condition = op.operands[3]
    if b.as_gpgpu_sim and isinstance(condition, Unary):
        condition = condition.operand  # which ignores the `!`
    chosen = b.predicate(condition)
    b.destination(op).write(
        "sel_u64" if op.type.bits == 64 else "sel_u32", b.source(op, 1), b.source(op, 2), chosen
    )


@rule("slct")
def _slct(b: UopBuilder, op: Operation) -> None:
    if op.stype.is_float:
        chosen = b.compute("le_f32", b.constant(0), float_source(b, op, 3, op.stype))
    else:
        chosen = b.compute("le_s32", b.constant(0), b.source(op, 3, TYPES["s32"]))
    b.destination(op).write(
        "sel_u64" if op.type.bits == 64 else "sel_u32", b.source(op, 1), b.source(op, 2), chosen
    )


@rule("testp")
def _testp(b: UopBuilder, op: Operation) -> None:
    width = op.type.bits
    infinity, smallest = (0x7F800000, 0x00800000) if width == 32 else (0x7FF << 52, 1 << 52)
    size = b.compute(f"abs_f{width}", b.source(op, 1))
    limit = b.constant(infinity, width)
    kind = f"u{width}"
    test = op.match.one_of("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    finite = b.compute(f"lt_{kind}", size, limit)
    # zeros count as normal
    tiny = b.compute(f"lt_{kind}", size, b.constant(smallest, width))
    subnormal = b.combine(AND_TABLE, tiny, b.compute(f"eq_{kind}", size, b.constant(0, width), e=1))
    results = {
        "finite": lambda: finite,
        "infinite": lambda: b.compute(f"eq_{kind}", size, limit),
        "number": lambda: b.compute(f"le_{kind}", size, limit),
        "notanumber": lambda: b.compute(f"lt_{kind}", limit, size),
        "normal": lambda: b.combine(AND_TABLE, finite, b.combine(NOT_TABLE, subnormal)),
        "subnormal": lambda: subnormal,
    }
    result = results[test]()
    second = b.combine(NOT_TABLE, result) if isinstance(op.operands[0], Dual) else None
    write_predicates(b, op.operands[0], result, second)


# ---- bitwise operations on predicates, which are the same file's business

_PTX_TABLES = {"and": AND_TABLE, "or": OR_TABLE, "xor": 0b0110, "not": NOT_TABLE}
# on flags, whose truth is inverted: and is `a | b`, and so on (bit 2 * a + b)
_FLAG_TABLES = {
    "and": 0b1110,
    "or": 0b1000,
    "xor": 0b1001,
    "not": 0b0011,
    "andn": 0b1101,
    "orn": 0b0100,
    "nandn": 0b0010,
    "norn": 0b1011,
}


def predicate_logic(b: UopBuilder, op: Operation, name: str) -> None:
    """and, or, xor, not, cnot, ... of `.pred`."""
    if not b.ptxplus:
        values = [b.predicate(o) for o in op.operands[1:]]
        row = b.predicate_destination(op.operands[0])
        b.combine(_PTX_TABLES[name], values[0], values[1] if len(values) > 1 else values[0], d=row)
        return
    row = b.predicate_destination(op.operands[0])
    sources = [b.predicate_destination(o) for o in op.operands[1:]]
    for k in range(4):
        second = sources[1] + k if len(sources) > 1 else sources[0] + k
        if name == "cnot":
            b.combine(NOT_TABLE if k == 0 else COPY_TABLE, sources[0] + k, d=row + k)
        else:
            b.combine(_FLAG_TABLES[name], sources[0] + k, second, d=row + k)
