"""Floating-point arithmetic: one rounding an operation, in every rounding mode and at every width.

f32 and f64 rounded to nearest are one micro-operation. Directed rounding takes the result rounded to nearest and its
error. Halves are computed in f64: their products are exact there, and a sum, quotient or root of 11-bit (or 8-bit)
numbers rounded to 53 bits first rounds right; a fused multiply-add goes through round-to-odd.

Approximate functions are computed in f64 and rounded once; division and square root are correctly rounded (but
`div.approx` divides by the reciprocal, which is zero from 2^126 on).
Packed values are computed element by element (packed.py).
"""

from ptxsim.execute.arithmetic import DOWN, NEAREST, NEAREST_AWAY, TO_ODD, UP, ZERO
from ptxsim.lowering.builder import Destination, UopBuilder, rule
from ptxsim.lowering.instructions.packed import element_type, is_packed, merge, split, write_each
from ptxsim.lowering.rows import Operation, row_bits
from ptxtool.isa.types import TYPES, Type

MODES = {"rn": NEAREST, "rz": ZERO, "rm": DOWN, "rp": UP, "rna": NEAREST_AWAY}
_F64 = TYPES["f64"]


def float_source(builder: UopBuilder, op: Operation, index: int, type_: Type | None = None) -> int:
    """A floating-point operand, subnormals flushed where the instruction says `.ftz`, `.abs` applied (PTXPlus)."""
    type_ = type_ or op.type
    row = builder.source(op, index, type_)
    if index == 1 and builder.takes_absolute(op):
        row = builder.compute(f"abs_f{row_bits(type_)}", row)
    is_cvt = op.match.form.sem == "cvt"  # whose `.ftz` is about f32 alone
    return flushed(builder, row, type_) if op.has("ftz") and not (is_cvt and type_.name != "f32") else row


def flushed(builder: UopBuilder, row: int, type_: Type) -> int:
    """A value whose subnormals are zero; bf16 and f64 keep theirs."""
    if type_.name == "f32x2":
        return merge(
            builder, [builder.compute("flush_f32", part) for part in split(builder, row, type_)], type_
        )
    name = type_.name.removesuffix("x2")
    return builder.compute(f"flush_{name}", row) if name in ("f32", "f16") else row


def to_double(builder: UopBuilder, row: int, type_: Type) -> int:
    """The value as f64, exactly."""
    if type_.bits == 64:
        return row
    if type_.bits == 32:
        return builder.compute("f2d", row)
    if type_.name == "bf16":
        return builder.compute("f2d", builder.compute("shl_u32", row, builder.constant(16)))
    return builder.compute("h2d", row)


def from_double(builder: UopBuilder, row: int, type_: Type, mode: int, d: int | None = None) -> int:
    """An f64 rounded to a type, into row `d` or a temporary one."""
    if type_.bits == 64:
        return row if d is None else builder.emit("mov_u64", d, row)
    target = builder.temporary() if d is None else d
    if type_.bits == 32:
        return builder.emit({NEAREST: "d2f", ZERO: "d2f_rz", DOWN: "d2f_rm", UP: "d2f_rp"}[mode], target, row)
    return builder.emit("d2b" if type_.name == "bf16" else "d2h", target, row, e=mode)


def compare_type(builder: UopBuilder, first: int, second: int, type_: Type) -> tuple[int, int, Type]:
    """Halves as f32 for comparison; others as they are."""
    if type_.bits != 16:
        return first, second, type_
    return to_double(builder, first, type_), to_double(builder, second, type_), _F64


def in_double(
    builder: UopBuilder, name: str, rows: list[int], mode: int, exact: bool = False, down: bool = False
) -> int:
    """add, mul, div, sqrt or fma in f64, rounded by `mode` (TO_ODD too, for a further rounding).

    `exact` says that no error is possible; `down` that the result is rounded down in the end, which shows in zeros.
    """
    rows = [*rows, -1, -1]
    rounded = builder.compute(f"{name}_f64", rows[0], rows[1], rows[2])
    if exact:
        return rounded
    error = builder.temporary(64)
    if name == "fma":
        builder.emit("fma_error", error, rows[0], rows[1], rows[2], e=rounded)
    elif name == "sqrt":
        builder.emit("sqrt_error", error, rows[0], rounded)
    else:
        builder.emit(f"{name}_error", error, rows[0], rows[1], rounded)
    value = builder.compute("adjust", rounded, error, e=mode)
    if down and name in ("add", "fma"):
        first = rows[0] if name == "add" else builder.compute("xor_u64", rows[0], rows[1])
        value = builder.compute("down_zero", value, first, rows[1] if name == "add" else rows[2])
    return value


def arithmetic(
    builder: UopBuilder, name: str, rows: list[int], type_: Type, mode: int, d: int | None = None
) -> int:
    """add, mul, div, sqrt, fma of values of a type, rounded once; into `d` or a temporary row."""
    if type_.bits >= 32 and mode == NEAREST:
        target = builder.temporary(type_.bits) if d is None else d
        return builder.emit(f"{name}_f{type_.bits}", target, *rows)
    if type_.bits == 64:
        return from_double(builder, in_double(builder, name, rows, mode, down=mode == DOWN), type_, mode, d)
    doubles = [to_double(builder, row, type_) for row in rows]
    # a sum of f32 (and any fused operation) may be inexact in f64: to odd first, then rounding once more is right
    needs_odd = name == "fma" or (name == "add" and type_.bits == 32)
    value = in_double(builder, name, doubles, TO_ODD, exact=not needs_odd, down=mode == DOWN)
    return from_double(builder, value, type_, mode, d)


def _float_rule(builder: UopBuilder, op: Operation, name: str, rows: list[int]) -> None:
    """An arithmetic instruction: packed or not, with `.sat`, `.relu`, `.ftz` and `.oob`."""
    element, mode = element_type(op.type), MODES[op.rounding]

    def one(values: list[int], row: int | None = None) -> int:
        if not (op.has("sat") or op.has("relu") or op.has("oob") or (op.has("ftz") and element.bits <= 32)):
            return arithmetic(builder, name, values, element, mode, row)
        result = _finish(builder, op, arithmetic(builder, name, values, element, mode), element, row)
        return _without_oob(builder, values, result) if op.has("oob") else result

    if is_packed(op.type):
        write_each(builder, op, rows, one)
        return
    d = builder.destination(op)
    _finish_at(builder, d, one(rows, d.row), op.type)


def _finish_at(builder: UopBuilder, d: Destination, value: int, type_: Type) -> None:
    """Finish a destination, whose row may be that of its value already."""
    if value != d.row:
        builder.emit(f"mov_u{row_bits(type_)}", d.row, value)
    d.finish()


OOB_NAN = 0xFFFF
"""What fills an f16 or bf16 outside of a tensor where NaNs are asked for. guess: no manual gives the bits."""


def _without_oob(builder: UopBuilder, values: list[int], result: int) -> int:
    """`.oob`: +0 where an operand is the NaN that stands for "out of bounds"."""
    for value in values:
        found = builder.compute("eq_u32", value, builder.constant(OOB_NAN))
        result = builder.compute("sel_u32", builder.constant(0), result, found)
    return result


def _finish(builder: UopBuilder, op: Operation, value: int, type_: Type, d: int | None = None) -> int:
    """`.ftz`, `.sat` and `.relu` of a result of a scalar type, into row `d` or a temporary one."""
    if op.has("ftz"):
        value = flushed(builder, value, type_)
    if type_.bits == 16 and (op.has("sat") or op.has("relu")):
        double = to_double(builder, value, type_)
        limited = builder.compute("sat_f64", double) if op.has("sat") else relu(builder, double)
        return from_double(builder, limited, type_, NEAREST)
    if op.has("sat"):
        return builder.emit(f"sat_f{type_.bits}", builder.temporary(type_.bits) if d is None else d, value)
    return value


def relu(builder: UopBuilder, double: int) -> int:
    """Negative values and -0 become +0, NaNs stay."""
    zero = builder.constant(0, 64)
    return builder.compute("sel_u64", zero, double, builder.compute("le_f64", double, zero))


def float_binary(builder: UopBuilder, op: Operation, name: str) -> None:
    """add, sub, mul, div, fma of floats; in mixed precision all but the last operand are halves, of pairs the first."""
    n = 3 if name == "fma" else 2
    rows = [float_source(builder, op, k, _operand_type(op, k, n)) for k in range(1, n + 1)]
    for k in range(n - 1):
        if _operand_type(op, k + 1, n) is not op.type:
            half = element_type(op.stype)
            singles = [
                builder.compute("d2f", to_double(builder, row, half))
                for row in split(builder, rows[k], op.stype)
            ]
            rows[k] = merge(builder, singles, op.type)
    if name == "div" and op.has("approx"):
        rows[1] = _with_reciprocal(builder, rows[1])
    if name == "subr":
        rows.reverse()
        name = "sub"
    if name == "sub":
        if op.type.bits >= 32 and op.rounding == "rn" and not is_packed(op.type):
            _float_sub(builder, op, rows)
            return
        rows[1] = negated(builder, rows[1], op.type)
        name = "add"
    _float_rule(builder, op, name, rows)


def _with_reciprocal(builder: UopBuilder, divisor: int) -> int:
    """A divisor of `div.approx`: above 2^126, where its reciprocal would be subnormal, an infinity."""
    is_far = builder.compute(
        "lt_f32", builder.constant_float(2.0**126, 32), builder.compute("abs_f32", divisor)
    )
    infinity = builder.compute("copysign_f32", divisor, builder.constant(0x7F800000))
    return builder.compute("sel_u32", infinity, divisor, is_far)


def _operand_type(op: Operation, index: int, n: int) -> Type:
    if op.match.stype in ("f16x2", "bf16x2"):
        return op.stype if index == 1 else op.type
    return op.stype if op.match.stype in ("f16", "bf16") and index < n else op.type


def negated(builder: UopBuilder, row: int, type_: Type) -> int:
    if type_.name == "f32x2":
        return builder.compute("xor_u64", row, builder.constant(0x8000000080000000, 64))
    if is_packed(type_):
        return builder.compute("xor_u32", row, builder.constant(0x80008000))
    return builder.negate(row, type_)


def _float_sub(builder: UopBuilder, op: Operation, rows: list[int]) -> None:
    d = builder.destination(op)
    name = f"sub_f{op.type.bits}"
    if op.has("sat") or (op.has("ftz") and op.type.bits == 32):
        _finish_at(builder, d, _finish(builder, op, builder.compute(name, *rows), op.type, d.row), op.type)
    else:
        d.write(name, *rows)


@rule("fma")
def _fma(builder: UopBuilder, op: Operation) -> None:
    float_binary(builder, op, "fma")


@rule("rcp")
def _rcp(builder: UopBuilder, op: Operation) -> None:
    bits = op.type.bits
    one = builder.constant_float(1.0, bits)
    source = float_source(builder, op, 1)
    if bits == 64 and op.has("approx"):
        d = builder.destination(op)
        _write_upper(builder, d, builder.compute("div_f64", one, _upper_half(builder, source)))
        return
    _float_rule(builder, op, "div", [one, source])


def _upper_half(builder: UopBuilder, row: int) -> int:
    """`.approx.ftz.f64`: only the upper word of a value counts, and subnormals are zero."""
    upper = builder.compute("keep20_f64", row)
    size = builder.compute("abs_f64", upper)
    tiny = builder.compute("lt_u64", size, builder.constant(1 << 52, 64))
    zero = builder.compute("xor_u64", upper, size)
    return builder.compute("sel_u64", zero, upper, tiny)


def _write_upper(builder: UopBuilder, d: Destination, row: int) -> None:
    """Write the result of `.approx.ftz.f64`, NaNs as one."""
    nan = builder.constant(0x7FFFFFFF << 32, 64)
    d.write("sel_u64", _upper_half(builder, row), nan, builder.compute("num_f64", row, row))


@rule("sqrt")
def _sqrt(builder: UopBuilder, op: Operation) -> None:
    _float_rule(builder, op, "sqrt", [float_source(builder, op, 1)])


@rule("rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def _function(builder: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    element = element_type(op.type)

    def one(values: list[int], row: int | None = None) -> int:
        if element.bits == 32:
            return builder.emit(f"{name}_f32", builder.temporary() if row is None else row, values[0])
        single = (
            values[0]
            if element.name == "f32"
            else builder.compute("d2f", to_double(builder, values[0], element))
        )
        if op.has("ftz"):  # bf16, whose subnormals are those of f32
            single = builder.compute("flush_f32", single)
        value = builder.compute(f"{name}_f32", single)
        if op.has("ftz"):
            value = builder.compute("flush_f32", value)
        return from_double(builder, builder.compute("f2d", value), element, NEAREST, row)

    source = float_source(builder, op, 1)
    if is_packed(op.type):
        write_each(builder, op, [source], one)
        return
    d = builder.destination(op)
    if op.type.bits == 64 and op.has("ftz"):
        _write_upper(builder, d, builder.compute("rsqrt_f64", _upper_half(builder, source)))
    elif op.type.bits == 64:
        d.write("rsqrt_f64", source)
    elif op.type.bits == 32 and op.has("ftz"):
        d.write("flush_f32", one([source]))
    else:
        one([source], d.row)
        d.finish()


@rule("copysign")
def _copysign(builder: UopBuilder, op: Operation) -> None:
    builder.destination(op).write(f"copysign_f{op.type.bits}", builder.source(op, 1), builder.source(op, 2))


def float_sign(builder: UopBuilder, op: Operation, name: str) -> None:
    """abs and neg of floats."""
    source = float_source(builder, op, 1)
    d = builder.destination(op)
    if op.type.bits >= 32 and not is_packed(op.type):
        d.write(f"{name}_f{op.type.bits}", source)
    else:
        mask = 0x8000 if op.type.bits == 16 else 0x80008000
        d.write("andn_u32" if name == "abs" else "xor_u32", source, builder.constant(mask))


def float_extreme(builder: UopBuilder, op: Operation, name: str) -> None:
    """min and max of floats, of two or three operands."""
    sources = [float_source(builder, op, k) for k in range(1, len(op.operands))]
    write_each(builder, op, sources, lambda rows: extreme_of(builder, op, name, rows, element_type(op.type)))


def extreme_of(builder: UopBuilder, op: Operation, name: str, sources: list[int], type_: Type) -> int:
    """The least or greatest of floats, as the modifiers `.abs`, `.NaN` and `.xorsign.abs` have it."""
    sizes = sources
    with_sign = op.has("xorsign.abs")
    if (with_sign or op.has("abs")) and not builder.ptxplus:
        keep = builder.constant((1 << (type_.bits - 1)) - 1)
        sizes = [builder.compute("and_u32", row, keep) for row in sources]
    small = type_.bits == 16
    values = [to_double(builder, row, type_) for row in sizes] if small else sizes
    bits = 64 if small else type_.bits
    value = values[0]
    for other in values[1:]:
        chosen = builder.compute(f"{name}_f{bits}", value, other, value, e=other)  # numbers and their bits
        if op.has("NaN"):
            numbers = builder.compute(f"num_f{bits}", value, other)
            nan = builder.constant(0x7FF8 << 48 if bits == 64 else 0x7FFFFFFF, bits)
            chosen = builder.compute(f"sel_u{bits}", chosen, nan, numbers)
        value = chosen
    is_number = builder.compute(f"num_f{bits}", value, value) if with_sign else -1
    if small:
        value = from_double(builder, value, type_, NEAREST)
    elif bits == 32:
        value = builder.compute("canonical_f32", value)
    if with_sign:
        signs = builder.compute("xor_u32", sources[0], sources[1])
        sign = builder.compute("and_u32", signs, builder.constant(1 << (type_.bits - 1)))
        signed = builder.compute("or_u32", value, sign)
        value = builder.compute("sel_u32", signed, value, is_number)
    return value
