"""Moves and conversions: mov, cvt and its packed forms, cvta, isspacep.

A float becomes an integer by way of f64: rounded to an integral value there, then saturated. A NaN gives 0, or the
upper bit alone where either side has 64 bits (PTX ISA, cvt). A 64-bit
integer becomes a float as the rounded sum of two exact halves.

PTXPlus prints the rounding of F2I and F2F without the `i`: `.rz` is TRUNC, `.rm` FLOOR, `.rp` CEIL, none is "nearest".
"""

from ptxsim.execute.arithmetic import NEAREST, TO_ODD
from ptxsim.execute.codes import (
    CONST_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    WINDOW_BYTES,
    WINDOWS_END,
)
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.compare import write_predicates
from ptxsim.lowering.instructions.floating import (
    MODES,
    arithmetic,
    float_source,
    from_double,
    in_double,
    relu,
    to_double,
)
from ptxsim.lowering.instructions.memory import load_vector, store_vector
from ptxsim.lowering.instructions.small_formats import to_format
from ptxsim.lowering.rows import AND_TABLE, COPY_TABLE, LONG, NOT_TABLE, WORD, Operation, unsupported
from ptxtool.ir.nodes import Immediate, Memory, Name, Operand, Vector
from ptxtool.isa.literals import literal
from ptxtool.isa.special import special
from ptxtool.isa.types import TYPES, Type

_F32, _F64 = TYPES["f32"], TYPES["f64"]


@rule("mov")
def _mov(b: UopBuilder, op: Operation) -> None:
    target, operand = op.operands[0], op.operands[1]
    type_ = b.loaded_type(op.type) if isinstance(operand, Memory) else op.type
    if type_.kind == "pred":
        _mov_predicate(b, target, operand)
        return
    if b.ptxplus and type_.name in ("bb64", "ff64", "bb128"):
        if isinstance(operand, Memory) and isinstance(target, Vector):
            load_vector(b, operand, b.operand_space(operand), WORD, target.items)
            return
        if isinstance(target, Memory) and isinstance(operand, Vector):
            store_vector(b, target, b.operand_space(target), WORD, operand.items)
            return
    vector = op.match.one_of("v2", "v4")
    if vector or type_.name == "b128":
        _mov_elements(b, op, int(vector[1:]) if vector else 0)
        return
    if isinstance(operand, Vector) and not b.ptxplus:
        _pack(b, op, target, operand)
        return
    if isinstance(target, Vector) and not b.ptxplus:
        _unpack(b, op, target, operand)
        return
    d = b.destination(op, 0, type_)
    source = b.source(op, 1, type_)
    b.emit("mov_u64" if type_.bits == 64 else "mov_u32", d.row, source)
    d.finish()


def _mov_elements(b: UopBuilder, op: Operation, n: int) -> None:
    """mov.v2, mov.v4 and mov.b128 (n = 0): element by element, all read before any is written."""
    if n == 0:
        type_ = LONG
        pair = [list(b.halves(o)) for o in op.operands[:2]]
    else:
        type_ = op.type
        pair = [list(_components(b, o, n)) for o in op.operands[:2]]
    mov = "mov_u64" if type_.bits == 64 else "mov_u32"
    rows = [b.compute(mov, b.value(o, type_)) for o in pair[1]]
    for row, target in zip(rows, pair[0], strict=True):
        b.place(target, type_).write(mov, row)


def _components(b: UopBuilder, operand: Operand, n: int) -> tuple[Operand, ...]:
    """The elements of a vector: in braces, or those of a vector register or special register."""
    if isinstance(operand, Vector) and len(operand.items) == n:
        return operand.items
    if isinstance(operand, Name):
        register = b.register(operand.text)
        if register.vector == n if register is not None else special(operand.text) is not None:
            return tuple(Name(operand.text, part) for part in "xyzw"[:n])
    unsupported(f"this operand as a vector of {n}")


def _mov_predicate(b: UopBuilder, target: Operand, operand: Operand) -> None:
    register = b.register(operand.text) if isinstance(operand, Name) else None
    if not b.ptxplus:
        source = b.predicate(operand)
        b.combine(COPY_TABLE, source, d=b.predicate_destination(target))
        return
    row = b.predicate_destination(target)
    if isinstance(operand, Immediate):
        write_predicates(b, target, b.predicate(Immediate("1" if literal(operand.text).payload else "0")))
    elif register is not None and register.is_predicate:
        for k in range(4):
            b.combine(COPY_TABLE, b.row_of(register)[1] + k, d=row + k)
    else:  # the raw low 4 bits of a register
        value = b.value(operand, WORD)
        for k in range(4):
            b.emit("ebit_u32", row + k, value, e=k << 1)


def _pack(b: UopBuilder, op: Operation, target: Operand, vector: Vector) -> None:
    """mov.b32 d, {a, b}; mov.b64 d, {a, b} or {a, b, c, d}."""
    bits = op.type.bits // max(1, len(vector.items))
    type_ = (
        TYPES.get(f"b{bits}") if bits in (8, 16, 32) and bits * len(vector.items) == op.type.bits else None
    )
    if type_ is None or op.type.bits > 64:
        unsupported("a vector of this shape")
    rows = [b.value(item, type_) for item in vector.items]
    words: list[int] = []
    per_word = min(32 // bits, len(rows))
    for first in range(0, len(rows), per_word):
        word = rows[first]
        for k in range(1, per_word):
            shifted = b.compute("shl_u32", rows[first + k], b.constant(k * bits))
            word = b.compute("or_u32", word, shifted)
        words.append(word)
    d = b.place(target, op.type)
    if len(words) == 1:
        b.emit("mov_u32", d.row, words[0])
    else:
        b.emit("pack_u64", d.row, words[0], words[1])
    d.finish()


def _unpack(b: UopBuilder, op: Operation, target: Vector, operand: Operand) -> None:
    bits = op.type.bits // max(1, len(target.items))
    type_ = (
        TYPES.get(f"b{bits}") if bits in (8, 16, 32) and bits * len(target.items) == op.type.bits else None
    )
    if type_ is None or op.type.bits > 64:
        unsupported("a vector of this shape")
    source = b.value(operand, op.type)
    if op.type.bits == 64:
        words = [b.compute("trunc_u64", source), b.compute("high_u64", source)]
    else:
        words = [b.compute("mov_u32", source)]
    per_word = 32 // bits
    for k, item in enumerate(target.items):
        value = words[k // per_word]
        if bits < 32:
            value = b.compute("shr_u32", value, b.constant(k % per_word * bits))
        b.place(item, type_).write("mov_u32", value)


# ---- cvt

_INTEGRAL = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_PTXPLUS_INTEGRAL = {"rn": "rint", "rz": "trunc", "rm": "floor", "rp": "ceil"}


@rule("cvt")
def _cvt(b: UopBuilder, op: Operation) -> None:
    to, from_ = op.type, op.stype
    if from_.is_float:
        source = float_source(b, op, 1, from_)
        if b.ptxplus and op.has("neg"):
            source = b.negate(source, from_)
        if to.is_float:
            _float_to_float(b, op, source, from_, to)
        else:
            _float_to_integer(b, op, source, from_, to)
        return
    source = b.source(op, 1, from_)
    if b.takes_absolute(op):
        source = b.compute(
            "abs_s64" if from_.bits == 64 else "abs_s32", b.source(op, 1, TYPES[f"s{from_.bits}"])
        )
    if b.ptxplus and op.has("neg"):
        source = b.negate(source, from_)
    if to.is_float:
        _integer_to_float(b, op, source, from_, to)
    else:
        _integer_to_integer(b, op, source, from_, to)


def _integer_to_integer(b: UopBuilder, op: Operation, source: int, from_: Type, to: Type) -> None:
    if op.has("sat"):
        source = _saturate(b, source, from_, to)
    d = b.destination(op, 0, to)
    if to.bits == 64:
        if from_.bits == 64:
            b.emit("mov_u64", d.row, source)
        else:
            b.emit("sext_u64" if from_.is_signed else "zext_u64", d.row, source)
    else:
        b.emit("trunc_u64" if from_.bits == 64 else "mov_u32", d.row, source)
    d.finish()


def _limits(type_: Type) -> tuple[int, int]:
    if type_.name.startswith("s"):  # `.s4` and `.s2` too, which are types of bits
        return -(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1
    return 0, (1 << type_.bits) - 1


def _saturate(b: UopBuilder, source: int, from_: Type, to: Type) -> int:
    """A value of type `from_` limited to the range of `to`."""
    low, high = _limits(from_)
    to_low, to_high = _limits(to)
    width = 64 if from_.bits == 64 else 32
    kind = f"{'s' if from_.is_signed else 'u'}{width}"
    if to_low > low:
        source = b.compute(f"max_{kind}", source, b.constant(to_low, width))
    if to_high < high:
        source = b.compute(f"min_{kind}", source, b.constant(to_high, width))
    return source


def _integer_to_float(b: UopBuilder, op: Operation, source: int, from_: Type, to: Type) -> None:
    mode = MODES[op.rounding]
    d = b.destination(op, 0, to)
    sign = "s" if from_.is_signed else "u"
    if from_.bits == 64:
        halves = [b.compute(f"highpart_{sign}64", source), b.compute("lowpart_f64", source)]
        if to.bits == 64:
            arithmetic(b, "add", halves, _F64, mode, d.row)
        else:
            from_double(b, in_double(b, "add", halves, TO_ODD), to, mode, d.row)
    elif to.bits == 64:
        b.emit(f"{sign}2d", d.row, source)
    elif to.bits == 32 and mode == NEAREST:
        b.emit(f"{sign}2f", d.row, source)
    else:
        from_double(b, b.compute(f"{sign}2d", source), to, mode, d.row)
    if op.has("sat") and to.bits >= 32:
        b.emit(f"sat_f{to.bits}", d.row, d.row)
    elif op.has("sat"):
        from_double(b, b.compute("sat_f64", to_double(b, d.row, to)), to, NEAREST, d.row)
    d.finish()


def _integral(b: UopBuilder, op: Operation) -> str | None:
    """The rounding to an integral value that the modifiers ask for, None if there is none."""
    found = op.match.one_of(*_INTEGRAL)
    return _INTEGRAL[found] if found else None


def _float_to_integer(b: UopBuilder, op: Operation, source: int, from_: Type, to: Type) -> None:
    rounding = _integral(b, op)
    if rounding is None and b.ptxplus:
        rounding = "trunc" if b.as_gpgpu_sim else _PTXPLUS_INTEGRAL[op.rounding]
    if b.ptxplus and from_.bits == 32:
        source = b.compute("flush_f32", source)
    double = b.compute(f"{rounding or 'trunc'}_f64", to_double(b, source, from_))
    sign = "s" if to.is_signed else "u"
    width = 64 if to.bits == 64 else 32
    value = b.compute(f"d2{sign}{width}", double)
    if to.bits < 32:
        value = _saturate(b, value, TYPES[f"{sign}32"], to)
    d = b.destination(op, 0, to)
    if not b.ptxplus and 64 in (
        from_.bits,
        to.bits,
    ):  # there a NaN gives the upper bit alone, and 0 otherwise
        is_number = b.compute("num_f64", double, double)
        b.emit(f"sel_u{width}", d.row, value, b.constant(1 << (to.bits - 1), width), is_number)
    else:
        b.emit(f"mov_u{width}", d.row, value)
    d.finish()


def _float_to_float(b: UopBuilder, op: Operation, source: int, from_: Type, to: Type) -> None:
    mode = MODES[op.rounding]
    rounding = _integral(b, op)
    if rounding is None and b.ptxplus and from_.bits == to.bits and op.match.one_of(*_PTXPLUS_INTEGRAL):
        rounding, mode = None if b.as_gpgpu_sim else _PTXPLUS_INTEGRAL[op.rounding], NEAREST
    d = b.destination(op, 0, to)
    width = "u64" if to.bits == 64 else "u32"
    if rounding is None and from_.name == to.name and not (op.has("sat") and to.bits == 16):
        value = source
    else:
        double = to_double(b, source, from_)
        if rounding is not None:
            double = b.compute(f"{rounding}_f64", double)
        if op.has("sat"):
            double = b.compute("sat_f64", double)
        if op.has("relu"):
            double = relu(b, double)
        if op.has("satfinite"):
            value = to_format(b, double, to.name, mode, satfinite=True)
        else:
            value = from_double(b, double, to, mode)
    if to.bits == 32:
        if op.has("ftz"):
            value = b.compute("flush_f32", value)
        if op.has("sat"):
            value = b.compute("sat_f32", value)
        value = b.compute("canonical_f32", value)
    elif op.has("sat") and to.bits == 64:
        value = b.compute("sat_f64", value)
    b.emit(f"mov_{width}", d.row, value)
    d.finish()


@rule("cvt_pack_int")
def _cvt_pack_int(b: UopBuilder, op: Operation) -> None:
    """cvt.pack.sat: two s32 saturated and put together, the rest of the word from operand 3."""
    signed = TYPES["s32"]
    bits = op.type.bits
    rows = [_saturate(b, b.source(op, k, signed), signed, op.type) for k in (1, 2)]
    mask = b.constant((1 << bits) - 1)
    high, low = (b.compute("and_u32", row, mask) for row in rows)
    value = b.compute("or_u32", b.compute("shl_u32", high, b.constant(bits)), low)
    if len(op.operands) > 3:
        above = b.compute("shl_u32", b.source(op, 3, WORD), b.constant(2 * bits))
        value = b.compute("or_u32", above, value)
    b.destination(op, 0, WORD).write("mov_u32", value)


# ---- generic addresses

_WINDOWS = {
    "shared": SHARED_WINDOW,
    "local": LOCAL_WINDOW,
    "const": CONST_WINDOW,
    "param": PARAM_WINDOW,
    "global": 0,
}


def _window(op: Operation) -> tuple[str, int]:
    for name in op.match.modifiers:
        space = name.partition("::")[0]
        if space in _WINDOWS:
            if name == "shared::cluster":
                unsupported("thread block clusters")
            return space, _WINDOWS[space]
    unsupported("this state space")


@rule("cvta")
def _cvta(b: UopBuilder, op: Operation) -> None:
    _, start = _window(op)
    width = "u64" if op.type.bits == 64 else "u32"
    d = b.destination(op)
    source = b.source(op, 1)
    if start == 0:
        b.emit(f"mov_{width}", d.row, source)
    else:
        name = "sub" if op.has("to") else "add"
        b.emit(f"{name}_{width}", d.row, source, b.constant(start, op.type.bits))
    d.finish()


@rule("isspacep")
def _isspacep(b: UopBuilder, op: Operation) -> None:
    space, start = _window(op)
    operand = op.operands[1]
    register = b.register(operand.text) if isinstance(operand, Name) else None
    long = register is None or b.row_of(register)[0] == 64
    kind, bits = ("u64", 64) if long else ("u32", 32)
    address = b.source(op, 1, LONG if long else WORD)
    if space == "global":
        start, end = PARAM_WINDOW, WINDOWS_END
    else:
        end = start + WINDOW_BYTES
    inside = b.combine(
        AND_TABLE,
        b.compute(f"le_{kind}", b.constant(start, bits), address),
        b.compute(f"lt_{kind}", address, b.constant(end, bits)),
    )
    write_predicates(b, op.operands[0], b.combine(NOT_TABLE, inside) if space == "global" else inside)
