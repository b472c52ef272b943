"""Comparison and selection: setp, set, selp, slct, testp; PTXPlus's `set` into condition codes.

A comparison is one of `eq`, `lt`, `le`, "both are numbers", perhaps with operands exchanged or the result inverted.
"""

from ptxsim.execute.codes import PREDICATE
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.floating import compare_type, float_source
from ptxsim.lowering.instructions.packed import element_type, is_packed, merge, split
from ptxsim.lowering.rows import Operation, row_bits, unsupported
from ptxtool.ir.nodes import Dual, Operand, Unary
from ptxtool.isa.types import TYPES, Type

# base comparison, exchanged, inverted
_ORDERED = {
    "eq": ("eq", False, 0),
    "lt": ("lt", False, 0),
    "le": ("le", False, 0),
    "gt": ("lt", True, 0),
    "ge": ("le", True, 0),
}
_INTEGER = _ORDERED | {"ne": ("eq", False, 1)}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
# floats: the unordered ones are the complements of the opposite ordered ones
_FLOAT = _ORDERED | {
    "neu": ("eq", False, 1),
    "ltu": ("le", True, 1),
    "leu": ("lt", True, 1),
    "gtu": ("le", False, 1),
    "geu": ("lt", False, 1),
    "num": ("num", False, 0),
    "nan": ("num", False, 1),
}
_COMPARISONS = (*_FLOAT, *_UNSIGNED, "ne", "equ")


def compare(builder: UopBuilder, name: str, first: int, second: int, type_: Type) -> int:
    """The predicate row of a comparison of two values of a type (as `float_source` or `source` gives them)."""
    if type_.is_float:
        kind = f"f{type_.bits}"
        if name in ("ne", "equ"):  # not equal and ordered, and its complement
            equal = builder.compute(f"eq_{kind}", first, second)
            numbers = builder.compute(f"num_{kind}", first, second)
            ordered_different = builder.combine("and", numbers, builder.combine("not", equal))
            return ordered_different if name == "ne" else builder.combine("not", ordered_different)
        if name not in _FLOAT:
            unsupported(f"'.{name}' of floating-point values")
        base, exchanged, inverted = _FLOAT[name]
    else:
        is_signed = type_.is_signed and name not in _UNSIGNED
        name = _UNSIGNED.get(name, name)
        if name not in _INTEGER:
            unsupported(f"'.{name}' of integers")
        base, exchanged, inverted = _INTEGER[name]
        kind = f"{'s' if is_signed and base != 'eq' else 'u'}{row_bits(type_)}"
    if exchanged:
        first, second = second, first
    return builder.compute(f"{base}_{kind}", first, second, e=inverted)


def _conditions(builder: UopBuilder, op: Operation, type_: Type) -> list[int]:
    """The comparison of operands 1 and 2, of each element where they are packed."""
    if type_.is_float:
        pair = [split(builder, float_source(builder, op, k, type_), type_) for k in (1, 2)]
        type_ = element_type(type_)
        return [
            compare(builder, op.match.one_of(*_COMPARISONS), *compare_type(builder, first, second, type_))
            for first, second in zip(*pair, strict=True)
        ]
    first, second = builder.source(op, 1, type_), builder.source(op, 2, type_)
    if builder.takes_absolute(op):
        first = builder.compute(f"abs_s{row_bits(type_)}", first)
    elements = zip(split(builder, first, type_), split(builder, second, type_), strict=True)
    return [compare(builder, op.match.one_of(*_COMPARISONS), a, b, element_type(type_)) for a, b in elements]


def _with_predicate(builder: UopBuilder, op: Operation, condition: int) -> int:
    """The comparison combined with operand 3, where there is one."""
    if len(op.operands) < 4:
        return condition
    return builder.combine(op.match.one_of("and", "or", "xor"), condition, builder.predicate(op.operands[3]))


def write_predicates(builder: UopBuilder, operand: Operand, first: int, second: int | None = None) -> None:
    """Write a predicate (PTXPlus: as condition code, Z inverted) and, for `p|q`, a second one."""
    operands = (operand.first, operand.second) if isinstance(operand, Dual) else (operand,)
    for target, value in zip(operands, (first, second), strict=False):
        if value is None:
            unsupported("a second destination")
        row = builder.predicate_destination(target)
        if builder.ptxplus:
            builder.combine("not", value, d=row)
            for k in range(1, 4):
                builder.combine("false", value, d=row + k)
        else:
            builder.combine("copy", value, d=row)


@rule("setp")
def _setp(builder: UopBuilder, op: Operation) -> None:
    conditions = _conditions(builder, op, op.type)
    first = _with_predicate(builder, op, conditions[0])
    second = None
    if isinstance(op.operands[0], Dual):  # the comparison of the upper element, or the complement
        other = conditions[1] if is_packed(op.type) else builder.combine("not", conditions[0])
        second = _with_predicate(builder, op, other)
    write_predicates(builder, op.operands[0], first, second)


_ONE = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF0000000000000}


@rule("set")
def _set(builder: UopBuilder, op: Operation) -> None:
    compared = op.stype if op.match.stype else op.type
    conditions = [_with_predicate(builder, op, c) for c in _conditions(builder, op, compared)]
    type_ = element_type(op.type)
    width = row_bits(type_)
    true = builder.constant(_ONE[type_.name.replace("ff", "f")] if type_.is_float else -1, width)
    operand = op.operands[0]
    if isinstance(operand, Dual) and builder.predicate_row(operand.second) is not None:
        # PTXPlus, an old form: the first gets the result, the second its complement
        write_predicates(builder, operand, conditions[0], builder.combine("not", conditions[0]))
        return
    d = builder.destination(op)
    if is_packed(compared):  # ones or all bits in each element, whatever the result's type
        elements = [builder.compute("sel_u32", true, builder.constant(0), c) for c in conditions]
        d.write("mov_u32", merge(builder, elements, compared))
    else:
        d.write(f"sel_u{width}", true, builder.constant(0, width), conditions[0])


@rule("selp")
def _selp(builder: UopBuilder, op: Operation) -> None:
    condition = op.operands[3]
    if builder.as_gpgpu_sim and isinstance(condition, Unary):
        condition = condition.operand  # which ignores the `!`
    _choose(builder, op, builder.predicate(condition))


@rule("slct")
def _slct(builder: UopBuilder, op: Operation) -> None:
    if op.stype.is_float:
        chosen = builder.compute("le_f32", builder.constant(0), float_source(builder, op, 3, op.stype))
    else:
        chosen = builder.compute("le_s32", builder.constant(0), builder.source(op, 3, TYPES["s32"]))
    _choose(builder, op, chosen)


def _choose(builder: UopBuilder, op: Operation, chosen: int) -> None:
    """d = a where a predicate holds, else b."""
    builder.destination(op).write(
        f"sel_u{row_bits(op.type)}", builder.source(op, 1), builder.source(op, 2), chosen
    )


@rule("testp")
def _testp(builder: UopBuilder, op: Operation) -> None:
    width = op.type.bits
    infinity, smallest = (0x7F800000, 0x00800000) if width == 32 else (0x7FF << 52, 1 << 52)
    size = builder.compute(f"abs_f{width}", builder.source(op, 1))
    limit = builder.constant(infinity, width)
    kind = f"u{width}"
    test = op.match.one_of("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    finite = builder.compute(f"lt_{kind}", size, limit)
    # zeros count as normal
    tiny = builder.compute(f"lt_{kind}", size, builder.constant(smallest, width))
    subnormal = builder.combine(
        "and", tiny, builder.compute(f"eq_{kind}", size, builder.constant(0, width), e=1)
    )
    results = {
        "finite": lambda: finite,
        "infinite": lambda: builder.compute(f"eq_{kind}", size, limit),
        "number": lambda: builder.compute(f"le_{kind}", size, limit),
        "notanumber": lambda: builder.compute(f"lt_{kind}", limit, size),
        "normal": lambda: builder.combine("and", finite, builder.combine("not", subnormal)),
        "subnormal": lambda: subnormal,
    }
    result = results[test]()
    second = builder.combine("not", result) if isinstance(op.operands[0], Dual) else None
    write_predicates(builder, op.operands[0], result, second)


# ---- bitwise operations on predicates, which are the same file's business

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


def predicate_logic(builder: UopBuilder, op: Operation, name: str) -> None:
    """and, or, xor, not, cnot, ... of `.pred`."""
    if not builder.ptxplus:
        values = [builder.predicate(o) for o in op.operands[1:]]
        row = builder.predicate_destination(op.operands[0])
        builder.combine(name, values[0], values[-1], d=row)
        return
    row = builder.predicate_destination(op.operands[0])
    sources = [builder.predicate_destination(o) for o in op.operands[1:]]
    for k in range(4):
        if name == "cnot":
            builder.combine("not" if k == 0 else "copy", sources[0] + k, d=row + k)
        else:
            builder.emit(PREDICATE, row + k, sources[0] + k, sources[-1] + k, e=_FLAG_TABLES[name])
