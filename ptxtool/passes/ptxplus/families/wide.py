"""Integers of 64 bits: two words, low word first, or the low word alone where nothing reads the other.

For `integer.py`, `compare.py` and `convert.py`. Sums and differences carry through a comparison (a sum is below its
operand where it wrapped), because GPGPU-Sim's addition with carry adds four. Shifts rely on what both simulators
do with amounts of 32 and more: everything is shifted out.

Refused: division, remainder, bit fields at unknown places.
"""

from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal, ValueKey
from ptxtool.passes.ptxplus.selection import InstructionSelection, Pair, sign_of

_NARROW = {
    **{base: f"{base}.u32" for base in ("add", "sub")},
    **{base: f"{base}.b32" for base in ("and", "or", "xor", "not", "shl")},
    "neg": "neg.s32",
}
"""Operations whose low word is the same operation on low words."""
_LONG = TYPES["b64"]


def arithmetic(isel: InstructionSelection) -> None:
    """An integer operation with a result or operands of 64 bits. Raises `Refusal`."""
    operands = isel.operands
    base = isel.opcode.base
    key = isel.destination()
    if base in ("mul", "mad"):
        return _multiply(isel, key)
    if base in ("popc", "clz", "bfind"):
        return _count(isel, key)
    if base in ("bfe", "bfi"):
        return _bit_field(isel, key)
    if not isel.is_wide(key) and base in _NARROW:
        first, *others = operands[1:]
        sources = isel.sources(others, TYPES["u32"] if base == "shl" else _LONG)
        isel.emit(_NARROW[base], isel.register(key), isel.source(first, _LONG), *sources)
        return
    if base in ("shl", "shr"):
        amount_text = isel.source(operands[2], TYPES["u32"])
        pair = isel.wide_source(operands[1])
        isel.write(key, *shifted(isel, base, isel.type_of(isel.match.type), pair, amount_text))
        return
    pairs = [isel.wide_source(o) for o in operands[1:]]
    isel.write(key, *_computed(isel, base, isel.type_of(isel.match.type), pairs))


def _computed(isel: InstructionSelection, base: str, type_: Type, pairs: list[Pair]) -> Pair:
    if base == "add":
        return added(isel, *pairs)
    if base == "sub":
        return subtracted(isel, *pairs)
    if base in ("and", "or", "xor", "not"):
        return _by_word(isel, f"{base}.b32", *pairs)
    if base == "neg":
        return subtracted(isel, (word(0), word(0)), pairs[0])
    if base == "abs":
        sign = isel.compute("shr.s32", pairs[0][1], word(31))
        return subtracted(isel, _by_word(isel, "xor.b32", pairs[0], (sign, sign)), (sign, sign))
    if base in ("min", "max"):
        chosen = below(isel, type_, *(pairs if base == "min" else pairs[::-1]))
        return _by_word(isel, "selp.u32", *pairs, (chosen, chosen))
    if base == "brev":
        return isel.compute("brev.b32", pairs[0][1]), isel.compute("brev.b32", pairs[0][0])
    raise Refusal(f"'{isel.opcode.text}' needs all 64 bits, and PTXPlus computes with 32")


def _by_word(isel: InstructionSelection, opcode: str, *pairs: Pair) -> Pair:
    """The same operation on the low words and on the high words."""
    low, high = (isel.compute(opcode, *words) for words in zip(*pairs, strict=True))
    return low, high


def added(isel: InstructionSelection, a: Pair, b: Pair) -> Pair:
    low = isel.compute("add.u32", a[0], b[0])
    carry = isel.mask("lt", "u32", low, a[0])
    return low, isel.compute("sub.u32", isel.compute("add.u32", a[1], b[1]), carry)


def subtracted(isel: InstructionSelection, a: Pair, b: Pair) -> Pair:
    low = isel.compute("sub.u32", a[0], b[0])
    borrow = isel.mask("lt", "u32", a[0], b[0])
    return low, isel.compute("add.u32", isel.compute("sub.u32", a[1], b[1]), borrow)


def below(isel: InstructionSelection, type_: Type, a: Pair, b: Pair) -> str:
    """A condition code that holds where a < b."""
    sign = "s32" if type_.is_signed else "u32"
    result = isel.predicate()
    high_below = isel.mask("lt", sign, a[1], b[1])
    high_equal = isel.mask("eq", "u32", a[1], b[1])
    low_below = isel.mask("lt", "u32", a[0], b[0])
    isel.always("or.b32", f"{result}|$o127", high_below, isel.compute("and.b32", high_equal, low_below))
    return result


def equal(isel: InstructionSelection, a: Pair, b: Pair) -> str:
    """A condition code that holds where a == b."""
    return isel.test("eq", "u32", isel.compute("or.b32", *_by_word(isel, "xor.b32", a, b)), word(0))


def shifted(isel: InstructionSelection, base: str, type_: Type, pair: Pair, amount: str) -> Pair:
    """A value shifted by any amount; 64 and more shift everything out."""
    low, high = pair
    if amount.startswith("0x"):
        return _shifted_by(isel, base, type_, pair, int(amount, 16))
    back = isel.compute("sub.u32", word(32), amount)
    beyond = isel.compute("sub.u32", amount, word(32))
    if base == "shl":
        crossing = isel.compute(
            "or.b32", isel.compute("shr.u32", low, back), isel.compute("shl.b32", low, beyond)
        )
        return (
            isel.compute("shl.b32", low, amount),
            isel.compute("or.b32", isel.compute("shl.b32", high, amount), crossing),
        )
    near = isel.compute("or.b32", isel.compute("shr.u32", low, amount), isel.compute("shl.b32", high, back))
    kind = sign_of(type_)
    far = isel.compute(f"shr.{kind}32", high, beyond)
    is_near = isel.test("lt", "u32", amount, word(32))
    return isel.compute("selp.u32", near, far, is_near), isel.compute(f"shr.{kind}32", high, amount)


def _shifted_by(isel: InstructionSelection, base: str, type_: Type, pair: Pair, n: int) -> Pair:
    low, high = pair
    if n == 0:
        return pair
    kind = sign_of(type_)
    if base == "shl":
        if n >= 32:
            return word(0), isel.compute("shl.b32", low, word(n - 32)) if n < 64 else word(0)
        crossing = isel.compute("shr.u32", low, word(32 - n))
        return (
            isel.compute("shl.b32", low, word(n)),
            isel.compute("or.b32", isel.compute("shl.b32", high, word(n)), crossing),
        )
    if n >= 32:
        fill = isel.compute("shr.s32", high, word(31)) if type_.is_signed else word(0)
        return isel.compute(f"shr.{kind}32", high, word(n - 32)) if n < 64 else fill, fill
    crossing = isel.compute("shl.b32", high, word(32 - n))
    return (
        isel.compute("or.b32", isel.compute("shr.u32", low, word(n)), crossing),
        isel.compute(f"shr.{kind}32", high, word(n)),
    )


def _multiply(isel: InstructionSelection, key: ValueKey) -> None:
    """mul.lo, mad.lo of 64 bits and mul.wide, mad.wide of 32."""
    match, operands = isel.match, isel.operands
    type_ = isel.type_of(match.type)
    is_sum = isel.opcode.base == "mad"
    if "hi" in match.modifiers:
        product = high_product(isel, type_, *(isel.wide_source(o) for o in operands[1:3]))
    elif not isel.is_wide(key):
        sources = isel.sources(operands[1:3], type_)
        if is_sum:
            isel.emit("mad.lo.u32", isel.register(key), *sources, isel.source(operands[3], _LONG))
        else:
            isel.product(isel.register(key), "mul.lo.u32", *sources)
        return
    elif "wide" in match.modifiers:
        words = isel.sources(operands[1:3], type_)
        product = isel.compute("mul.lo.u32", *words), isel.compute(f"mul.hi.{match.type}", *words)
    else:
        a, b = (isel.wide_source(o) for o in operands[1:3])
        high = isel.compute("mul.hi.u32", a[0], b[0])
        high = isel.compute("mad.lo.u32", a[0], b[1], high)
        product = isel.compute("mul.lo.u32", a[0], b[0]), isel.compute("mad.lo.u32", a[1], b[0], high)
    isel.write(key, *added(isel, product, isel.wide_source(operands[3])) if is_sum else product)


def high_product(isel: InstructionSelection, type_: Type, a: Pair, b: Pair) -> Pair:
    """The upper 64 bits of a product, by the words of its operands."""

    def product(x: str, y: str) -> Pair:
        return isel.compute("mul.lo.u32", x, y), isel.compute("mul.hi.u32", x, y)

    zero = word(0)
    middle = added(isel, product(a[0], b[1]), (isel.compute("mul.hi.u32", a[0], b[0]), zero))
    carried = added(isel, product(a[1], b[0]), (middle[0], zero))
    high = added(isel, added(isel, product(a[1], b[1]), (middle[1], zero)), (carried[1], zero))
    if type_.is_signed:  # a negative operand counts 2^64 too much
        for one, other in ((a, b), (b, a)):
            sign = isel.compute("shr.s32", one[1], word(31))
            high = subtracted(isel, high, _by_word(isel, "and.b32", other, (sign, sign)))
    return high


def _count(isel: InstructionSelection, key: ValueKey) -> None:
    low, high = isel.wide_source(isel.operands[1])
    target = isel.register(key)
    if isel.opcode.base == "popc":
        isel.emit("add.u32", target, isel.compute("popc.b32", low), isel.compute("popc.b32", high))
        return
    if isel.match.type == "s64":  # bfind: the highest bit that is not the sign
        sign = isel.compute("shr.s32", high, word(31))
        low, high = _by_word(isel, "xor.b32", (low, high), (sign, sign))
    is_zero = isel.test("eq", "u32", high, word(0))
    in_low = isel.compute("add.u32", isel.compute("clz.b32", low), word(32))
    zeros = isel.compute("selp.u32", in_low, isel.compute("clz.b32", high), is_zero)
    if isel.opcode.base == "clz":
        isel.move(target, zeros)
    elif "shiftamt" in isel.match.modifiers:
        isel.emit("or.b32", target, zeros, isel.mask("eq", "u32", zeros, word(64)))
    else:
        isel.emit("sub.u32", target, word(63), zeros)


def _bit_field(isel: InstructionSelection, key: ValueKey) -> None:
    """bfi of a whole word into the upper one, bfe at a constant place."""
    operands = isel.operands
    start, count = (isel.number(o, TYPES["u32"]) for o in operands[-2:])
    if start is None or count is None:
        raise Refusal(f"'{isel.opcode.text}' at a place that is no number")
    if isel.opcode.base == "bfi":
        if (start, count) != (32, 32):
            raise Refusal("'bfi.b64' of anything but a whole word")
        into = isel.wide_source(operands[2])
        isel.write(key, into[0], isel.source(operands[1], _LONG))
        return
    if start + count > 64 or count == 0:
        raise Refusal("'bfe' beyond the value")
    type_ = isel.type_of(isel.match.type)
    up = shifted(isel, "shl", type_, isel.wide_source(operands[1]), word(64 - start - count))
    isel.write(key, *shifted(isel, "shr", type_, up, word(64 - count)))
