"""Integer arithmetic, carries, bit fields, packed 16-bit forms; and the dispatch of names shared with floats.

PTXPlus: `add` with a negated operand is the hardware's subtraction (its carry means "no borrow"), the carry in of
`addp` and `madp` is one, 16-bit multiplications into a whole register give all 32 bits of the product, and 24-bit
ones cut their operands. docs/ptxplus-semantics.md lists where GPGPU-Sim does otherwise, as
`b.as_gpgpu_sim` asks for.
"""

from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.compare import predicate_logic, write_predicates
from ptxsim.lowering.instructions.floating import float_binary, float_extreme, float_sign
from ptxsim.lowering.instructions.packed import each, is_packed
from ptxsim.lowering.rows import (
    BOOLEAN_TABLES,
    COPY_TABLE,
    FALSE,
    NOT_TABLE,
    OR_TABLE,
    TRUE,
    Operation,
    unsupported,
)
from ptxtool.ir.nodes import Dual, Immediate, Name, Operand, Unary
from ptxtool.isa.types import TYPES, Type

_U32, _S32 = TYPES["u32"], TYPES["s32"]


def _binary(b: UopBuilder, op: Operation, name: str, type_: Type | None = None) -> None:
    """d = a op b by one lane operation."""
    type_ = type_ or op.type
    b.destination(op, 0, type_).write(name, b.source(op, 1, type_), b.source(op, 2, type_))


def _unary(b: UopBuilder, op: Operation, name: str, result: Type | None = None) -> None:
    b.destination(op, 0, result).write(name, b.source(op, 1))


def _width(type_: Type) -> str:
    return "u64" if type_.bits == 64 else "u32"


def _signed(type_: Type) -> str:
    return ("s" if type_.is_signed else "u") + ("64" if type_.bits == 64 else "32")


_PLAIN: dict[str, tuple[str, tuple[Type | None, ...], Type | None]] = {
    "rem": ("rem_{signed}", (None, None), None),
    "shl": ("shl_{width}", (None, _U32), None),
    "shr": ("shr_{signed}", (None, _U32), None),
    "popc": ("popc_{width}", (None,), _U32),
    "clz": ("clz_{width}", (None,), _U32),
    "brev": ("brev_{width}", (None,), None),
    "bfe": ("bfe_{signed}", (None, _U32, _U32), None),
    "fns": ("fns_u32", (None, _U32, _S32), None),
}
"""Instructions that are one lane operation: its name, and the types of sources and result (None: that of the
instruction)."""


@rule(*_PLAIN)
def _plain(b: UopBuilder, op: Operation) -> None:
    name, sources, result = _PLAIN[op.match.form.sem]
    d = b.destination(op, 0, result)
    rows = [b.source(op, k, type_) for k, type_ in enumerate(sources, 1)]
    d.write(name.format(width=_width(op.type), signed=_signed(op.type)), *rows)


# ---- addition, with PTXPlus's carry and overflow


def _negated(b: UopBuilder, operand: Operand) -> Operand | None:
    """The operand of the minus of a PTXPlus source; None without one, or if GPGPU-Sim negates before it adds."""
    if b.ptxplus and not b.as_gpgpu_sim and isinstance(operand, Unary) and operand.operator == "-":
        return None if isinstance(operand.operand, Immediate) else operand.operand
    return None


def _flag_rows(b: UopBuilder, op: Operation) -> int | None:
    """The first row of the condition code that `$p|$r` sets, None without one."""
    operand = op.operands[0]
    if not isinstance(operand, Dual) or not b.ptxplus:
        return None
    flags = b.register(operand.first.text) if isinstance(operand.first, Name) else None
    return b.row_of(flags)[1] if flags is not None and flags.is_predicate else None


def _sum_with_flags(
    b: UopBuilder, op: Operation, a: int, second: int, carry: int | None, type_: Type
) -> None:
    """d = a + second (+ carry row); Z, S, C and O of a PTXPlus condition code where one is a destination.

    `second` is the complement of the subtrahend in a subtraction, whose carry in is one.
    """
    d = b.destination(op, 0, type_)
    flags = _flag_rows(b, op)
    if carry is None:
        b.emit("add_u32", d.row, a, second)
    else:
        b.emit("add_u32", d.row, b.compute("add_u32", a, second), carry)
    if flags is None:
        d.finish()
        return
    carry = b.constant(0) if carry is None else carry
    if type_.bits == 32:
        out = b.compute("carry3_u32", a, second, carry)
        over = b.compute("overflow_s32", a, second, carry) if type_.is_signed else FALSE
    else:  # 16 bits: the sum of the zero-extended values has the carry in bit 16
        cut = [b.compute("zext16_u32", row) for row in (a, second)]
        wide = b.compute("add_u32", b.compute("add_u32", cut[0], cut[1]), carry)
        out = b.compute("ebit_u32", wide, e=16 << 1)
        over = FALSE
        if type_.is_signed:  # that of the sign-extended values does not fit
            parts = [b.compute("sext16_u32", row) for row in (a, second)]
            total = b.compute("add_u32", b.compute("add_u32", parts[0], parts[1]), carry)
            over = b.compute("eq_u32", total, b.compute("sext16_u32", total), e=1)
    d.finish()
    b.combine(COPY_TABLE, out, d=flags + 2)
    b.combine(COPY_TABLE, over, d=flags + 3)


def _ptxplus_add(b: UopBuilder, op: Operation, first: Operand, second: Operand, carry: int | None) -> None:
    """add, sub, addp of integers in a register: a minus makes the hardware subtract."""
    type_ = op.type
    minus_a, minus_b = _negated(b, first), _negated(b, second)
    if minus_a is not None and minus_b is None:
        first, second, minus_b = second, first, minus_a
    elif minus_b is None:
        _sum_with_flags(b, op, b.value(first, type_), b.value(second, type_), carry, type_)
        return
    complement = b.compute("not_u32", b.value(minus_b, type_))
    one = b.constant(1) if carry is None else carry
    _sum_with_flags(b, op, b.value(first, type_), complement, one, type_)


@rule("add", "sub", "subr")
def _add(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    type_ = op.type
    if type_.is_float:
        float_binary(b, op, name)
        return
    if is_packed(type_):
        value = each(
            b, type_, [b.source(op, k) for k in (1, 2)], lambda rows: b.compute(f"{name}_u32", *rows)
        )
        b.destination(op).write("mov_u32", value)
        return
    if op.has("sat") and not b.ptxplus:
        if type_.name != "s32":
            unsupported(f"'{name}.sat' of '.{type_.name}'")
        _binary(b, op, f"{name}sat_s32")
        return
    first, second = op.operands[1], op.operands[2]
    if name == "subr":
        first, second = second, first
    if b.ptxplus and type_.bits <= 32:
        if name != "add":
            if b.as_gpgpu_sim:
                _subtract(b, op, first, second)
                return
            minus = _negated(b, second)
            second = Unary("-", second) if minus is None else minus
            if isinstance(second, Unary) and isinstance(second.operand, Immediate):
                _subtract(b, op, first, second.operand)
                return
        _ptxplus_add(b, op, first, second, None)
        return
    b.destination(op).write(
        f"{'add' if name == 'add' else 'sub'}_{_width(type_)}", b.value(first, type_), b.value(second, type_)
    )


def _subtract(b: UopBuilder, op: Operation, first: Operand, second: Operand) -> None:
    complement = b.compute("not_u32", b.value(second, op.type))
    _sum_with_flags(b, op, b.value(first, op.type), complement, b.constant(1), op.type)


@rule("addp")
def _addp(b: UopBuilder, op: Operation) -> None:
    _ptxplus_add(
        b, op, op.operands[1], op.operands[2], _carry_in(b, op.operands[3], 4 if b.as_gpgpu_sim else 1)
    )


def _carry_in(b: UopBuilder, operand: Operand, amount: int = 1) -> int:
    """An amount where a condition code's carry is set, 0 elsewhere."""
    register = b.register(operand.text) if isinstance(operand, Name) else None
    if register is None or not register.is_predicate:
        unsupported("a carry that is no condition-code register")
    return b.compute("sel_u32", b.constant(amount), b.constant(0), b.row_of(register)[1] + 2)


# ---- extended precision: PTX's carry flag is a predicate row of its own. It is the hardware's: a subtraction is the
# sum a + ~b + 1, so that after one the flag means "no borrow", and `addc` may read it (CUDA's 128-bit division does)


def _carry_flag(b: UopBuilder) -> int:
    if b.carry_row < 0:
        b.carry_row = b.new_row(1)
    return b.carry_row


def _add_carries(b: UopBuilder, op: Operation, a: int, second: int, carry_in: int, writes: bool) -> None:
    """d = a + second + carry (a predicate row); the carry flag := carry out."""
    width = _width(op.type)
    bits = 64 if width == "u64" else 32
    one = b.compute(f"sel_{width}", b.constant(1, bits), b.constant(0, bits), carry_in)
    d = b.destination(op)
    partial = b.compute(f"add_{width}", a, second)
    if writes:
        first = b.compute(f"carry_{width}", a, second)
        other = b.compute(f"carry_{width}", partial, one)
        b.combine(OR_TABLE, first, other, d=_carry_flag(b))
    b.emit(f"add_{width}", d.row, partial, one)
    d.finish()


def _saturated_sum(b: UopBuilder, op: Operation, terms: list[int], carry: int, minus: bool = False) -> None:
    """d = the terms plus the carry flag (or minus the borrow), summed up in 64 bits and kept within s32."""
    total = b.compute("sext_u64", terms[0])
    for term in terms[1:]:
        total = b.compute("sub_u64" if minus else "add_u64", total, b.compute("sext_u64", term))
    one = b.compute("sel_u64", b.constant(1, 64), b.constant(0, 64), carry)
    total = b.compute("sub_u64" if minus else "add_u64", total, one)
    total = b.compute("max_s64", total, b.constant(-(1 << 31), 64))
    total = b.compute("min_s64", total, b.constant((1 << 31) - 1, 64))
    b.destination(op).write("trunc_u64", total)


@rule("add_cc", "addc", "addc_cc")
def _addc(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    carry = FALSE if name == "add_cc" else _carry_flag(b)
    if op.has("sat"):
        _saturated_sum(b, op, [b.source(op, 1), b.source(op, 2)], carry)
        return
    _add_carries(b, op, b.source(op, 1), b.source(op, 2), carry, name.endswith("_cc"))


@rule("sub_cc", "subc", "subc_cc")
def _subc(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    if op.has("sat"):
        borrow = b.combine(NOT_TABLE, _carry_flag(b))
        _saturated_sum(b, op, [b.source(op, 1), b.source(op, 2)], borrow, minus=True)
        return
    no_borrow = TRUE if name == "sub_cc" else _carry_flag(b)
    complement = b.compute(f"not_{_width(op.type)}", b.source(op, 2))
    _add_carries(b, op, b.source(op, 1), complement, no_borrow, name.endswith("_cc"))


@rule("mad_lo_cc", "mad_hi_cc", "madc_lo", "madc_hi", "madc_lo_cc", "madc_hi_cc")
def _madc(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    high = "_hi" in name or op.has("hi")
    if op.type.bits == 16:
        a = b.compute("mul_u32", b.source(op, 1), b.source(op, 2))
        a = b.compute("high16_u32", a) if high else a
    else:
        product = f"mulhi_{_signed(op.type)}" if high else f"mul_{_width(op.type)}"
        a = b.compute(product, b.source(op, 1), b.source(op, 2))
    if op.has("sat"):
        _saturated_sum(b, op, [a, b.source(op, 3)], _carry_flag(b))
        return
    carry = _carry_flag(b) if name.startswith("madc") else FALSE
    _add_carries(b, op, a, b.source(op, 3), carry, name.endswith("_cc"))


# ---- multiplication


def _is_whole(b: UopBuilder, operand: Operand) -> bool:
    """PTXPlus: whether a destination is a whole register and no half."""
    if isinstance(operand, Dual):
        operand = operand.second
    return not (isinstance(operand, Name) and operand.part in ("lo", "hi"))


def _product(b: UopBuilder, op: Operation) -> tuple[int, Type]:
    """The product of operands 1 and 2, in the part the instruction asks for, and its type."""
    type_ = op.type
    mode = op.match.one_of("lo", "hi", "wide")
    kind = type_.name[0]
    wide_type = TYPES[f"{kind}{min(64, 2 * type_.bits)}"]
    if type_.bits == 16:
        product = b.compute("mul_u32", b.source(op, 1), b.source(op, 2))
        if mode == "hi":
            return b.compute("high16_u32", product), type_
        is_wide = mode == "wide" or (b.ptxplus and not b.as_gpgpu_sim)
        return product, wide_type if is_wide and _is_whole(b, op.operands[0]) else type_
    if type_.bits == 64:
        name = f"mulhi_{_signed(type_)}" if mode == "hi" else "mul_u64"
        return b.compute(name, b.source(op, 1), b.source(op, 2)), type_
    if mode == "wide" and not (b.ptxplus and isinstance(op.operands[0], (Name, Dual))):
        return b.compute(f"mulwide_{_signed(type_)}", b.source(op, 1), b.source(op, 2)), wide_type
    name = f"mulhi_{_signed(type_)}" if mode == "hi" else "mul_u32"
    return b.compute(name, b.source(op, 1), b.source(op, 2)), type_


@rule("mul")
def _mul(b: UopBuilder, op: Operation) -> None:
    type_ = op.type
    if type_.is_float:
        float_binary(b, op, "mul")
        return
    mode = op.match.one_of("lo", "hi", "wide")
    if not b.ptxplus and type_.bits == 32:  # the usual ones without a move
        names = {"lo": "mul_u32", "hi": f"mulhi_{_signed(type_)}", "wide": f"mulwide_{_signed(type_)}"}
        b.destination(op, 0, TYPES[f"{type_.name[0]}64"] if mode == "wide" else type_).write(
            names[mode], b.source(op, 1), b.source(op, 2)
        )
        return
    product, result = _product(b, op)
    b.destination(op, 0, result).write(f"mov_{_width(result)}", product)


@rule("mad")
def _mad(b: UopBuilder, op: Operation) -> None:
    type_ = op.type
    mode = op.match.one_of("lo", "hi", "wide")
    if not b.ptxplus and type_.bits == 32 and mode != "hi":
        wide = mode == "wide"
        result = TYPES[f"{type_.name[0]}64"] if wide else type_
        d = b.destination(op, 0, result)
        name = f"madwide_{_signed(type_)}" if wide else "mad_u32"
        b.emit(name, d.row, b.source(op, 1), b.source(op, 2), b.source(op, 3, result))
        d.finish()
        return
    product, result = _product(b, op)
    _accumulate(b, op, product, result, None)


def _accumulate(b: UopBuilder, op: Operation, product: int, result: Type, carry: int | None) -> None:
    """d = product + operand 3 (+ carry)."""
    if b.ptxplus and result.bits <= 32:
        minus = _negated(b, op.operands[3])
        if minus is None:
            _sum_with_flags(b, op, product, b.source(op, 3, result), carry, result)
        else:
            one = b.constant(1) if carry is None else carry
            _sum_with_flags(b, op, product, b.compute("not_u32", b.value(minus, result)), one, result)
        return
    d = b.destination(op, 0, result)
    name = "addsat_s32" if op.has("sat") else f"add_{_width(result)}"
    b.emit(name, d.row, product, b.source(op, 3, result))
    d.finish()


@rule("madp")
def _madp(b: UopBuilder, op: Operation) -> None:
    product, result = _product(b, op)
    carry = _carry_in(b, op.operands[4])
    if result.bits <= 32:
        _accumulate(b, op, product, result, carry)
        return
    minus = _negated(b, op.operands[3])
    addend = b.source(op, 3, result) if minus is None else b.compute("not_u64", b.value(minus, result))
    partial = b.compute("add_u64", product, addend)
    b.destination(op, 0, result).write("add_u64", partial, b.compute("zext_u64", carry))


def _product24(b: UopBuilder, op: Operation) -> int:
    cut = "sext24_u32" if op.type.is_signed else "zext24_u32"
    a, second = b.compute(cut, b.source(op, 1)), b.compute(cut, b.source(op, 2))
    return b.compute("mul24hi_u32" if op.has("hi") else "mul_u32", a, second)


@rule("mul24")
def _mul24(b: UopBuilder, op: Operation) -> None:
    product = _product24(b, op)
    b.destination(op).write("mov_u32", product)


@rule("mad24")
def _mad24(b: UopBuilder, op: Operation) -> None:
    if not b.as_gpgpu_sim:
        _accumulate(b, op, _product24(b, op), op.type, None)
        return
    # a product of 32 bits, of operands that are not cut; C and O stay clear
    product = b.compute("mul_u32", b.source(op, 1), b.source(op, 2))
    if op.has("hi"):
        product = b.compute(f"shr_{_signed(op.type)}", product, b.constant(16))
    b.destination(op).write("add_u32", product, b.source(op, 3))


@rule("sad")
def _sad(b: UopBuilder, op: Operation) -> None:
    difference = b.compute(f"absdiff_{_signed(op.type)}", b.source(op, 1), b.source(op, 2))
    b.destination(op).write(f"add_{_width(op.type)}", difference, b.source(op, 3))


@rule("div")
def _div(b: UopBuilder, op: Operation) -> None:
    if op.type.is_float:
        float_binary(b, op, "div")
    else:
        _binary(b, op, f"div_{_signed(op.type)}")


@rule("abs", "neg")
def _sign(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    type_ = op.type
    if type_.is_float:
        float_sign(b, op, name)
    elif name == "neg":
        _unary(b, op, f"neg_{_width(type_)}")
    elif b.as_gpgpu_sim and not type_.is_signed:
        _unary(b, op, "mov_u32")
    else:  # PTXPlus prints `.u32` and `.u16` for the absolute value of signed numbers
        signed = TYPES[f"s{type_.bits}"]
        b.destination(op).write("abs_s64" if type_.bits == 64 else "abs_s32", b.source(op, 1, signed))


@rule("min", "max")
def _extreme(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    type_ = op.type
    if type_.is_float:
        float_extreme(b, op, name)
        return
    if not (op.has("relu") or is_packed(type_)):
        _binary(b, op, f"{name}_{_signed(type_)}")
        return
    kind = _signed(type_)

    def one(rows: list[int]) -> int:
        value = b.compute(f"{name}_{kind}", *rows)
        return b.compute(f"max_{kind}", value, b.constant(0)) if op.has("relu") else value

    value = each(b, type_, [b.source(op, k) for k in (1, 2)], one)
    b.destination(op).write("mov_u32", value)


# ---- logic and shifts


@rule("and", "or", "xor")
def _logic(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    if op.type.kind == "pred":
        predicate_logic(b, op, name)
    else:
        _binary(b, op, f"{name}_{_width(op.type)}")


@rule("not", "cnot")
def _not(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    if op.type.kind == "pred":
        predicate_logic(b, op, name)
    else:
        _unary(b, op, f"{name}_{_width(op.type)}")


@rule("andn", "orn", "nandn", "norn")
def _inverted_logic(b: UopBuilder, op: Operation) -> None:
    name = op.match.form.sem
    if op.type.kind == "pred":
        predicate_logic(b, op, name)
        return
    width = _width(op.type)
    first, second = b.source(op, 1), b.source(op, 2)
    d = b.destination(op)
    if name == "andn":
        b.emit(f"andn_{width}", d.row, first, second)
    elif name == "orn":
        b.emit(f"or_{width}", d.row, first, b.compute(f"not_{width}", second))
    elif name == "nandn":
        b.emit(f"not_{width}", d.row, b.compute(f"andn_{width}", first, second))
    else:  # ~a & b, as its name does not say
        b.emit(f"andn_{width}", d.row, second, first)
    d.finish()


@rule("shf")
def _shf(b: UopBuilder, op: Operation) -> None:
    amount = _limited(b, op, 3)
    b.destination(op).write(
        "shf_l_u32" if op.has("l") else "shf_r_u32", b.source(op, 1), b.source(op, 2), amount
    )


def _lut(b: UopBuilder, op: Operation) -> int:
    operand = op.operands[4]
    if not isinstance(operand, Immediate):
        unsupported("a truth table that is no number")
    return int(operand.text.rstrip("U"), 0) & 0xFF


@rule("lop3")
def _lop3(b: UopBuilder, op: Operation) -> None:
    b.destination(op).write("lop3_u32", b.source(op, 1), b.source(op, 2), b.source(op, 3), _lut(b, op))


@rule("lop3_bool")
def _lop3_bool(b: UopBuilder, op: Operation) -> None:
    value = b.compute("lop3_u32", b.source(op, 1), b.source(op, 2), b.source(op, 3), _lut(b, op))
    table = BOOLEAN_TABLES[op.match.form.base.rpartition(".")[2]]
    result = b.combine(table, b.compute("eq_u32", value, b.constant(0), e=1), b.predicate(op.operands[5]))
    operand = op.operands[0]
    if not isinstance(operand, Dual):
        unsupported("'lop3' without a predicate destination")
    b.place(operand.first, op.type).write("mov_u32", value)
    write_predicates(b, operand.second, result)


# ---- bits


@rule("bfind")
def _bfind(b: UopBuilder, op: Operation) -> None:
    _unary(b, op, f"bfind{'shift' if op.has('shiftamt') else ''}_{_signed(op.type)}", _U32)


def _limited(b: UopBuilder, op: Operation, index: int) -> int:
    """A bit count: `.clamp` limits it to 32, `.wrap` takes it modulo 32."""
    row = b.source(op, index, _U32)
    if op.has("wrap"):
        return b.compute("and_u32", row, b.constant(31))
    return b.compute("min_u32", row, b.constant(32))


@rule("bfi")
def _bfi(b: UopBuilder, op: Operation) -> None:
    d = b.destination(op)
    length = b.source(op, 4, _U32)
    d.write(f"bfi_{_width(op.type)}", b.source(op, 1), b.source(op, 2), b.source(op, 3, _U32), length)


@rule("bmsk")
def _bmsk(b: UopBuilder, op: Operation) -> None:
    b.destination(op).write("bmsk_u32", _limited(b, op, 1), _limited(b, op, 2))


@rule("szext")
def _szext(b: UopBuilder, op: Operation) -> None:
    b.destination(op).write(f"bfe_{_signed(op.type)}", b.source(op, 1), b.constant(0), _limited(b, op, 2))


@rule("prmt")
def _prmt(b: UopBuilder, op: Operation) -> None:
    modes = ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    d = b.destination(op)
    mode = modes.index(op.match.one_of(*modes[1:]))
    b.emit("prmt_u32", d.row, b.source(op, 1), b.source(op, 2), b.source(op, 3), mode)
    d.finish()


@rule("dp4a")
def _dp4a(b: UopBuilder, op: Operation) -> None:
    b.destination(op, 0, _U32).write(
        f"dp4a_{op.type.name[0]}{op.stype.name[0]}", *(b.source(op, k, _U32) for k in (1, 2, 3))
    )


@rule("dp2a")
def _dp2a(b: UopBuilder, op: Operation) -> None:
    mode = 4 * op.has("hi") + 2 * op.type.is_signed + op.stype.is_signed
    b.destination(op, 0, _U32).write(
        "dp2a_u32", b.source(op, 1, _U32), b.source(op, 2, _U32), b.source(op, 3, _U32), mode
    )
