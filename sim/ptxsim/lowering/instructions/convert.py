"""Moves and conversions: mov, cvt and its packed forms, cvta, isspacep. (Of small formats: small_formats.py.)

A float becomes an integer by way of f64: rounded to an integral value there, then saturated. A NaN gives 0, or the
upper bit alone where either side has 64 bits (PTX ISA, cvt). A 64-bit integer becomes a float as the rounded sum of
two exact halves.

PTXPlus prints the rounding of F2I and F2F without the `i`: `.rz` is TRUNC, `.rm` FLOOR, `.rp` CEIL, none is "nearest".
"""

from ptxsim.execute import codes
from ptxsim.execute.arithmetic import NEAREST, TO_ODD
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions import floating
from ptxsim.lowering.instructions.clusters import in_window, with_rank
from ptxsim.lowering.instructions.compare import write_predicates
from ptxsim.lowering.instructions.floating import MODES, float_source, from_double, to_double
from ptxsim.lowering.instructions.memory import load_vector, store_vector
from ptxsim.lowering.instructions.small_formats import to_format
from ptxsim.lowering.rows import LONG, WORD, Operation, extension, row_bits, signed, unsupported
from ptxtool.ir.nodes import Immediate, Memory, Name, Operand, Vector
from ptxtool.isa.literals import literal
from ptxtool.isa.special import special
from ptxtool.isa.types import TYPES, Type

_S32, _F64 = TYPES["s32"], TYPES["f64"]


@rule("mov")
def _mov(builder: UopBuilder, op: Operation) -> None:
    target, operand = op.operands[0], op.operands[1]
    type_ = builder.loaded_type(op.type) if isinstance(operand, Memory) else op.type
    if type_.kind == "pred":
        _mov_predicate(builder, target, operand)
        return
    if builder.ptxplus and type_.name in ("bb64", "ff64", "bb128"):
        if isinstance(operand, Memory) and isinstance(target, Vector):
            load_vector(builder, operand, builder.operand_space(operand), WORD, target.items)
            return
        if isinstance(target, Memory) and isinstance(operand, Vector):
            store_vector(builder, target, builder.operand_space(target), WORD, operand.items)
            return
    vector = op.match.one_of("v2", "v4")
    if vector or type_.name == "b128":
        _mov_elements(builder, op, int(vector[1:]) if vector else 0)
        return
    if isinstance(operand, Vector) and not builder.ptxplus:
        _pack(builder, op, target, operand)
        return
    if isinstance(target, Vector) and not builder.ptxplus:
        _unpack(builder, op, target, operand)
        return
    builder.destination(op, 0, type_).write(f"mov_u{row_bits(type_)}", builder.source(op, 1, type_))


def _mov_elements(builder: UopBuilder, op: Operation, n: int) -> None:
    """mov.v2, mov.v4 and mov.b128 (n = 0): element by element, all read before any is written."""
    type_ = op.type if n else LONG
    targets, sources = (_components(builder, o, n) if n else builder.halves(o) for o in op.operands[:2])
    mov = f"mov_u{row_bits(type_)}"
    rows = [builder.compute(mov, builder.value(source, type_)) for source in sources]
    for row, target in zip(rows, targets, strict=True):
        builder.place(target, type_).write(mov, row)


def _components(builder: UopBuilder, operand: Operand, n: int) -> tuple[Operand, ...]:
    """The elements of a vector: in braces, or those of a vector register or special register."""
    if isinstance(operand, Vector) and len(operand.items) == n:
        return operand.items
    if isinstance(operand, Name):
        register = builder.register(operand.text)
        if register.vector == n if register is not None else special(operand.text) is not None:
            return tuple(Name(operand.text, part) for part in "xyzw"[:n])
    unsupported(f"this operand as a vector of {n}")


def _mov_predicate(builder: UopBuilder, target: Operand, operand: Operand) -> None:
    if not builder.ptxplus:
        builder.combine("copy", builder.predicate(operand), d=builder.predicate_destination(target))
        return
    source, row = builder.predicate_row(operand), builder.predicate_destination(target)
    if isinstance(operand, Immediate):
        write_predicates(
            builder, target, builder.predicate(Immediate("1" if literal(operand.text).payload else "0"))
        )
    elif source is not None:
        for k in range(4):
            builder.combine("copy", source + k, d=row + k)
    else:  # the raw low 4 bits of a register
        value = builder.value(operand, WORD)
        for k in range(4):
            builder.emit("ebit_u32", row + k, value, e=k << 1)


def _element_type(op: Operation, vector: Vector) -> Type:
    """The type of each of the elements that make up a value of 32 or 64 bits."""
    bits = op.type.bits // max(1, len(vector.items))
    if bits not in (8, 16, 32) or bits * len(vector.items) != op.type.bits or op.type.bits > 64:
        unsupported("a vector of this shape")
    return TYPES[f"b{bits}"]


def _pack(builder: UopBuilder, op: Operation, target: Operand, vector: Vector) -> None:
    """mov.b32 d, {a, b}; mov.b64 d, {a, b} or {a, b, c, d}."""
    type_ = _element_type(op, vector)
    bits = type_.bits
    rows = [builder.value(item, type_) for item in vector.items]
    words: list[int] = []
    per_word = min(32 // bits, len(rows))
    for first in range(0, len(rows), per_word):
        word = rows[first]
        for k in range(1, per_word):
            shifted = builder.compute("shl_u32", rows[first + k], builder.constant(k * bits))
            word = builder.compute("or_u32", word, shifted)
        words.append(word)
    builder.place(target, op.type).write("mov_u32" if len(words) == 1 else "pack_u64", *words)


def _unpack(builder: UopBuilder, op: Operation, target: Vector, operand: Operand) -> None:
    type_ = _element_type(op, target)
    bits = type_.bits
    source = builder.value(operand, op.type)
    if op.type.bits == 64:
        words = [builder.compute("trunc_u64", source), builder.compute("high_u64", source)]
    else:
        words = [builder.compute("mov_u32", source)]
    per_word = 32 // bits
    for k, item in enumerate(target.items):
        value = words[k // per_word]
        if bits < 32:
            value = builder.compute("shr_u32", value, builder.constant(k % per_word * bits))
        builder.place(item, type_).write("mov_u32", value)


# ---- cvt

_PTXPLUS_INTEGRAL = {"rn": "rint", "rz": "trunc", "rm": "floor", "rp": "ceil"}
_INTEGRAL = {f"{rounding}i": name for rounding, name in _PTXPLUS_INTEGRAL.items()}


@rule("cvt")
def _cvt(builder: UopBuilder, op: Operation) -> None:
    to, from_ = op.type, op.stype
    source = float_source(builder, op, 1, from_) if from_.is_float else builder.source(op, 1, from_)
    if builder.takes_absolute(op) and not from_.is_float:
        source = builder.compute(f"abs_s{row_bits(from_)}", builder.source(op, 1, TYPES[f"s{from_.bits}"]))
    if builder.ptxplus and op.has("neg"):
        source = builder.negate(source, from_)
    if from_.is_float:
        convert = _float_to_float if to.is_float else _float_to_integer
    else:
        convert = _integer_to_float if to.is_float else _integer_to_integer
    convert(builder, op, source, from_, to)


def _integer_to_integer(builder: UopBuilder, op: Operation, source: int, from_: Type, to: Type) -> None:
    if op.has("sat"):
        source = _saturate(builder, source, from_, to)
    if from_.bits == 64:
        name = "mov_u64" if to.bits == 64 else "trunc_u64"
    else:
        name = extension(from_) if to.bits == 64 else "mov_u32"
    builder.destination(op, 0, to).write(name, source)


def _limits(type_: Type) -> tuple[int, int]:
    if type_.name.startswith("s"):  # `.s4` and `.s2` too, which are types of bits
        return -(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1
    return 0, (1 << type_.bits) - 1


def _saturate(builder: UopBuilder, source: int, from_: Type, to: Type) -> int:
    """A value of type `from_` limited to the range of `to`."""
    low, high = _limits(from_)
    to_low, to_high = _limits(to)
    if to_low > low:
        source = builder.compute(f"max_{signed(from_)}", source, builder.constant(to_low, row_bits(from_)))
    if to_high < high:
        source = builder.compute(f"min_{signed(from_)}", source, builder.constant(to_high, row_bits(from_)))
    return source


def _integer_to_float(builder: UopBuilder, op: Operation, source: int, from_: Type, to: Type) -> None:
    mode = MODES[op.rounding]
    d = builder.destination(op, 0, to)
    sign = "s" if from_.is_signed else "u"
    if from_.bits == 64:
        halves = [builder.compute(f"highpart_{sign}64", source), builder.compute("lowpart_f64", source)]
        if to.bits == 64:
            floating.arithmetic(builder, "add", halves, _F64, mode, d.row)
        else:
            from_double(builder, floating.in_double(builder, "add", halves, TO_ODD), to, mode, d.row)
    elif to.bits == 64:
        builder.emit(f"{sign}2d", d.row, source)
    elif to.bits == 32 and mode == NEAREST:
        builder.emit(f"{sign}2f", d.row, source)
    else:
        from_double(builder, builder.compute(f"{sign}2d", source), to, mode, d.row)
    if op.has("sat") and to.bits >= 32:
        builder.emit(f"sat_f{to.bits}", d.row, d.row)
    elif op.has("sat"):
        from_double(builder, builder.compute("sat_f64", to_double(builder, d.row, to)), to, NEAREST, d.row)
    d.finish()


def _integral(builder: UopBuilder, op: Operation) -> str | None:
    """The rounding to an integral value that the modifiers ask for, None if there is none."""
    found = op.match.one_of(*_INTEGRAL)
    return _INTEGRAL[found] if found else None


def _float_to_integer(builder: UopBuilder, op: Operation, source: int, from_: Type, to: Type) -> None:
    rounding = _integral(builder, op)
    if rounding is None and builder.ptxplus:
        rounding = "trunc" if builder.as_gpgpu_sim else _PTXPLUS_INTEGRAL[op.rounding]
    if builder.ptxplus and from_.bits == 32:
        source = builder.compute("flush_f32", source)
    double = builder.compute(f"{rounding or 'trunc'}_f64", to_double(builder, source, from_))
    value = builder.compute(f"d2{signed(to)}", double)
    if to.bits < 32:
        value = _saturate(builder, value, TYPES[signed(to)], to)
    d = builder.destination(op, 0, to)
    if not builder.ptxplus and 64 in (
        from_.bits,
        to.bits,
    ):  # there a NaN gives the upper bit alone, and 0 otherwise
        is_number = builder.compute("num_f64", double, double)
        d.write(f"sel_u{row_bits(to)}", value, builder.constant(1 << (to.bits - 1), row_bits(to)), is_number)
    else:
        d.write(f"mov_u{row_bits(to)}", value)


def _float_to_float(builder: UopBuilder, op: Operation, source: int, from_: Type, to: Type) -> None:
    mode = MODES[op.rounding]
    rounding = _integral(builder, op)
    if rounding is None and builder.ptxplus and from_.bits == to.bits and op.match.one_of(*_PTXPLUS_INTEGRAL):
        rounding, mode = None if builder.as_gpgpu_sim else _PTXPLUS_INTEGRAL[op.rounding], NEAREST
    d = builder.destination(op, 0, to)
    if rounding is None and from_.name == to.name and not (op.has("sat") and to.bits == 16):
        value = source
    else:
        double = to_double(builder, source, from_)
        if rounding is not None:
            double = builder.compute(f"{rounding}_f64", double)
        if op.has("sat"):
            double = builder.compute("sat_f64", double)
        if op.has("relu"):
            double = floating.relu(builder, double)
        if op.has("satfinite"):
            value = to_format(builder, double, to.name, mode, satfinite=True)
        else:
            value = from_double(builder, double, to, mode)
    if to.bits == 32:
        if op.has("ftz"):
            value = builder.compute("flush_f32", value)
        if op.has("sat"):
            value = builder.compute("sat_f32", value)
        value = builder.compute("canonical_f32", value)
    elif op.has("sat") and to.bits == 64:
        value = builder.compute("sat_f64", value)
    d.write(f"mov_u{row_bits(to)}", value)


@rule("cvt_pack_int")
def _cvt_pack_int(builder: UopBuilder, op: Operation) -> None:
    """cvt.pack.sat: two s32 saturated and put together, the rest of the word from operand 3."""
    bits = op.type.bits
    rows = [_saturate(builder, builder.source(op, k, _S32), _S32, op.type) for k in (1, 2)]
    mask = builder.constant((1 << bits) - 1)
    high, low = (builder.compute("and_u32", row, mask) for row in rows)
    value = builder.compute("or_u32", builder.compute("shl_u32", high, builder.constant(bits)), low)
    if len(op.operands) > 3:
        above = builder.compute("shl_u32", builder.source(op, 3, WORD), builder.constant(2 * bits))
        value = builder.compute("or_u32", above, value)
    builder.destination(op, 0, WORD).write("mov_u32", value)


# ---- generic addresses

_WINDOWS = {
    "shared": codes.SHARED_WINDOW,
    "local": codes.LOCAL_WINDOW,
    "const": codes.CONST_WINDOW,
    "param": codes.PARAM_WINDOW,
    "global": 0,
}


def _window(op: Operation) -> tuple[str, int]:
    for name in op.match.modifiers:
        space = name.partition("::")[0]
        if space in _WINDOWS:
            return space, _WINDOWS[space]
    unsupported("this state space")


@rule("cvta")
def _cvta(builder: UopBuilder, op: Operation) -> None:
    space, start = _window(op)
    d = builder.destination(op)
    source = builder.source(op, 1)
    if space == "shared" and builder.has_pairs:
        word = builder.compute("trunc_u64", source) if op.type.bits == 64 else source
        if op.has("to"):
            word = with_rank(builder, builder.compute("sub_u32", word, builder.constant(start)))
        else:
            word = builder.compute("add_u32", in_window(builder, word), builder.constant(start))
        d.write("zext_u64" if op.type.bits == 64 else "mov_u32", word)
    elif start == 0:
        d.write(f"mov_u{row_bits(op.type)}", source)
    else:
        name = "sub" if op.has("to") else "add"
        d.write(f"{name}_u{row_bits(op.type)}", source, builder.constant(start, op.type.bits))


@rule("isspacep")
def _isspacep(builder: UopBuilder, op: Operation) -> None:
    space, start = _window(op)
    operand = op.operands[1]
    register = builder.register_of(operand)
    bits = 64 if register is None else builder.row_of(register)[0]
    address = builder.source(op, 1, TYPES[f"b{bits}"])
    if space == "global":
        start, end = codes.PARAM_WINDOW, codes.WINDOWS_END
    else:
        is_own = space == "shared" and not op.has("shared::cluster")
        end = start + (1 << codes.CLUSTER_SHIFT if is_own else codes.WINDOW_BYTES)
    inside = builder.combine(
        "and",
        builder.compute(f"le_u{bits}", builder.constant(start, bits), address),
        builder.compute(f"lt_u{bits}", address, builder.constant(end, bits)),
    )
    write_predicates(builder, op.operands[0], builder.combine("not", inside) if space == "global" else inside)
