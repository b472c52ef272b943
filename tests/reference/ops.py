"""Lane operations of the reference interpreter: what one instruction computes from the values of its operands.

For `reference.py`, which reads operands, writes results and does everything that is not arithmetic. Written from the
PTX ISA manual (chapter 9) and the description of PTXPlus, independently of the compiled operations, as a second
opinion on them; clarity over speed. `OPERATIONS` maps a `sem` of the instruction table to a function of an `Op` and raw
operand values; `reference_op.py` says in which types they are read and written.

Reference: NVIDIA, "Parallel Thread Execution ISA", chapter 9; the deviations of PTXPlus: docs/ptxplus-semantics.md.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxtool.isa.types import TYPES, Type
from reference import bits as reference_bits
from reference.numbers import (
    FLOATS,
    LANES,
    Raw,
    by_lane,
    exact_fma,
    exact_product,
    exact_quotient,
    exact_root,
    exact_sum,
    floats,
    flush,
    fma_f32,
    full,
    mask_of,
    raw_floats,
    raw_integers,
    round_real,
    signed,
    to_signed,
)
from reference.op import Op, format_of, result_type

Bools = NDArray[np.bool_]
# ---- floating point


def _float(op: Op, exact: Callable[..., int], fast: Callable[..., Any] | None, *operands: Raw) -> Raw:
    """A rounded operation: numpy's where it rounds to nearest once, exact arithmetic otherwise."""
    form = op.form
    if op.has("ftz") and form in (16, 32):
        operands = tuple(raw_floats(flush(floats(o, form))) for o in operands)
    if fast is not None and op.rounding == "rn" and form != "bf16":
        result = fast(*(floats(o, form) for o in operands))
    else:
        raw = by_lane(lambda *values: exact(*values, form, op.rounding), *operands)
        result = floats(raw, form)
    raw = finish_float(op, result)
    if op.has("oob"):
        outside = np.any([o == OOB_NAN for o in operands], axis=0)
        raw = np.where(outside, np.uint64(0), raw)
    return raw


OOB_NAN = np.uint64(0xFFFF)
"""What stands for "out of bounds" in f16 and bf16 tensors (docs/simulator.md)."""


def finish_float(op: Op, values: Any) -> Raw:
    """`.sat`, `.relu`, `.ftz` and the canonical NaN of a floating-point result."""
    if op.has("sat"):
        values = np.where(values > 0, np.minimum(values, 1), 0).astype(values.dtype)  # NaN and -0 become +0
    if op.has("relu"):
        values = np.where(np.isnan(values) | (values > 0), values, 0).astype(values.dtype)  # so does -0 here
    if op.has("ftz") and (values.dtype == np.float32 or (op.form == 16 and op.sem != "cvt")):
        values = flush(values)
    return raw_floats(values, op.form)


def _singles(op: Op, halves: Raw) -> Raw:
    """Mixed precision: an f16 or bf16 operand as f32."""
    return raw_floats(floats(halves, format_of(op.stype)).astype(np.float32))


def _unary_float(function: Callable[[Any], Any]) -> Callable[[Op, Raw], Raw]:
    """An approximate function: computed in f64, rounded to the type."""

    def operation(op: Op, a: Raw) -> Raw:
        values = floats(a, op.form)
        if op.type.bits == 64 and op.has("ftz"):
            return upper_result(op, function(floats(upper_word(op, a), 64)))
        if op.has("ftz"):
            values = flush(values)
        result = function(values.astype(np.float64))
        if op.form == "bf16":
            result = _nearest_bf16(result)
        return finish_float(op, result.astype(FLOATS[op.form]))

    return operation


def _nearest_bf16(values: Any) -> Any:
    """f64 rounded to bf16, as f64."""
    rounded = [
        x
        if not np.isfinite(x)
        else float(floats(full(round_real(Fraction(x), "bf16", "rn", bool(np.signbit(x)))), "bf16")[0])
        for x in values.tolist()
    ]
    return np.array(rounded)


def upper_word(op: Op, values: Any) -> Raw:
    """`.approx.ftz.f64`: the upper word of a value, which is a zero of its sign if it is subnormal."""
    if values.dtype != np.uint64:
        values = raw_floats(values)
    upper = values & np.uint64(0xFFFFFFFF00000000)
    is_tiny = upper >> np.uint64(52) & np.uint64(0x7FF) == 0
    return np.where(is_tiny, upper & np.uint64(1 << 63), upper)


def upper_result(op: Op, values: Any) -> Raw:
    """A result of `.approx.ftz.f64`: every NaN is the same one."""
    return np.where(np.isnan(values), np.uint64(0x7FFFFFFF00000000), upper_word(op, values))


def _rcp(op: Op, a: Raw) -> Raw:
    if op.type.bits == 64 and op.has("approx"):
        return upper_result(op, 1 / floats(upper_word(op, a), 64))
    one = raw_floats(np.ones(LANES, FLOATS[op.type.bits]))
    return _float(op, exact_quotient, np.divide, one, a)


def _sqrt(op: Op, a: Raw) -> Raw:
    return _float(op, exact_root, np.sqrt, a)


def _fma(op: Op, a: Raw, b: Raw, c: Raw) -> Raw:
    if op.is_mixed:
        a, b = _singles(op, a), _singles(op, b)
    return _float(op, exact_fma, fma_f32 if op.form == 32 else None, a, b, c)


# ---- integers


def _saturated(op: Op, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """`.sat` of integers: the value kept within the range of the type."""
    if not op.has("sat"):
        return values
    highest = (1 << op.type.bits - op.type.is_signed) - 1
    return np.clip(values, -highest - 1 if op.type.is_signed else 0, highest)


def _numbers(op: Op, raw: Raw) -> Any:
    """An integer operand as numbers: int64 for signed types, uint64 for the others."""
    return signed(raw, op.type.bits) if op.type.is_signed else raw


def _integers(op: Op, raw: Raw) -> NDArray[np.int64]:
    """An integer operand of at most 32 bits as numbers that can be subtracted."""
    return _numbers(op, raw).astype(np.int64)  # type: ignore[no-any-return]


def _add(op: Op, a: Raw, b: Raw) -> Raw:
    if op.is_mixed:
        a = _singles(op, a)
    if op.type.is_float:
        return _float(op, exact_sum, np.add, a, b)
    if op.has("sat"):
        return raw_integers(_saturated(op, _integers(op, a) + _integers(op, b)), op.type.bits)
    return (a + b) & mask_of(op.type.bits)


def _sub(op: Op, a: Raw, b: Raw) -> Raw:
    if op.type.is_float:
        return _add(op, a, b ^ np.uint64(1 << (op.type.bits - 1)))
    if op.has("sat"):
        return raw_integers(_saturated(op, _integers(op, a) - _integers(op, b)), op.type.bits)
    return (a - b) & mask_of(op.type.bits)


def _product(op: Op, a: int, b: int) -> int:
    """The full product of two raw integers."""
    bits = op.type.bits
    return to_signed(a, bits) * to_signed(b, bits) if op.type.is_signed else a * b


def _mul(op: Op, a: Raw, b: Raw) -> Raw:
    if op.type.is_float:
        return _float(op, exact_product, np.multiply, a, b)
    shift = op.type.bits if op.has("hi") else 0
    return by_lane(lambda x, y: _product(op, x, y) >> shift, a, b) & mask_of(result_type(op).bits)


def _mad(op: Op, a: Raw, b: Raw, c: Raw) -> Raw:
    if op.type.is_float:
        return _fma(op, a, b, c)
    if op.has("sat"):  # mad.hi.sat.s32
        return by_lane(
            lambda x, y, z: max(
                -(1 << 31), min((1 << 31) - 1, (_product(op, x, y) >> 32) + to_signed(z, 32))
            ),
            *(a, b, c),
        ) & mask_of(32)
    return (_mul(op, a, b) + c) & mask_of(result_type(op).bits)


def _madp(op: Op, a: Raw, b: Raw, c: Raw, code: Raw) -> Raw:
    return (_mul(op, a, b) + c + (code >> np.uint64(2) & np.uint64(1))) & mask_of(result_type(op).bits)


def _carry_in(op: Op, code: Raw) -> Raw:
    """What `addp` adds for the carry of a condition code: GPGPU-Sim the flag where it stands, which is 4."""
    carry = code & np.uint64(4)
    return carry if op.as_gpgpu_sim else carry >> np.uint64(2)


def _mul24(op: Op, a: Raw, b: Raw) -> Raw:
    def lane(x: int, y: int) -> int:
        x, y = x & 0xFFFFFF, y & 0xFFFFFF
        product = to_signed(x, 24) * to_signed(y, 24) if op.type.is_signed else x * y
        return product >> 16 if op.has("hi") else product

    return by_lane(lane, a, b) & mask_of(32)


def _clmad(op: Op, a: Raw, b: Raw, c: Raw) -> Raw:
    """Carry-less multiplication: the product of polynomials whose coefficients are bits."""

    def lane(x: int, y: int, z: int) -> int:
        product = 0
        for k in range(64):
            if x >> k & 1:
                product ^= y << k
        return (product >> 64 if op.has("hi") else product & (1 << 64) - 1) ^ z

    return by_lane(lane, a, b, c)


def widened_pair(op: Op, halves: Raw) -> Raw:
    """Mixed precision: a pair of f16 or bf16 as a pair of f32."""
    form, mask = format_of(TYPES[op.stype.name.removesuffix("x2")]), mask_of(16)
    low, high = (
        raw_floats(floats(part, form).astype(np.float32)) for part in (halves & mask, halves >> np.uint64(16))
    )
    return low | high << np.uint64(32)


def _product_as_gpgpu_sim(op: Op, a: Raw, b: Raw) -> Raw:
    """The product in `mad24`: 32 bits of operands that are not cut, `.hi` shifts those."""
    product = by_lane(lambda x, y: x * y, a, b) & mask_of(32)
    return raw_integers(_numbers(op, product) >> 16, 32) if op.has("hi") else product


def _mad24(op: Op, a: Raw, b: Raw, c: Raw) -> Raw:
    product = _product_as_gpgpu_sim(op, a, b) if op.as_gpgpu_sim else _mul24(op, a, b)
    if op.has("sat"):
        return raw_integers(_saturated(op, signed(product, 32) + signed(c, 32)), 32)
    return (product + c) & mask_of(32)


def _sad(op: Op, a: Raw, b: Raw, c: Raw) -> Raw:
    x, y = _numbers(op, a), _numbers(op, b)
    distance = np.where(x > y, a - b, b - a)
    return (distance + c) & mask_of(op.type.bits)


def _div(op: Op, a: Raw, b: Raw) -> Raw:
    if op.type.is_float:
        quotient = _float(op, exact_quotient, np.divide, a, b)
        if op.has("approx"):  # a * (1/b), of which 1/b is zero from 2^126 on
            x, y = floats(a, 32), floats(b, 32)
            quotient = np.where(np.abs(y) > 2.0**126, raw_floats(x * np.copysign(np.float32(0), y)), quotient)
        return quotient
    bits = op.type.bits

    def lane(x: int, y: int) -> int:
        if y == 0:
            return -1
        if not op.type.is_signed:
            return x // y
        x, y = to_signed(x, bits), to_signed(y, bits)
        quotient = abs(x) // abs(y)
        return quotient if (x < 0) == (y < 0) else -quotient

    return by_lane(lane, a, b) & mask_of(bits)


def _rem(op: Op, a: Raw, b: Raw) -> Raw:
    bits = op.type.bits

    def lane(x: int, y: int) -> int:
        if y == 0:
            return x
        if not op.type.is_signed:
            return x % y
        x, y = to_signed(x, bits), to_signed(y, bits)
        return abs(x) % abs(y) * (-1 if x < 0 else 1)

    return by_lane(lane, a, b) & mask_of(bits)


def _abs(op: Op, a: Raw) -> Raw:
    if op.type.is_float:
        cleared = a & mask_of(op.type.bits - 1)
        return raw_floats(flush(floats(cleared, op.form))) if op.has("ftz") else cleared
    # PTXPlus prints `abs.u32` for the absolute value of a signed number; GPGPU-Sim takes the type at its word
    if op.as_gpgpu_sim and not op.type.is_signed:
        return a
    return raw_integers(np.abs(signed(a, op.type.bits)), op.type.bits)


def negate(type_: Type, a: Raw) -> Raw:
    """`-a` in a type: the sign bit flipped, or the two's complement."""
    if type_.is_float:
        return a ^ np.uint64(1 << (type_.bits - 1))
    return (~a + np.uint64(1)) & mask_of(type_.bits)


def _neg(op: Op, a: Raw) -> Raw:
    flipped = negate(op.type, a)
    return raw_floats(flush(floats(flipped, op.form))) if op.has("ftz") else flipped


def _minmax(is_max: bool) -> Callable[..., Raw]:
    def whole(op: Op, a: Raw, b: Raw) -> Raw:
        chosen = np.where((_numbers(op, a) > _numbers(op, b)) == is_max, a, b)
        return np.where(_numbers(op, chosen) < 0, np.uint64(0), chosen) if op.has("relu") else chosen

    def operation(op: Op, a: Raw, b: Raw, *more: Raw) -> Raw:
        if more:
            b = operation(op, b, more[0])
        if not op.type.is_float:
            return whole(op, a, b)
        signs = (a ^ b) >> np.uint64(op.type.bits - 1) & np.uint64(1)
        x, y = floats(a, op.form), floats(b, op.form)
        if (op.has("abs") or op.has("xorsign.abs")) and not op.ptxplus:
            x, y = np.abs(x), np.abs(y)
        if op.has("ftz"):
            x, y = flush(x), flush(y)
        # -0 is smaller than +0
        first = (x > y) | ((x == y) & ~np.signbit(x)) if is_max else (x < y) | ((x == y) & np.signbit(x))
        chosen = np.where(np.isnan(x), y, np.where(np.isnan(y), x, np.where(first, x, y)))
        if op.has("NaN"):
            chosen = np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), chosen)
        if op.has("xorsign.abs"):
            chosen = np.where(np.isnan(chosen) | (signs == 0), chosen, -chosen)
        return finish_float(op, chosen.astype(x.dtype))

    return operation


def _bitwise(function: Callable[..., Raw]) -> Callable[..., Raw]:
    return lambda op, *operands: function(*operands) & mask_of(op.type.bits)


def _copysign(op: Op, a: Raw, b: Raw) -> Raw:
    sign = np.uint64(1 << (op.type.bits - 1))
    return (a & sign) | (b & ~sign)


# ---- comparison and selection


def compare(type_: Type, relation: str, a: Raw, b: Raw, modifiers: frozenset[str] = frozenset()) -> Bools:
    """Which lanes satisfy a relation of the instruction set ("lt", "hs", "neu", ...)."""
    x: Any
    y: Any
    if type_.is_float:
        x, y = floats(a, format_of(type_)), floats(b, format_of(type_))
        if "ftz" in modifiers:
            x, y = flush(x), flush(y)
        unordered = np.isnan(x) | np.isnan(y)
        if relation in ("num", "nan"):
            return ~unordered if relation == "num" else unordered
        holds = _RELATIONS[relation.removesuffix("u")](x, y)
        return holds | unordered if relation.endswith("u") else holds & ~unordered
    is_signed = type_.is_signed and relation not in _UNSIGNED
    x, y = (signed(a, type_.bits), signed(b, type_.bits)) if is_signed else (a, b)
    return _RELATIONS[_UNSIGNED.get(relation, relation.removesuffix("u"))](x, y)


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
RELATIONS = frozenset({*_RELATIONS, *_UNSIGNED, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"})


def _slct(op: Op, a: Raw, b: Raw, c: Raw) -> Raw:
    if op.stype.is_float:
        values = floats(c, 32)
        chosen = (flush(values) if op.has("ftz") else values) >= 0  # NaN selects b
    else:
        chosen = signed(c, 32) >= 0
    return np.where(chosen, a, b)


def _testp(op: Op, a: Raw) -> Raw:
    values = floats(a, op.type.bits)
    tiny = (np.abs(values) < np.finfo(values.dtype).tiny) & (values != 0)
    tests = {
        "finite": np.isfinite(values),
        "infinite": np.isinf(values),
        "number": ~np.isnan(values),
        "notanumber": np.isnan(values),
        "subnormal": tiny,
        "normal": np.isfinite(values) & ~tiny,  # zero counts as normal
    }
    return next(holds for name, holds in tests.items() if op.has(name)).astype(np.uint64)


# ---- extended precision: the carry flag goes in and comes out


def extended(op: Op, operands: tuple[Raw, ...], carry: Raw) -> tuple[Raw, Raw]:
    """Result and carry of `add.cc`, `subc`, `madc.hi.cc` and the like; after a subtraction 1 means "no borrow"."""
    bits = op.type.bits
    reads_carry = op.sem.split("_")[0] in ("addc", "subc", "madc")
    subtracts = op.sem.startswith("sub")
    c_in = carry if reads_carry else np.full(LANES, int(subtracts), np.uint64)

    def total(*values: int) -> int:
        if op.sem.startswith("add"):
            return values[0] + values[1] + values[-1]
        if op.sem.startswith("sub"):
            return values[0] - values[1] - (1 - values[-1])
        product = _product(op, values[0], values[1])
        part = product >> bits if op.has("hi") else product
        return (part & ((1 << bits) - 1)) + values[2] + values[-1]

    def saturated(*values: int) -> int:
        *terms, carried = (to_signed(v, bits) for v in values)
        if op.sem.startswith("madc"):
            exact = (terms[0] * terms[1] >> bits) + terms[2] + carried
        else:
            exact = terms[0] + terms[1] + carried if op.sem == "addc" else terms[0] - terms[1] - (1 - carried)
        return max(-(1 << (bits - 1)), min((1 << (bits - 1)) - 1, exact))

    result = by_lane(saturated if op.has("sat") else total, *operands, c_in) & mask_of(bits)
    flag = by_lane(lambda *v: int((0 <= total(*v) < 1 << bits) == subtracts), *operands, c_in)
    return result, flag


def carry_overflow(op: Op, operands: tuple[Raw, ...], negated: tuple[bool, ...]) -> tuple[Bools, Bools]:
    """PTXPlus: the C and O flags of `add addp sub subr mad madp mad24`; false for everything else.

    All are those of one addition x + y + carry: the hardware subtracts by adding the complement and a carry of one,
    so that C means "no borrow". `negated` says which operands were written with a minus; GPGPU-Sim subtracts in `sub`
    and `subr` alone, and has no C and O of `mad24`. In `addp` and `madp` the operand is the complement already.
    """
    none = np.zeros(LANES, np.bool_)
    bits = result_type(op).bits
    setting = {"add", "addp", "sub", "subr", "mad", "madp"} | ({"mad24"} if not op.as_gpgpu_sim else set())
    if op.type.is_float or bits > 32 or op.sem not in setting:
        return none, none
    one, mask = np.uint64(1), mask_of(bits)
    carry = np.zeros(LANES, np.uint64)
    x, y = operands[0], operands[1]
    minus = [negated[0], negated[1]]
    if op.sem in ("mad", "madp", "mad24"):
        product = _mul24 if op.sem == "mad24" else _mul
        x, y = product(op, operands[0], operands[1]), operands[2]
        minus = [False, negated[2]]
    if op.sem == "addp":
        carry = _carry_in(op, operands[-1])
    elif op.sem == "madp":
        carry = operands[-1] >> np.uint64(2) & one
    if op.as_gpgpu_sim or op.sem in ("addp", "madp"):  # no one is added for a minus before an operand
        minus = [False, False]
    if op.sem == "sub":
        y, minus[1] = negate(op.type, y), not minus[1]
    elif op.sem == "subr":
        x, minus[0] = negate(op.type, x), not minus[0]
    # the value of a negated operand is its complement plus one: take the one into the carry
    if minus[0]:
        x, carry = (x - one) & mask, carry + one
    if minus[1]:
        y, carry = (y - one) & mask, carry + one
    total = signed(x, bits) + signed(y, bits) + carry.astype(np.int64)
    overflow = (total < -(1 << (bits - 1))) | (total >= 1 << (bits - 1))
    return (x + y + carry) >> np.uint64(bits) != 0, overflow if op.type.is_signed else none


def element_wise(op: Op, function: Callable[..., Raw]) -> Callable[..., Raw]:
    """A function of packed operands that applies another to each of the elements."""
    one = op.element()
    mask = mask_of(one.type.bits)

    def all_elements(_: Op, *operands: Raw) -> Raw:
        result = np.zeros(LANES, np.uint64)
        for first_bit in range(0, op.type.bits, one.type.bits):
            shift = np.uint64(first_bit)
            result |= function(one, *(o >> shift & mask for o in operands)) << shift
        return result

    return all_elements


OPERATIONS: dict[str, Callable[..., Raw]] = {
    "add": _add,
    "sub": _sub,
    "subr": lambda op, a, b: _sub(op, b, a),
    "addp": lambda op, a, b, c: (a + b + _carry_in(op, c)) & mask_of(op.type.bits),
    "mul": _mul,
    "mul24": _mul24,
    "mad": _mad,
    "fma": _fma,
    "clmad": _clmad,
    "mad24": _mad24,
    "madp": _madp,
    "sad": _sad,
    "div": _div,
    "rem": _rem,
    "abs": _abs,
    "neg": _neg,
    "min": _minmax(False),
    "max": _minmax(True),
    "rcp": _rcp,
    "sqrt": _sqrt,
    "rsqrt": _unary_float(lambda x: 1 / np.sqrt(x)),
    "sin": _unary_float(np.sin),
    "cos": _unary_float(np.cos),
    "lg2": _unary_float(np.log2),
    "ex2": _unary_float(np.exp2),
    "tanh": _unary_float(np.tanh),
    "copysign": _copysign,
    "testp": _testp,
    "slct": _slct,
    "and": _bitwise(lambda a, b: a & b),
    "or": _bitwise(lambda a, b: a | b),
    "xor": _bitwise(lambda a, b: a ^ b),
    "not": _bitwise(lambda a: ~a),
    "cnot": lambda op, a: (a == 0).astype(np.uint64),
    "andn": _bitwise(lambda a, b: a & ~b),
    "orn": _bitwise(lambda a, b: a | ~b),
    "nandn": _bitwise(lambda a, b: ~(a & ~b)),
    "norn": _bitwise(lambda a, b: ~(a | ~b)),
    "lop3": reference_bits.lop3,
    "shl": reference_bits.shl,
    "shr": reference_bits.shr,
    "shf": reference_bits.shf,
    "brev": reference_bits.brev,
    "clz": lambda op, a: by_lane(lambda x: op.type.bits - x.bit_length(), a),
    "popc": lambda op, a: by_lane(lambda x: x.bit_count(), a),
    "bfind": reference_bits.bfind,
    "bfe": reference_bits.bfe,
    "bfi": reference_bits.bfi,
    "fns": reference_bits.fns,
    "bmsk": reference_bits.bmsk,
    "szext": reference_bits.szext,
    "prmt": reference_bits.prmt,
    "dp4a": lambda op, a, b, c: reference_bits.dot(op, a, b, c, 8, 0),
    "dp2a": lambda op, a, b, c: reference_bits.dot(op, a, b, c, 16, 2 if op.has("hi") else 0),
    "mov": lambda op, a: a,
}
EXTENDED = frozenset(
    ["add_cc", "addc", "addc_cc", "sub_cc", "subc", "subc_cc"]
    + [f"{base}_{half}{cc}" for base in ("mad", "madc") for half in ("lo", "hi") for cc in ("", "_cc")]
) - {"mad_lo", "mad_hi"}
