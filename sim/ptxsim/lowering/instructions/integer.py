"""Integer arithmetic, carries, bit fields, packed forms; and the dispatch of names shared with floats.

PTXPlus: `add` with a negated operand is the hardware's subtraction (its carry means "no borrow"), the carry in of
`addp` and `madp` is one, 16-bit multiplications into a whole register give all 32 bits of the product, and 24-bit
ones cut their operands. docs/ptxplus-semantics.md lists where GPGPU-Sim does otherwise, as
`builder.as_gpgpu_sim` asks for.
"""

from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.compare import predicate_logic, write_predicates
from ptxsim.lowering.instructions.floating import float_binary, float_extreme, float_sign
from ptxsim.lowering.instructions.packed import element_type, is_packed, write_each
from ptxsim.lowering.rows import FALSE, TRUE, Operation, row_bits, signed, unsupported
from ptxtool.ir.nodes import Dual, Immediate, Name, Operand, Unary
from ptxtool.isa.types import TYPES, Type

_U32, _S32 = TYPES["u32"], TYPES["s32"]


def _apply(builder: UopBuilder, op: Operation, name: str, n: int, result: Type | None = None) -> None:
    """A lane operation on the first n sources."""
    builder.destination(op, 0, result).write(name, *(builder.source(op, k) for k in range(1, n + 1)))


_PLAIN: dict[str, tuple[str, tuple[Type | None, ...], Type | None]] = {
    "rem": ("rem_{signed}", (None, None), None),
    "shl": ("shl_u{bits}", (None, _U32), None),
    "shr": ("shr_{signed}", (None, _U32), None),
    "popc": ("popc_u{bits}", (None,), _U32),
    "clz": ("clz_u{bits}", (None,), _U32),
    "brev": ("brev_u{bits}", (None,), None),
    "bfe": ("bfe_{signed}", (None, _U32, _U32), None),
    "fns": ("fns_u32", (None, _U32, _S32), None),
}
"""Instructions that are one lane operation: its name, and the types of sources and result (None: `op.type`)."""


@rule(*_PLAIN)
def _plain(builder: UopBuilder, op: Operation) -> None:
    name, sources, result = _PLAIN[op.match.form.sem]
    d = builder.destination(op, 0, result)
    rows = [builder.source(op, k, type_) for k, type_ in enumerate(sources, 1)]
    d.write(name.format(bits=row_bits(op.type), signed=signed(op.type)), *rows)


# ---- addition, with PTXPlus's carry and overflow


def _negated(builder: UopBuilder, operand: Operand) -> Operand | None:
    """The operand of the minus of a PTXPlus source; None without one, or if GPGPU-Sim negates before it adds."""
    if (
        builder.ptxplus
        and not builder.as_gpgpu_sim
        and isinstance(operand, Unary)
        and operand.operator == "-"
    ):
        return None if isinstance(operand.operand, Immediate) else operand.operand
    return None


def _sum_with_flags(
    builder: UopBuilder, op: Operation, a: int, second: int, carry: int | None, type_: Type
) -> None:
    """d = a + second (+ carry row); Z, S, C and O of a PTXPlus condition code where one is a destination.

    `second` is the complement of the subtrahend in a subtraction, whose carry in is one.
    """
    d, target = builder.destination(op, 0, type_), op.operands[0]
    flags = builder.predicate_row(target.first) if builder.ptxplus and isinstance(target, Dual) else None
    if carry is None:
        builder.emit("add_u32", d.row, a, second)
    else:
        builder.emit("add_u32", d.row, builder.compute("add_u32", a, second), carry)
    if flags is None:
        d.finish()
        return
    carry = builder.constant(0) if carry is None else carry
    if type_.bits == 32:
        out = builder.compute("carry3_u32", a, second, carry)
        over = builder.compute("overflow_s32", a, second, carry) if type_.is_signed else FALSE
    else:  # 16 bits: the sum of the zero-extended values has the carry in bit 16
        cut = [builder.compute("zext16_u32", row) for row in (a, second)]
        wide = builder.compute("add_u32", builder.compute("add_u32", cut[0], cut[1]), carry)
        out = builder.compute("ebit_u32", wide, e=16 << 1)
        over = FALSE
        if type_.is_signed:  # that of the sign-extended values does not fit
            parts = [builder.compute("sext16_u32", row) for row in (a, second)]
            total = builder.compute("add_u32", builder.compute("add_u32", parts[0], parts[1]), carry)
            over = builder.compute("eq_u32", total, builder.compute("sext16_u32", total), e=1)
    d.finish()
    builder.combine("copy", out, d=flags + 2)
    builder.combine("copy", over, d=flags + 3)


def _ptxplus_add(
    builder: UopBuilder, op: Operation, first: Operand, second: Operand, carry: int | None
) -> None:
    """add, sub, addp of integers in a register: a minus makes the hardware subtract."""
    type_ = op.type
    minus_a, minus_b = _negated(builder, first), _negated(builder, second)
    if minus_a is not None and minus_b is None:
        first, second, minus_b = second, first, minus_a
    elif minus_b is None:
        _sum_with_flags(builder, op, builder.value(first, type_), builder.value(second, type_), carry, type_)
        return
    complement = builder.compute("not_u32", builder.value(minus_b, type_))
    one = builder.constant(1) if carry is None else carry
    _sum_with_flags(builder, op, builder.value(first, type_), complement, one, type_)


@rule("add", "sub", "subr")
def _add(builder: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    type_ = op.type
    if type_.is_float:
        float_binary(builder, op, name)
        return
    if is_packed(type_):
        _packed_sum(builder, op, name)
        return
    if op.has("sat") and not builder.ptxplus:
        _apply(builder, op, f"{name}sat_{signed(type_)}", 2)
        return
    first, second = op.operands[1], op.operands[2]
    if name == "subr":
        first, second = second, first
    if builder.ptxplus and type_.bits <= 32:
        if name != "add":
            if builder.as_gpgpu_sim:
                _subtract(builder, op, first, second)
                return
            minus = _negated(builder, second)
            second = Unary("-", second) if minus is None else minus
            if isinstance(second, Unary) and isinstance(second.operand, Immediate):
                _subtract(builder, op, first, second.operand)
                return
        _ptxplus_add(builder, op, first, second, None)
        return
    lane_operation = f"{name.removesuffix('r')}_u{row_bits(type_)}"
    builder.destination(op).write(lane_operation, builder.value(first, type_), builder.value(second, type_))


def _packed_sum(builder: UopBuilder, op: Operation, name: str) -> None:
    """add and sub of elements of 16 or 8 bits, whose results 32 bits hold exactly; `.sat` keeps them in range."""
    element = element_type(op.type)
    highest = (1 << (element.bits - element.is_signed)) - 1
    lowest = -highest - 1 if element.is_signed else 0

    def one(parts: list[int]) -> int:
        value = builder.compute(f"{name}_u32", *parts)
        if not op.has("sat"):
            return value
        value = builder.compute("max_s32", value, builder.constant(lowest))
        return builder.compute("min_s32", value, builder.constant(highest))

    write_each(builder, op, [builder.source(op, k) for k in (1, 2)], one)


def _subtract(builder: UopBuilder, op: Operation, first: Operand, second: Operand) -> None:
    complement = builder.compute("not_u32", builder.value(second, op.type))
    _sum_with_flags(builder, op, builder.value(first, op.type), complement, builder.constant(1), op.type)


@rule("addp")
def _addp(builder: UopBuilder, op: Operation) -> None:
    carry = _carry_in(builder, op.operands[3], 4 if builder.as_gpgpu_sim else 1)
    _ptxplus_add(builder, op, op.operands[1], op.operands[2], carry)


def _carry_in(builder: UopBuilder, operand: Operand, amount: int = 1) -> int:
    """An amount where a condition code's carry is set, 0 elsewhere."""
    flags = builder.predicate_row(operand)
    if flags is None:
        unsupported("a carry that is no condition-code register")
    return builder.compute("sel_u32", builder.constant(amount), builder.constant(0), flags + 2)


# ---- extended precision: PTX's carry flag is a predicate row of its own. It is the hardware's: a subtraction is the
# sum a + ~b + 1, so that after one the flag means "no borrow", and `addc` may read it (CUDA's 128-bit division does)


def _carry_flag(builder: UopBuilder) -> int:
    if builder.carry_row < 0:
        builder.carry_row = builder.new_row(1)
    return builder.carry_row


def _add_carries(
    builder: UopBuilder, op: Operation, a: int, second: int, carry_in: int, writes: bool
) -> None:
    """d = a + second + carry (a predicate row); the carry flag := carry out."""
    bits = row_bits(op.type)
    one = builder.compute(f"sel_u{bits}", builder.constant(1, bits), builder.constant(0, bits), carry_in)
    d = builder.destination(op)
    partial = builder.compute(f"add_u{bits}", a, second)
    if writes:
        first = builder.compute(f"carry_u{bits}", a, second)
        other = builder.compute(f"carry_u{bits}", partial, one)
        builder.combine("or", first, other, d=_carry_flag(builder))
    d.write(f"add_u{bits}", partial, one)


def _saturated_sum(
    builder: UopBuilder, op: Operation, terms: list[int], carry: int, minus: bool = False
) -> None:
    """d = the terms plus the carry flag (or minus the borrow), summed up in 64 bits and kept within s32."""
    join = "sub_u64" if minus else "add_u64"
    total = builder.compute("sext_u64", terms[0])
    for term in terms[1:]:
        total = builder.compute(join, total, builder.compute("sext_u64", term))
    one = builder.compute("sel_u64", builder.constant(1, 64), builder.constant(0, 64), carry)
    total = builder.compute(join, total, one)
    total = builder.compute("max_s64", total, builder.constant(-(1 << 31), 64))
    total = builder.compute("min_s64", total, builder.constant((1 << 31) - 1, 64))
    builder.destination(op).write("trunc_u64", total)


@rule("add_cc", "addc", "addc_cc")
def _addc(builder: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    carry = FALSE if name == "add_cc" else _carry_flag(builder)
    if op.has("sat"):
        _saturated_sum(builder, op, [builder.source(op, 1), builder.source(op, 2)], carry)
        return
    _add_carries(builder, op, builder.source(op, 1), builder.source(op, 2), carry, name.endswith("_cc"))


@rule("sub_cc", "subc", "subc_cc")
def _subc(builder: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    if op.has("sat"):
        borrow = builder.combine("not", _carry_flag(builder))
        _saturated_sum(builder, op, [builder.source(op, 1), builder.source(op, 2)], borrow, minus=True)
        return
    no_borrow = TRUE if name == "sub_cc" else _carry_flag(builder)
    complement = builder.compute(f"not_u{row_bits(op.type)}", builder.source(op, 2))
    _add_carries(builder, op, builder.source(op, 1), complement, no_borrow, name.endswith("_cc"))


@rule("mad_lo_cc", "mad_hi_cc", "madc_lo", "madc_hi", "madc_lo_cc", "madc_hi_cc")
def _madc(builder: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    high = "_hi" in name or op.has("hi")
    if op.type.bits == 16:
        a = builder.compute("mul_u32", builder.source(op, 1), builder.source(op, 2))
        a = builder.compute("high16_u32", a) if high else a
    else:
        product = f"mulhi_{signed(op.type)}" if high else f"mul_u{row_bits(op.type)}"
        a = builder.compute(product, builder.source(op, 1), builder.source(op, 2))
    if op.has("sat"):
        _saturated_sum(builder, op, [a, builder.source(op, 3)], _carry_flag(builder))
        return
    carry = _carry_flag(builder) if name.startswith("madc") else FALSE
    _add_carries(builder, op, a, builder.source(op, 3), carry, name.endswith("_cc"))


# ---- multiplication


def _is_whole(builder: UopBuilder, operand: Operand) -> bool:
    """PTXPlus: whether a destination is a whole register and no half."""
    if isinstance(operand, Dual):
        operand = operand.second
    return not (isinstance(operand, Name) and operand.part in ("lo", "hi"))


def _product(builder: UopBuilder, op: Operation) -> tuple[int, Type]:
    """The product of operands 1 and 2, in the part the instruction asks for, and its type."""
    type_ = op.type
    mode = op.match.one_of("lo", "hi", "wide")
    kind = type_.name[0]
    wide_type = TYPES[f"{kind}{min(64, 2 * type_.bits)}"]
    if type_.bits == 16:
        product = builder.compute("mul_u32", builder.source(op, 1), builder.source(op, 2))
        if mode == "hi":
            return builder.compute("high16_u32", product), type_
        is_wide = mode == "wide" or (builder.ptxplus and not builder.as_gpgpu_sim)
        return product, wide_type if is_wide and _is_whole(builder, op.operands[0]) else type_
    if mode == "hi":
        name, result = f"mulhi_{signed(type_)}", type_
    elif (
        mode == "wide"
        and type_.bits == 32
        and not (builder.ptxplus and isinstance(op.operands[0], (Name, Dual)))
    ):
        name, result = f"mulwide_{signed(type_)}", wide_type
    else:
        name, result = f"mul_u{row_bits(type_)}", type_
    return builder.compute(name, builder.source(op, 1), builder.source(op, 2)), result


@rule("mul")
def _mul(builder: UopBuilder, op: Operation) -> None:
    type_ = op.type
    if type_.is_float:
        float_binary(builder, op, "mul")
        return
    mode = op.match.one_of("lo", "hi", "wide")
    if not builder.ptxplus and type_.bits == 32:  # the usual ones without a move
        names = {"lo": "mul_u32", "hi": f"mulhi_{signed(type_)}", "wide": f"mulwide_{signed(type_)}"}
        _apply(builder, op, names[mode], 2, TYPES[f"{type_.name[0]}64"] if mode == "wide" else type_)
        return
    product, result = _product(builder, op)
    builder.destination(op, 0, result).write(f"mov_u{row_bits(result)}", product)


@rule("mad")
def _mad(builder: UopBuilder, op: Operation) -> None:
    type_ = op.type
    mode = op.match.one_of("lo", "hi", "wide")
    if not builder.ptxplus and type_.bits == 32 and mode != "hi":
        wide = mode == "wide"
        result = TYPES[f"{type_.name[0]}64"] if wide else type_
        name = f"madwide_{signed(type_)}" if wide else "mad_u32"
        builder.destination(op, 0, result).write(
            name, builder.source(op, 1), builder.source(op, 2), builder.source(op, 3, result)
        )
        return
    product, result = _product(builder, op)
    _accumulate(builder, op, product, result, None)


def _accumulate(builder: UopBuilder, op: Operation, product: int, result: Type, carry: int | None) -> None:
    """d = product + operand 3 (+ carry)."""
    if builder.ptxplus and result.bits <= 32:
        if carry is None and _negated(builder, op.operands[3]) is not None:
            carry = builder.constant(1)
        _sum_with_flags(builder, op, product, _addend(builder, op, result), carry, result)
        return
    name = "addsat_s32" if op.has("sat") else f"add_u{row_bits(result)}"
    builder.destination(op, 0, result).write(name, product, builder.source(op, 3, result))


def _addend(builder: UopBuilder, op: Operation, type_: Type) -> int:
    """Operand 3; its complement if it has a minus."""
    minus = _negated(builder, op.operands[3])
    if minus is None:
        return builder.source(op, 3, type_)
    return builder.compute(f"not_u{row_bits(type_)}", builder.value(minus, type_))


@rule("clmad")
def _clmad(builder: UopBuilder, op: Operation) -> None:
    part = "high" if op.has("hi") else "low"
    product = builder.compute(f"clmul_{part}_u64", builder.source(op, 1), builder.source(op, 2))
    builder.destination(op).write("xor_u64", product, builder.source(op, 3))


@rule("madp")
def _madp(builder: UopBuilder, op: Operation) -> None:
    product, result = _product(builder, op)
    carry = _carry_in(builder, op.operands[4])
    if result.bits <= 32:
        _accumulate(builder, op, product, result, carry)
        return
    partial = builder.compute("add_u64", product, _addend(builder, op, result))
    builder.destination(op, 0, result).write("add_u64", partial, builder.compute("zext_u64", carry))


def _product24(builder: UopBuilder, op: Operation) -> int:
    cut = "sext24_u32" if op.type.is_signed else "zext24_u32"
    a, second = builder.compute(cut, builder.source(op, 1)), builder.compute(cut, builder.source(op, 2))
    return builder.compute("mul24hi_u32" if op.has("hi") else "mul_u32", a, second)


@rule("mul24")
def _mul24(builder: UopBuilder, op: Operation) -> None:
    product = _product24(builder, op)
    builder.destination(op).write("mov_u32", product)


@rule("mad24")
def _mad24(builder: UopBuilder, op: Operation) -> None:
    if not builder.as_gpgpu_sim:
        _accumulate(builder, op, _product24(builder, op), op.type, None)
        return
    # a product of 32 bits, of operands that are not cut; C and O stay clear
    product = builder.compute("mul_u32", builder.source(op, 1), builder.source(op, 2))
    if op.has("hi"):
        product = builder.compute(f"shr_{signed(op.type)}", product, builder.constant(16))
    builder.destination(op).write("add_u32", product, builder.source(op, 3))


@rule("sad")
def _sad(builder: UopBuilder, op: Operation) -> None:
    difference = builder.compute(f"absdiff_{signed(op.type)}", builder.source(op, 1), builder.source(op, 2))
    builder.destination(op).write(f"add_u{row_bits(op.type)}", difference, builder.source(op, 3))


@rule("div")
def _div(builder: UopBuilder, op: Operation) -> None:
    if op.type.is_float:
        float_binary(builder, op, "div")
    else:
        _apply(builder, op, f"div_{signed(op.type)}", 2)


@rule("abs", "neg")
def _sign(builder: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    type_ = op.type
    if type_.is_float:
        float_sign(builder, op, name)
    elif is_packed(type_):
        write_each(builder, op, [builder.source(op, 1)], lambda parts: builder.compute("neg_u32", *parts))
    elif name == "neg":
        _apply(builder, op, f"neg_u{row_bits(type_)}", 1)
    elif builder.as_gpgpu_sim and not type_.is_signed:
        _apply(builder, op, "mov_u32", 1)
    else:  # PTXPlus prints `.u32` and `.u16` for the absolute value of signed numbers
        builder.destination(op).write(
            f"abs_s{row_bits(type_)}", builder.source(op, 1, TYPES[f"s{type_.bits}"])
        )


@rule("min", "max")
def _extreme(builder: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    type_ = op.type
    if type_.is_float:
        float_extreme(builder, op, name)
        return
    if not (op.has("relu") or is_packed(type_)):
        _apply(builder, op, f"{name}_{signed(type_)}", 2)
        return
    kind = signed(type_)

    def one(rows: list[int]) -> int:
        value = builder.compute(f"{name}_{kind}", *rows)
        return builder.compute(f"max_{kind}", value, builder.constant(0)) if op.has("relu") else value

    write_each(builder, op, [builder.source(op, k) for k in (1, 2)], one)


# ---- logic and shifts


@rule("and", "or", "xor", "not", "cnot", "andn", "orn", "nandn", "norn")
def _logic(builder: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    if op.type.kind == "pred":
        predicate_logic(builder, op, name)
    elif name in ("andn", "orn", "nandn", "norn"):
        _inverted_logic(builder, op, name)
    else:
        _apply(builder, op, f"{name}_u{row_bits(op.type)}", len(op.operands) - 1)


def _inverted_logic(builder: UopBuilder, op: Operation, name: str) -> None:
    first, second = builder.source(op, 1), builder.source(op, 2)
    d, bits = builder.destination(op), row_bits(op.type)
    if name == "andn":
        d.write(f"andn_u{bits}", first, second)
    elif name == "orn":
        d.write(f"or_u{bits}", first, builder.compute(f"not_u{bits}", second))
    elif name == "nandn":
        d.write(f"not_u{bits}", builder.compute(f"andn_u{bits}", first, second))
    else:  # ~a & b, as its name does not say
        d.write(f"andn_u{bits}", second, first)


@rule("shf")
def _shf(builder: UopBuilder, op: Operation) -> None:
    amount = _limited(builder, op, 3)
    direction = "l" if op.has("l") else "r"
    builder.destination(op).write(
        f"shf_{direction}_u32", builder.source(op, 1), builder.source(op, 2), amount
    )


def _lut(builder: UopBuilder, op: Operation) -> int:
    operand = op.operands[4]
    if not isinstance(operand, Immediate):
        unsupported("a truth table that is no number")
    return int(operand.text.rstrip("U"), 0) & 0xFF


@rule("lop3")
def _lop3(builder: UopBuilder, op: Operation) -> None:
    builder.destination(op).write(
        "lop3_u32", builder.source(op, 1), builder.source(op, 2), builder.source(op, 3), _lut(builder, op)
    )


@rule("lop3_bool")
def _lop3_bool(builder: UopBuilder, op: Operation) -> None:
    value = builder.compute(
        "lop3_u32", builder.source(op, 1), builder.source(op, 2), builder.source(op, 3), _lut(builder, op)
    )
    is_set = builder.compute("eq_u32", value, builder.constant(0), e=1)
    result = builder.combine(op.match.form.base.rpartition(".")[2], is_set, builder.predicate(op.operands[5]))
    operand = op.operands[0]
    if not isinstance(operand, Dual):
        unsupported("'lop3' without a predicate destination")
    builder.place(operand.first, op.type).write("mov_u32", value)
    write_predicates(builder, operand.second, result)


# ---- bits


@rule("bfind")
def _bfind(builder: UopBuilder, op: Operation) -> None:
    _apply(builder, op, f"bfind{'shift' if op.has('shiftamt') else ''}_{signed(op.type)}", 1, _U32)


def _limited(builder: UopBuilder, op: Operation, index: int) -> int:
    """A bit count: `.clamp` limits it to 32, `.wrap` takes it modulo 32."""
    row = builder.source(op, index, _U32)
    if op.has("wrap"):
        return builder.compute("and_u32", row, builder.constant(31))
    return builder.compute("min_u32", row, builder.constant(32))


@rule("bfi")
def _bfi(builder: UopBuilder, op: Operation) -> None:
    d = builder.destination(op)
    length = builder.source(op, 4, _U32)
    d.write(
        f"bfi_u{row_bits(op.type)}",
        builder.source(op, 1),
        builder.source(op, 2),
        builder.source(op, 3, _U32),
        length,
    )


@rule("bmsk")
def _bmsk(builder: UopBuilder, op: Operation) -> None:
    builder.destination(op).write("bmsk_u32", _limited(builder, op, 1), _limited(builder, op, 2))


@rule("szext")
def _szext(builder: UopBuilder, op: Operation) -> None:
    builder.destination(op).write(
        f"bfe_{signed(op.type)}", builder.source(op, 1), builder.constant(0), _limited(builder, op, 2)
    )


@rule("prmt")
def _prmt(builder: UopBuilder, op: Operation) -> None:
    modes = ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    mode = modes.index(op.match.one_of(*modes[1:]))
    builder.destination(op).write(
        "prmt_u32", builder.source(op, 1), builder.source(op, 2), builder.source(op, 3), mode
    )


@rule("dp4a", "dp2a")
def _dot_product(builder: UopBuilder, op: Operation) -> None:
    name, mode = f"dp4a_{op.type.name[0]}{op.stype.name[0]}", 0
    if op.match.form.sem == "dp2a":
        name, mode = "dp2a_u32", 4 * op.has("hi") + 2 * op.type.is_signed + op.stype.is_signed
    d = builder.destination(op, 0, _U32)
    d.write(name, builder.source(op, 1, _U32), builder.source(op, 2, _U32), builder.source(op, 3, _U32), mode)
