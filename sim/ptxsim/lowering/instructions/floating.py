"""Floating-point arithmetic: one rounding an operation, in every rounding mode and at every width.

f32 and f64 rounded to nearest are one micro-operation. Directed rounding takes the result rounded to nearest and its
error. Halves are computed in f64: their products are exact there, and a sum, quotient or root of 11-bit (or 8-bit)
numbers rounded to 53 bits first rounds right; a fused multiply-add goes through round-to-odd.

Approximate functions are computed in f64 and rounded once; division and square root are correctly rounded (but
`div.approx` divides by the reciprocal, which is zero from 2^126 on).
Packed values are computed element by element (packed.py).
"""

from ptxsim.execute.arithmetic import DOWN, NEAREST, NEAREST_AWAY, TO_ODD, UP, ZERO
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.packed import each, element_type, is_packed, merge, split
from ptxsim.lowering.rows import Operation
from ptxtool.isa.types import TYPES, Type

MODES = {"rn": NEAREST, "rz": ZERO, "rm": DOWN, "rp": UP, "rna": NEAREST_AWAY}
_ERRORS = {"add": "add_error", "mul": "mul_error", "div": "div_error", "sqrt": "sqrt_error"}
_F64 = TYPES["f64"]


def float_source(b: UopBuilder, op: Operation, index: int, type_: Type | None = None) -> int:
    """A floating-point operand, subnormals flushed where the instruction says `.ftz`, `.abs` applied (PTXPlus)."""
    type_ = type_ or op.type
    row = b.source(op, index, type_)
    if index == 1 and b.takes_absolute(op):
        row = b.compute("abs_f64" if type_.bits == 64 else "abs_f32", row)
    is_cvt = op.match.form.sem == "cvt"  # whose `.ftz` is about f32 alone
    return flushed(b, row, type_) if op.has("ftz") and not (is_cvt and type_.name != "f32") else row


def flushed(b: UopBuilder, row: int, type_: Type) -> int:
    """A value whose subnormals are zero; bf16 and f64 keep theirs."""
    if type_.name == "f32x2":
        return merge(b, [b.compute("flush_f32", part) for part in split(b, row, type_)], type_)
    name = {"f32": "flush_f32", "f16": "flush_f16", "f16x2": "flush_f16"}.get(type_.name)
    return row if name is None else b.compute(name, row)


def to_double(b: UopBuilder, row: int, type_: Type) -> int:
    """The value as f64, exactly."""
    if type_.bits == 64:
        return row
    if type_.bits == 32:
        return b.compute("f2d", row)
    if type_.name == "bf16":
        return b.compute("f2d", b.compute("shl_u32", row, b.constant(16)))
    return b.compute("h2d", row)


def from_double(b: UopBuilder, row: int, type_: Type, mode: int, d: int | None = None) -> int:
    """An f64 rounded to a type, into row `d` or a temporary one."""
    if type_.bits == 64:
        return row if d is None else b.emit("mov_u64", d, row)
    target = b.temporary() if d is None else d
    if type_.bits == 32:
        return b.emit({NEAREST: "d2f", ZERO: "d2f_rz", DOWN: "d2f_rm", UP: "d2f_rp"}[mode], target, row)
    return b.emit("d2b" if type_.name == "bf16" else "d2h", target, row, e=mode)


def compare_type(b: UopBuilder, first: int, second: int, type_: Type) -> tuple[int, int, Type]:
    """Halves as f32 for comparison; others as they are."""
    if type_.bits != 16:
        return first, second, type_
    return to_double(b, first, type_), to_double(b, second, type_), _F64


def in_double(
    b: UopBuilder, name: str, rows: list[int], mode: int, exact: bool = False, down: bool = False
) -> int:
    """add, mul, div, sqrt or fma in f64, rounded by `mode` (TO_ODD too, for a further rounding).

    `exact` says that no error is possible; `down` that the result is rounded down in the end, which shows in zeros.
    """
    rows = [*rows, -1, -1]
    rounded = b.compute(f"{name}_f64", rows[0], rows[1], rows[2])
    if exact:
        return rounded
    error = b.temporary(64)
    if name == "fma":
        b.emit("fma_error", error, rows[0], rows[1], rows[2], e=rounded)
    elif name == "sqrt":
        b.emit("sqrt_error", error, rows[0], rounded)
    else:
        b.emit(_ERRORS[name], error, rows[0], rows[1], rounded)
    value = b.compute("adjust", rounded, error, e=mode)
    if down and name in ("add", "fma"):
        first = rows[0] if name == "add" else b.compute("xor_u64", rows[0], rows[1])
        value = b.compute("down_zero", value, first, rows[1] if name == "add" else rows[2])
    return value


def arithmetic(
    b: UopBuilder, name: str, rows: list[int], type_: Type, mode: int, d: int | None = None
) -> int:
    """add, mul, div, sqrt, fma of values of a type, rounded once; into `d` or a temporary row."""
    if type_.bits >= 32 and mode == NEAREST:
        target = b.temporary(type_.bits) if d is None else d
        return b.emit(f"{name}_f{type_.bits}", target, *rows)
    if type_.bits == 64:
        return from_double(b, in_double(b, name, rows, mode, down=mode == DOWN), type_, mode, d)
    doubles = [to_double(b, row, type_) for row in rows]
    # a sum of f32 (and any fused operation) may be inexact in f64: to odd first, then rounding once more is right
    needs_odd = name == "fma" or (name == "add" and type_.bits == 32)
    value = in_double(b, name, doubles, TO_ODD, exact=not needs_odd, down=mode == DOWN)
    return from_double(b, value, type_, mode, d)


def _float_rule(b: UopBuilder, op: Operation, name: str, rows: list[int]) -> None:
    """An arithmetic instruction: packed or not, with `.sat`, `.relu`, `.ftz` and `.oob`."""
    type_, element = op.type, element_type(op.type)
    mode = MODES[op.rounding]

    def one(values: list[int], row: int | None = None) -> int:
        if not (op.has("sat") or op.has("relu") or op.has("oob") or (op.has("ftz") and element.bits <= 32)):
            return arithmetic(b, name, values, element, mode, row)
        result = _finish(b, op, arithmetic(b, name, values, element, mode), element, row)
        return _without_oob(b, values, result) if op.has("oob") else result

    if is_packed(type_):
        value = each(b, type_, rows, one)
        d = b.destination(op)
        b.emit(f"mov_u{type_.bits}", d.row, value)
    else:
        d = b.destination(op)
        value = one(rows, d.row)
        if value != d.row:
            b.emit(f"mov_u{max(32, type_.bits)}", d.row, value)
    d.finish()


OOB_NAN = 0xFFFF
"""What fills an f16 or bf16 outside of a tensor where NaNs are asked for. guess: no manual gives the bits."""


def _without_oob(b: UopBuilder, values: list[int], result: int) -> int:
    """`.oob`: +0 where an operand is the NaN that stands for "out of bounds"."""
    for value in values:
        found = b.compute("eq_u32", value, b.constant(OOB_NAN))
        result = b.compute("sel_u32", b.constant(0), result, found)
    return result


def _finish(b: UopBuilder, op: Operation, value: int, type_: Type, d: int | None = None) -> int:
    """`.ftz`, `.sat` and `.relu` of a result of a scalar type, into row `d` or a temporary one."""
    if op.has("ftz"):
        value = flushed(b, value, type_)
    if type_.bits == 16:
        return _finish_small(b, op, value, type_)
    if op.has("sat"):
        return b.emit(f"sat_f{type_.bits}", b.temporary(type_.bits) if d is None else d, value)
    return value


def _finish_small(b: UopBuilder, op: Operation, row: int, type_: Type) -> int:
    """`.sat` and `.relu` of a 16-bit result."""
    if not (op.has("sat") or op.has("relu")):
        return row
    value = to_double(b, row, type_)
    value = b.compute("sat_f64", value) if op.has("sat") else relu(b, value)
    return from_double(b, value, type_, NEAREST)


def relu(b: UopBuilder, double: int) -> int:
    """Negative values and -0 become +0, NaNs stay."""
    zero = b.constant(0, 64)
    return b.compute("sel_u64", zero, double, b.compute("le_f64", double, zero))


def float_binary(b: UopBuilder, op: Operation, name: str) -> None:
    """add, sub, mul, div, fma of floats; in mixed precision all but the last operand are halves."""
    n = 3 if name == "fma" else 2
    rows = [float_source(b, op, k, _operand_type(op, k, n)) for k in range(1, n + 1)]
    for k in range(n - 1):
        if _operand_type(op, k + 1, n) is not op.type:
            rows[k] = b.compute("d2f", to_double(b, rows[k], op.stype))
    if name == "div" and op.has("approx"):
        rows[1] = _with_reciprocal(b, rows[1])
    if name == "subr":
        rows.reverse()
        name = "sub"
    if name == "sub":
        if op.type.bits >= 32 and op.rounding == "rn" and not is_packed(op.type):
            _float_sub(b, op, rows)
            return
        rows[1] = negated(b, rows[1], op.type)
        name = "add"
    _float_rule(b, op, name, rows)


def _with_reciprocal(b: UopBuilder, divisor: int) -> int:
    """A divisor of `div.approx`: above 2^126, where its reciprocal would be subnormal, an infinity."""
    is_far = b.compute("lt_f32", b.constant_float(2.0**126, 32), b.compute("abs_f32", divisor))
    infinity = b.compute("copysign_f32", divisor, b.constant(0x7F800000))
    return b.compute("sel_u32", infinity, divisor, is_far)


def _operand_type(op: Operation, index: int, n: int) -> Type:
    return op.stype if op.match.stype in ("f16", "bf16") and index < n else op.type


def negated(b: UopBuilder, row: int, type_: Type) -> int:
    if type_.name == "f32x2":
        return b.compute("xor_u64", row, b.constant(0x8000000080000000, 64))
    if is_packed(type_):
        return b.compute("xor_u32", row, b.constant(0x80008000))
    return b.negate(row, type_)


def _float_sub(b: UopBuilder, op: Operation, rows: list[int]) -> None:
    d = b.destination(op)
    name = f"sub_f{op.type.bits}"
    if op.has("sat") or (op.has("ftz") and op.type.bits == 32):
        value = _finish(b, op, b.compute(name, *rows), op.type, d.row)
        if value != d.row:
            b.emit("mov_u32", d.row, value)
    else:
        b.emit(name, d.row, *rows)
    d.finish()


@rule("fma")
def _fma(b: UopBuilder, op: Operation) -> None:
    float_binary(b, op, "fma")


@rule("rcp")
def _rcp(b: UopBuilder, op: Operation) -> None:
    bits = op.type.bits
    one = b.constant_float(1.0, bits)
    source = float_source(b, op, 1)
    if bits == 64 and op.has("approx"):
        d = b.destination(op)
        _upper_result(b, d.row, b.compute("div_f64", one, _upper_half(b, None, source)))
        d.finish()
        return
    _float_rule(b, op, "div", [one, source])


def _upper_half(b: UopBuilder, d: int | None, row: int) -> int:
    """`.approx.ftz.f64`: only the upper word of a value counts, and subnormals are zero."""
    upper = b.compute("keep20_f64", row)
    size = b.compute("abs_f64", upper)
    tiny = b.compute("lt_u64", size, b.constant(1 << 52, 64))
    zero = b.compute("xor_u64", upper, size)
    return b.emit("sel_u64", b.temporary(64) if d is None else d, zero, upper, tiny)


def _upper_result(b: UopBuilder, d: int, row: int) -> None:
    """The result of `.approx.ftz.f64`, NaNs as one."""
    nan = b.constant(0x7FFFFFFF << 32, 64)
    b.emit("sel_u64", d, _upper_half(b, None, row), nan, b.compute("num_f64", row, row))


@rule("sqrt")
def _sqrt(b: UopBuilder, op: Operation) -> None:
    _float_rule(b, op, "sqrt", [float_source(b, op, 1)])


@rule("rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def _function(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    element = element_type(op.type)

    def one(values: list[int], row: int | None = None) -> int:
        if element.bits == 32:
            return b.emit(f"{name}_f32", b.temporary() if row is None else row, values[0])
        single = values[0] if element.name == "f32" else b.compute("d2f", to_double(b, values[0], element))
        if op.has("ftz"):  # bf16, whose subnormals are those of f32
            single = b.compute("flush_f32", single)
        value = b.compute(f"{name}_f32", single)
        if op.has("ftz"):
            value = b.compute("flush_f32", value)
        return from_double(b, b.compute("f2d", value), element, NEAREST, row)

    source = float_source(b, op, 1)
    if is_packed(op.type):
        value = each(b, op.type, [source], one)
        b.destination(op).write("mov_u32", value)
        return
    d = b.destination(op)
    if op.type.bits == 64:
        if op.has("ftz"):
            _upper_result(b, d.row, b.compute("rsqrt_f64", _upper_half(b, None, source)))
        else:
            b.emit("rsqrt_f64", d.row, source)
    elif op.type.bits == 32 and op.has("ftz"):
        b.emit("flush_f32", d.row, one([source]))
    else:
        one([source], d.row)
    d.finish()


@rule("copysign")
def _copysign(b: UopBuilder, op: Operation) -> None:
    b.destination(op).write(f"copysign_f{op.type.bits}", b.source(op, 1), b.source(op, 2))


def float_sign(b: UopBuilder, op: Operation, name: str) -> None:
    """abs and neg of floats."""
    type_ = op.type
    source = float_source(b, op, 1)
    d = b.destination(op)
    if type_.bits >= 32 and not is_packed(type_):
        b.emit(f"{name}_f{type_.bits}", d.row, source)
    else:
        mask = 0x8000 if type_.bits == 16 else 0x80008000
        b.emit("andn_u32" if name == "abs" else "xor_u32", d.row, source, b.constant(mask))
    d.finish()


def float_extreme(b: UopBuilder, op: Operation, name: str) -> None:
    """min and max of floats, of two or three operands."""
    type_ = op.type
    sources = [float_source(b, op, k) for k in range(1, len(op.operands))]
    value = each(b, type_, sources, lambda rows: _extreme(b, op, name, rows, element_type(type_)))
    b.destination(op).write("mov_u64" if type_.bits == 64 else "mov_u32", value)


def _extreme(b: UopBuilder, op: Operation, name: str, sources: list[int], type_: Type) -> int:
    sizes = sources
    with_sign = op.has("xorsign.abs")
    if (with_sign or op.has("abs")) and not b.ptxplus:
        keep = b.constant((1 << (type_.bits - 1)) - 1)
        sizes = [b.compute("and_u32", row, keep) for row in sources]
    small = type_.bits == 16
    values = [to_double(b, row, type_) for row in sizes] if small else sizes
    bits = 64 if small else type_.bits
    value = values[0]
    for other in values[1:]:
        chosen = b.compute(f"{name}_f{bits}", value, other, value, e=other)  # numbers and their bits
        if op.has("NaN"):
            numbers = b.compute(f"num_f{bits}", value, other)
            nan = b.constant(0x7FF8 << 48 if bits == 64 else 0x7FFFFFFF, bits)
            chosen = b.compute(f"sel_u{bits}", chosen, nan, numbers)
        value = chosen
    is_number = b.compute(f"num_f{bits}", value, value) if with_sign else -1
    if small:
        value = from_double(b, value, type_, NEAREST)
    elif bits == 32:
        value = b.compute("canonical_f32", value)
    if with_sign:
        signs = b.compute("xor_u32", sources[0], sources[1])
        sign = b.compute("and_u32", signs, b.constant(1 << (type_.bits - 1)))
        signed = b.compute("or_u32", value, sign)
        value = b.compute("sel_u32", signed, value, is_number)
    return value
