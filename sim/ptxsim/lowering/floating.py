"""Floating-point arithmetic: one rounding an operation, in every rounding mode and at every width.

f32 and f64 rounded to nearest are one micro-operation. Directed rounding takes the result rounded to nearest and its
error. Halves are computed in f64: their products are exact there, and a sum, quotient or root of 11-bit (or 8-bit)
numbers rounded to 53 bits first rounds right; a fused multiply-add goes through round-to-odd.

Approximate functions are computed in f64 and rounded once; division and square root are always correctly rounded.
"""

from ptxsim.lowering.builder import Builder, Operation, rule, unsupported
from ptxsim.semantics.arithmetic import DOWN, NEAREST, NEAREST_AWAY, TO_ODD, UP, ZERO
from ptxtool.isa.types import TYPES, Type

MODES = {"rn": NEAREST, "rz": ZERO, "rm": DOWN, "rp": UP, "rna": NEAREST_AWAY}
_ERRORS = {"add": "add_error", "mul": "mul_error", "div": "div_error", "sqrt": "sqrt_error"}
_F64 = TYPES["f64"]


def float_source(b: Builder, op: Operation, index: int, type_: Type | None = None) -> int:
    """A floating-point operand, subnormals flushed where the instruction says `.ftz`, `.abs` applied (PTXPlus)."""
    type_ = type_ or op.type
    row = b.source(op, index, type_)
    if b.ptxplus and op.has("abs") and index == 1:
        row = b.compute("abs_f64" if type_.bits == 64 else "abs_f32", row)
    if op.has("ftz") and type_.name == "f32":
        row = b.compute("flush_f32", row)
    return row


def to_double(b: Builder, row: int, type_: Type) -> int:
    """The value as f64, exactly."""
    if type_.bits == 64:
        return row
    if type_.bits == 32:
        return b.compute("f2d", row)
    if type_.name == "bf16":
        return b.compute("f2d", b.compute("shl_u32", row, b.constant(16)))
    return b.compute("h2d", row)


def from_double(b: Builder, row: int, type_: Type, mode: int, d: int | None = None) -> int:
    """An f64 rounded to a type, into row `d` or a temporary one."""
    if type_.bits == 64:
        return row if d is None else b.emit("mov_u64", d, row)
    target = b.temporary() if d is None else d
    if type_.bits == 32:
        return b.emit({NEAREST: "d2f", ZERO: "d2f_rz", DOWN: "d2f_rm", UP: "d2f_rp"}[mode], target, row)
    return b.emit("d2b" if type_.name == "bf16" else "d2h", target, row, e=mode)


def compare_type(b: Builder, first: int, second: int, type_: Type) -> tuple[int, int, Type]:
    """Halves as f32 for comparison; others as they are."""
    if type_.bits != 16:
        return first, second, type_
    return to_double(b, first, type_), to_double(b, second, type_), _F64


def in_double(
    b: Builder, name: str, rows: list[int], mode: int, exact: bool = False, down: bool = False
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


def arithmetic(b: Builder, name: str, rows: list[int], type_: Type, mode: int, d: int | None = None) -> int:
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


def _halves(b: Builder, row: int) -> tuple[int, int]:
    return b.compute("zext16_u32", row), b.compute("high16_u32", row)


def _float_rule(b: Builder, op: Operation, name: str, rows: list[int]) -> None:
    """An arithmetic instruction: packed or not, with `.sat`, `.relu` and `.ftz`."""
    type_ = op.type
    mode = MODES[op.rounding]
    if type_.name in ("f16x2", "bf16x2"):
        half = TYPES[type_.name[:-2]]
        pairs = [_halves(b, row) for row in rows]
        low, high = (
            _finish_small(b, op, arithmetic(b, name, [pair[k] for pair in pairs], half, mode), half)
            for k in (0, 1)
        )
        d = b.destination(op)
        b.emit("merge_high_u32", d.row, low, high)
        d.finish()
        return
    d = b.destination(op)
    modifiers = [m for m in ("sat", "relu") if op.has(m)]
    if type_.bits == 16:
        value = _finish_small(b, op, arithmetic(b, name, rows, type_, mode), type_)
        b.emit("mov_u32", d.row, value)
    elif not modifiers and not (op.has("ftz") and type_.bits == 32):
        arithmetic(b, name, rows, type_, mode, d.row)
    else:
        value = arithmetic(b, name, rows, type_, mode)
        finish_float(b, op, value, d.row)
    d.finish()


def finish_float(b: Builder, op: Operation, value: int, d: int) -> None:
    """`.ftz` and `.sat` of an f32 or f64 result, into row `d`."""
    if op.has("relu"):
        unsupported("'.relu' of this type")
    bits = op.type.bits
    if op.has("ftz") and bits == 32:
        if not op.has("sat"):
            b.emit("flush_f32", d, value)
            return
        value = b.compute("flush_f32", value)
    b.emit(f"sat_f{bits}" if op.has("sat") else f"mov_u{bits}", d, value)


def _finish_small(b: Builder, op: Operation, row: int, type_: Type) -> int:
    """`.sat` and `.relu` of a 16-bit result."""
    if not (op.has("sat") or op.has("relu")):
        return row
    value = to_double(b, row, type_)
    if op.has("sat"):
        value = b.compute("sat_f64", value)
    else:  # negative values become +0, NaNs stay
        zero = b.constant(0, 64)
        value = b.compute("sel_u64", zero, value, b.compute("le_f64", value, zero))
    return from_double(b, value, type_, NEAREST)


def float_binary(b: Builder, op: Operation, name: str) -> None:
    """add, sub, mul, div, fma of floats."""
    rows = [float_source(b, op, k) for k in range(1, len(op.operands))]
    if name == "fma":
        rows = rows[:3]
    else:
        rows = rows[:2]
    if name == "subr":
        rows.reverse()
        name = "sub"
    if name == "sub":
        if op.type.bits >= 32 and op.rounding == "rn" and not op.type.name.endswith("x2"):
            _float_sub(b, op, rows)
            return
        rows[1] = negated(b, rows[1], op.type)
        name = "add"
    _float_rule(b, op, name, rows)


def negated(b: Builder, row: int, type_: Type) -> int:
    if type_.name.endswith("x2"):
        return b.compute("xor_u32", row, b.constant(0x80008000))
    return b.negate(row, type_)


def _float_sub(b: Builder, op: Operation, rows: list[int]) -> None:
    d = b.destination(op)
    name = f"sub_f{op.type.bits}"
    if op.has("sat") or (op.has("ftz") and op.type.bits == 32):
        finish_float(b, op, b.compute(name, *rows), d.row)
    else:
        b.emit(name, d.row, *rows)
    d.finish()


@rule("fma")
def _fma(b: Builder, op: Operation) -> None:
    float_binary(b, op, "fma")


@rule("rcp")
def _rcp(b: Builder, op: Operation) -> None:
    bits = op.type.bits
    one = b.constant_float(1.0, bits)
    source = float_source(b, op, 1)
    if bits == 64 and op.has("approx"):
        d = b.destination(op)
        b.emit("keep20_f64", d.row, b.compute("div_f64", one, b.compute("keep20_f64", source)))
        d.finish()
        return
    _float_rule(b, op, "div", [one, source])


@rule("sqrt")
def _sqrt(b: Builder, op: Operation) -> None:
    _float_rule(b, op, "sqrt", [float_source(b, op, 1)])


@rule("rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def _function(b: Builder, op: Operation) -> None:
    name = op.match.form.sem
    if op.type.name.endswith("x2"):
        half = TYPES[op.type.name[:-2]]
        low, high = (
            from_double(
                b,
                to_double(
                    b,
                    b.compute(f"{name}_f32", from_double(b, to_double(b, row, half), TYPES["f32"], NEAREST)),
                    TYPES["f32"],
                ),
                half,
                NEAREST,
            )
            for row in _halves(b, b.source(op, 1))
        )
        d = b.destination(op)
        b.emit("merge_high_u32", d.row, low, high)
        d.finish()
        return
    source = float_source(b, op, 1)
    d = b.destination(op)
    if op.type.bits == 64:
        if op.has("ftz"):  # rsqrt.approx.ftz.f64: 20 bits of mantissa
            b.emit("keep20_f64", d.row, b.compute("rsqrt_f64", b.compute("keep20_f64", source)))
        else:
            b.emit("rsqrt_f64", d.row, source)
    elif op.type.bits == 16:
        single = from_double(b, to_double(b, source, op.type), TYPES["f32"], NEAREST)
        value = to_double(b, b.compute(f"{name}_f32", single), TYPES["f32"])
        from_double(b, value, op.type, NEAREST, d.row)
    elif op.has("ftz") or op.has("sat"):
        finish_float(b, op, b.compute(f"{name}_f32", source), d.row)
    else:
        b.emit(f"{name}_f32", d.row, source)
    d.finish()


@rule("copysign")
def _copysign(b: Builder, op: Operation) -> None:
    d = b.destination(op)
    b.emit(f"copysign_f{op.type.bits}", d.row, b.source(op, 1), b.source(op, 2))
    d.finish()


def float_sign(b: Builder, op: Operation, name: str) -> None:
    """abs and neg of floats."""
    type_ = op.type
    source = float_source(b, op, 1)
    d = b.destination(op)
    if type_.bits >= 32 and not type_.name.endswith("x2"):
        b.emit(f"{name}_f{type_.bits}", d.row, source)
    else:
        mask = 0x8000 if type_.bits == 16 else 0x80008000
        b.emit("andn_u32" if name == "abs" else "xor_u32", d.row, source, b.constant(mask))
    d.finish()


def float_extreme(b: Builder, op: Operation, name: str) -> None:
    """min and max of floats, of two or three operands."""
    type_ = op.type
    if op.has("xorsign") or (op.has("abs") and not b.ptxplus):
        unsupported(f"'{name}' with '.xorsign.abs'")
    sources = [float_source(b, op, k) for k in range(1, len(op.operands))]
    if type_.name.endswith("x2"):
        half = TYPES[type_.name[:-2]]
        pairs = [_halves(b, row) for row in sources]
        low, high = (_extreme(b, op, name, [pair[k] for pair in pairs], half) for k in (0, 1))
        d = b.destination(op)
        b.emit("merge_high_u32", d.row, low, high)
        d.finish()
        return
    d = b.destination(op)
    value = _extreme(b, op, name, sources, type_)
    b.emit("mov_u64" if type_.bits == 64 else "mov_u32", d.row, value)
    d.finish()


def _extreme(b: Builder, op: Operation, name: str, sources: list[int], type_: Type) -> int:
    small = type_.bits == 16
    values = [to_double(b, row, type_) for row in sources] if small else sources
    bits = 64 if small else type_.bits
    value = values[0]
    for other in values[1:]:
        chosen = b.compute(f"{name}_f{bits}", value, other, value, e=other)  # numbers and their bits
        if op.has("NaN"):
            numbers = b.compute(f"num_f{bits}", value, other)
            nan = b.constant(0x7FF8 << 48 if bits == 64 else 0x7FFFFFFF, bits)
            chosen = b.compute(f"sel_u{bits}", chosen, nan, numbers)
        value = chosen
    if small:
        return from_double(b, value, type_, NEAREST)
    return b.compute("canonical_f32", value) if bits == 32 else value
