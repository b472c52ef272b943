"""Integers of 64 bits: two words, low word first, or the low word alone where nobody asks for the other.

For `integer.py`, `compare.py` and `convert.py`. Sums and differences carry through a comparison (a sum is below its
operand where it wrapped), because GPGPU-Sim's addition with carry adds four. Shifts rely on what both simulators
do with amounts of 32 and more: everything is shifted out.

Refused: division, remainder, bit fields at unknown places.
"""

from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Key, Refusal, Step
from ptxtool.passes.ptxplus.selection import Pair, Selection

_NARROW = {
    "add": "add.u32",
    "sub": "sub.u32",
    "and": "and.b32",
    "or": "or.b32",
    "xor": "xor.b32",
    "not": "not.b32",
    "neg": "neg.s32",
    "shl": "shl.b32",
}
"""Operations whose low word is the same operation on low words."""
_LONG = TYPES["b64"]


def arithmetic(s: Selection, step: Step) -> None:
    """An integer operation with a result or operands of 64 bits. Raises `Refusal`."""
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    base = step.instruction.opcode.base
    key = s.destination(step, operands[0])
    if base in ("mul", "mad"):
        _multiply(s, step, key)
        return
    if base in ("popc", "clz", "bfind"):
        _count(s, step, key)
        return
    if not s.is_wide(key) and base in _NARROW:
        amount = [s.source(step, o, TYPES["u32"]) for o in operands[2:]] if base == "shl" else None
        sources = [s.source(step, o, _LONG) for o in operands[1:]]
        if amount is not None:
            sources[1:] = amount
        s.emit(_NARROW[base], s.register(key), *sources)
        return
    if base in ("shl", "shr"):
        amount_text = s.source(step, operands[2], TYPES["u32"])
        pair = s.wide_source(step, operands[1])
        write(s, key, shifted(s, base, s.type_of(match.type), pair, amount_text))
        return
    if base in ("bfe", "bfi"):
        _bit_field(s, step, key)
        return
    pairs = [s.wide_source(step, o) for o in operands[1:]]
    write(s, key, _computed(s, step, base, s.type_of(match.type), pairs))


def write(s: Selection, key: Key, result: Pair) -> None:
    """Put a value into both words of a destination, or into the one that matters."""
    if not s.is_wide(key):
        s.move(s.register(key), result[0])
        return
    for target, source in zip(s.words(key), result, strict=True):
        s.move(target, source)


def _computed(s: Selection, step: Step, base: str, type_: Type, pairs: list[Pair]) -> Pair:
    if base == "add":
        return added(s, *pairs)
    if base == "sub":
        return subtracted(s, *pairs)
    if base in ("and", "or", "xor"):
        return s.compute(f"{base}.b32", *(p[0] for p in pairs)), s.compute(
            f"{base}.b32", *(p[1] for p in pairs)
        )
    if base == "not":
        return s.compute("not.b32", pairs[0][0]), s.compute("not.b32", pairs[0][1])
    if base == "neg":
        return subtracted(s, (word(0), word(0)), pairs[0])
    if base == "abs":
        sign = s.compute("shr.s32", pairs[0][1], word(31))
        flipped = s.compute("xor.b32", pairs[0][0], sign), s.compute("xor.b32", pairs[0][1], sign)
        return subtracted(s, flipped, (sign, sign))
    if base in ("min", "max"):
        chosen = below(s, type_, *(pairs if base == "min" else pairs[::-1]))
        (a_low, a_high), (b_low, b_high) = pairs
        return chosen_word(s, a_low, b_low, chosen), chosen_word(s, a_high, b_high, chosen)
    if base == "brev":
        return s.compute("brev.b32", pairs[0][1]), s.compute("brev.b32", pairs[0][0])
    raise Refusal(f"'{step.instruction.opcode.text}' needs all 64 bits, and PTXPlus computes with 32")


def chosen_word(s: Selection, a: str, b: str, condition: str) -> str:
    """`a` where a condition code holds, `b` elsewhere."""
    return s.compute("selp.u32", a, b, condition)


def added(s: Selection, a: Pair, b: Pair) -> Pair:
    low = s.compute("add.u32", a[0], b[0])
    carry = s.mask("lt", "u32", low, a[0])
    return low, s.compute("sub.u32", s.compute("add.u32", a[1], b[1]), carry)


def subtracted(s: Selection, a: Pair, b: Pair) -> Pair:
    low = s.compute("sub.u32", a[0], b[0])
    borrow = s.mask("lt", "u32", a[0], b[0])
    return low, s.compute("add.u32", s.compute("sub.u32", a[1], b[1]), borrow)


def below(s: Selection, type_: Type, a: Pair, b: Pair) -> str:
    """A condition code that holds where a < b."""
    sign = "s32" if type_.is_signed else "u32"
    result = s.predicate()
    high_below = s.mask("lt", sign, a[1], b[1])
    high_equal = s.mask("eq", "u32", a[1], b[1])
    low_below = s.mask("lt", "u32", a[0], b[0])
    s.always("or.b32", f"{result}|$o127", high_below, s.compute("and.b32", high_equal, low_below))
    return result


def equal(s: Selection, a: Pair, b: Pair) -> str:
    """A condition code that holds where a == b."""
    different = s.compute("or.b32", s.compute("xor.b32", a[0], b[0]), s.compute("xor.b32", a[1], b[1]))
    return s.test("eq", "u32", different, word(0))


def shifted(s: Selection, base: str, type_: Type, pair: Pair, amount: str) -> Pair:
    """A value shifted by any amount; 64 and more shift everything out."""
    low, high = pair
    number = int(amount, 16) if amount.startswith("0x") else None
    if number is not None:
        return _shifted_by(s, base, type_, pair, number)
    back = s.compute("sub.u32", word(32), amount)
    beyond = s.compute("sub.u32", amount, word(32))
    if base == "shl":
        crossing = s.compute("or.b32", s.compute("shr.u32", low, back), s.compute("shl.b32", low, beyond))
        return (
            s.compute("shl.b32", low, amount),
            s.compute("or.b32", s.compute("shl.b32", high, amount), crossing),
        )
    near = s.compute("or.b32", s.compute("shr.u32", low, amount), s.compute("shl.b32", high, back))
    kind = "s" if type_.is_signed else "u"
    far = s.compute(f"shr.{kind}32", high, beyond)
    is_near = s.test("lt", "u32", amount, word(32))
    return s.compute("selp.u32", near, far, is_near), s.compute(f"shr.{kind}32", high, amount)


def _shifted_by(s: Selection, base: str, type_: Type, pair: Pair, n: int) -> Pair:
    low, high = pair
    if n == 0:
        return pair
    kind = "s" if type_.is_signed else "u"
    if base == "shl":
        if n >= 32:
            return word(0), s.compute("shl.b32", low, word(n - 32)) if n < 64 else word(0)
        crossing = s.compute("shr.u32", low, word(32 - n))
        return (
            s.compute("shl.b32", low, word(n)),
            s.compute("or.b32", s.compute("shl.b32", high, word(n)), crossing),
        )
    if n >= 32:
        fill = s.compute("shr.s32", high, word(31)) if type_.is_signed else word(0)
        return s.compute(f"shr.{kind}32", high, word(n - 32)) if n < 64 else fill, fill
    crossing = s.compute("shl.b32", high, word(32 - n))
    return (
        s.compute("or.b32", s.compute("shr.u32", low, word(n)), crossing),
        s.compute(f"shr.{kind}32", high, word(n)),
    )


def _multiply(s: Selection, step: Step, key: Key) -> None:
    """mul.lo, mad.lo of 64 bits and mul.wide, mad.wide of 32."""
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    type_ = s.type_of(match.type)
    is_sum = step.instruction.opcode.base == "mad"
    if "hi" in match.modifiers:
        upper = high_product(s, type_, *(s.wide_source(step, o) for o in operands[1:3]))
        write(s, key, added(s, upper, s.wide_source(step, operands[3])) if is_sum else upper)
        return
    if not s.is_wide(key):
        sources = [s.source(step, o, type_) for o in operands[1:3]]
        if is_sum:
            s.emit("mad.lo.u32", s.register(key), *sources, s.source(step, operands[3], _LONG))
        else:
            s.product(s.register(key), "mul.lo.u32", *sources)
        return
    if "wide" in match.modifiers:
        words = [s.source(step, o, type_) for o in operands[1:3]]
        product = s.compute("mul.lo.u32", *words), s.compute(f"mul.hi.{match.type}", *words)
    else:
        a, b = (s.wide_source(step, o) for o in operands[1:3])
        high = s.compute("mul.hi.u32", a[0], b[0])
        high = s.compute("mad.lo.u32", a[0], b[1], high)
        product = s.compute("mul.lo.u32", a[0], b[0]), s.compute("mad.lo.u32", a[1], b[0], high)
    write(s, key, added(s, product, s.wide_source(step, operands[3])) if is_sum else product)


def high_product(s: Selection, type_: Type, a: Pair, b: Pair) -> Pair:
    """The upper 64 bits of a product, by the words of its operands."""

    def product(x: str, y: str) -> Pair:
        return s.compute("mul.lo.u32", x, y), s.compute("mul.hi.u32", x, y)

    zero = word(0)
    middle = added(s, product(a[0], b[1]), (s.compute("mul.hi.u32", a[0], b[0]), zero))
    carried = added(s, product(a[1], b[0]), (middle[0], zero))
    high = added(s, added(s, product(a[1], b[1]), (middle[1], zero)), (carried[1], zero))
    if type_.is_signed:  # a negative operand counts 2^64 too much
        for one, other in ((a, b), (b, a)):
            sign = s.compute("shr.s32", one[1], word(31))
            surplus = s.compute("and.b32", other[0], sign), s.compute("and.b32", other[1], sign)
            high = subtracted(s, high, surplus)
    return high


def _count(s: Selection, step: Step, key: Key) -> None:
    match = step.match
    assert match is not None
    low, high = s.wide_source(step, step.instruction.operands[1])
    target = s.register(key)
    if step.instruction.opcode.base == "popc":
        s.emit("add.u32", target, s.compute("popc.b32", low), s.compute("popc.b32", high))
        return
    if match.type == "s64":  # bfind: the highest bit that is not the sign
        sign = s.compute("shr.s32", high, word(31))
        low, high = s.compute("xor.b32", low, sign), s.compute("xor.b32", high, sign)
    is_zero = s.test("eq", "u32", high, word(0))
    in_low = s.compute("add.u32", s.compute("clz.b32", low), word(32))
    zeros = s.compute("selp.u32", in_low, s.compute("clz.b32", high), is_zero)
    if step.instruction.opcode.base == "clz":
        s.move(target, zeros)
    elif "shiftamt" in match.modifiers:
        s.emit("or.b32", target, zeros, s.mask("eq", "u32", zeros, word(64)))
    else:
        s.emit("sub.u32", target, word(63), zeros)


def _bit_field(s: Selection, step: Step, key: Key) -> None:
    """bfi of a whole word into the upper one, bfe at a constant place."""
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    numbers = [s.number(o, TYPES["u32"]) for o in operands[-2:]]
    start, count = numbers
    if start is None or count is None:
        raise Refusal(f"'{step.instruction.opcode.text}' at a place that is no number")
    if step.instruction.opcode.base == "bfi":
        if (start, count) != (32, 32):
            raise Refusal("'bfi.b64' of anything but a whole word")
        into = s.wide_source(step, operands[2])
        write(s, key, (into[0], s.source(step, operands[1], _LONG)))
        return
    if start + count > 64 or count == 0:
        raise Refusal("'bfe' beyond the value")
    type_ = s.type_of(match.type)
    up = shifted(s, "shl", type_, s.wide_source(step, operands[1]), word(64 - start - count))
    write(s, key, shifted(s, "shr", type_, up, word(64 - count)))
