"""Integer arithmetic, logic and shifts of up to 32 bits. Values of 64 bits: `wide.py`.

Most instructions exist in PTXPlus as they are. A value of 16 bits has a whole register with a meaningless upper half: a
sum, difference, product or bitwise result is right in its low half anyway, everything else extends its operands first.
What the dialect lacks is put together: `lop3` from two-operand operations, `shf` from shifts, `bfind` from `clz`,
`mad24` from `mul24` (GPGPU-Sim's own does not cut its operands).

Refused: saturating sums, dot products, video instructions, packed values.
"""

from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.families import wide
from ptxtool.passes.ptxplus.families.carry import chain
from ptxtool.passes.ptxplus.families.compare import predicate_logic
from ptxtool.passes.ptxplus.families.floating import floating
from ptxtool.passes.ptxplus.flatten import Refusal
from ptxtool.passes.ptxplus.selection import InstructionSelection, modifiers, rule, sign_of

_SIMPLE = frozenset(["add", "sub", "mul", "mad", "and", "or", "xor", "not", "shl", "neg"])
"""Operations whose low half depends on the low halves of their operands."""
_BITWISE = frozenset(["and", "or", "xor", "not", "shl", "brev", "popc", "clz", "cnot"])


@rule("add", "sub", "mul", "mad", "min", "max", "sad", "div", "rem", "neg", "abs", "mul24", "mad24")
@rule("and", "or", "xor", "not", "cnot", "shl", "shr", "popc", "clz", "brev", "bfe", "bfi", "bfind", "prmt")
def _integer(isel: InstructionSelection) -> None:
    """An operation by its type."""
    match = isel.match
    type_ = isel.type_of(match.type)
    base = isel.opcode.base
    if type_.kind == "pred":
        return predicate_logic(isel)
    if type_.is_float:
        return floating(isel)
    if match.type.endswith(("x2", "x4")):
        raise Refusal(f"PTXPlus has no packed values ('.{match.type}')")
    if "cc" in match.modifiers:
        return chain(isel)
    if not match.modifiers.isdisjoint(("sat", "relu")):
        raise Refusal(f"PTXPlus does not limit the result of an integer '{base}'")
    is_double = "wide" in match.modifiers
    if type_.bits == 64 or (is_double and type_.bits == 32):
        return wide.arithmetic(isel)
    target = isel.target()
    operands = isel.operands[1:]
    if type_.bits == 16 and not is_double and base not in _SIMPLE:
        return _half(isel, type_, target, isel.sources(operands, type_))
    if type_.bits == 16 and "hi" in match.modifiers:
        return _high_half(isel, type_, target, isel.sources(operands, type_))
    sources = [isel.source(o, _operand_type(base, k, type_)) for k, o in enumerate(operands)]
    if base == "bfind":
        _bfind(isel, type_, "shiftamt" in match.modifiers, target, sources[0])
    elif base == "mad24":
        product = isel.compute(f"mul24{modifiers(match, 'lo', 'hi')}.{match.type}", *sources[:2])
        isel.emit("add.u32", target, product, sources[2])
    elif base == "prmt" and not match.modifiers.isdisjoint(("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")):
        raise Refusal("'prmt' with a mode: only the general form is lowered")
    elif base == "mul" and "lo" in match.modifiers:
        isel.product(target, _spelling(isel, base, type_), *sources)
    else:
        isel.emit(_spelling(isel, base, type_), target, *sources)


def _operand_type(base: str, place: int, type_: Type) -> Type:
    """The type of a source: amounts and positions have 32 bits whatever the instruction's type."""
    is_amount = (base in ("shl", "shr") and place == 1) or base in ("bfe", "bfi")
    return TYPES["u32"] if is_amount else type_


def _spelling(isel: InstructionSelection, base: str, type_: Type) -> str:
    """The opcode in PTXPlus."""
    match = isel.match
    if base in _BITWISE:
        return f"{base}.b32"
    if "wide" in match.modifiers:
        return f"{base}.wide.{type_.name}"
    name = match.type if base in ("bfi", "prmt") else "s32" if base == "neg" else f"{sign_of(type_)}32"
    return f"{base}{modifiers(match, 'lo', 'hi')}.{name}"


def _extended(isel: InstructionSelection, type_: Type, source: str) -> str:
    """A 16-bit operand extended to the whole register."""
    if source.startswith("0x"):
        number = int(source, 16) & 0xFFFF
        return word(number - 0x10000 if type_.is_signed and number >> 15 else number)
    return isel.extended(source, type_)


def _half(isel: InstructionSelection, type_: Type, target: str, sources: list[str]) -> None:
    """min, max, shr, ... of 16 bits: on extended operands."""
    base = isel.opcode.base
    if base not in ("min", "max", "sad", "div", "rem", "abs", "shr", "cnot"):
        raise Refusal(f"'{isel.opcode.text}' has 16 bits")
    n = 1 if base == "shr" else len(sources)
    extended = [_extended(isel, type_, x) for x in sources[:n]] + sources[n:]
    isel.emit("cnot.b32" if base == "cnot" else f"{base}.{sign_of(type_)}32", target, *extended)


def _high_half(isel: InstructionSelection, type_: Type, target: str, sources: list[str]) -> None:
    """mul.hi and mad.hi of 16 bits: the upper half of the product of 32."""
    product = isel.compute("mul.lo.u32", *(_extended(isel, type_, x) for x in sources[:2]))
    if isel.opcode.base == "mad":
        isel.emit("add.u32", target, isel.compute("shr.u32", product, word(16)), sources[2])
    else:
        isel.emit("shr.u32", target, product, word(16))


def _bfind(isel: InstructionSelection, type_: Type, is_amount: bool, target: str, source: str) -> None:
    """The place of the highest bit that is not the sign; all ones where there is none."""
    if type_.is_signed:
        source = isel.compute("xor.b32", source, isel.compute("shr.s32", source, word(31)))
    zeros = isel.compute("clz.b32", source)
    if not is_amount:
        isel.emit("sub.u32", target, word(31), zeros)
        return
    isel.emit("or.b32", target, zeros, isel.mask("eq", "u32", zeros, word(32)))


# ---- lop3: any function of three bits

_OF_TWO = {
    0b0000: ("0",),
    0b1111: ("1",),
    0b1100: ("a",),
    0b1010: ("b",),
    0b0011: ("not", "a"),
    0b0101: ("not", "b"),
    0b1000: ("and", "a", "b"),
    0b1110: ("or", "a", "b"),
    0b0110: ("xor", "a", "b"),
    0b0111: ("not and", "a", "b"),
    0b0001: ("not or", "a", "b"),
    0b1001: ("not xor", "a", "b"),
    0b0100: ("and not", "a", "b"),
    0b0010: ("and not", "b", "a"),
    0b1101: ("or not", "a", "b"),
    0b1011: ("or not", "b", "a"),
}
"""A function of two bits by its results for (a, b) = (1, 1), (1, 0), (0, 1), (0, 0), highest bit first."""


def _of_two(isel: InstructionSelection, results: int, a: str, b: str) -> str:
    """The register or constant of a function of two operands."""
    operation, *names = _OF_TWO[results]
    trivial = {"0": word(0), "1": word(-1), "a": a, "b": b}
    if operation in trivial:
        return trivial[operation]
    values = [trivial[name] for name in names]
    if operation.startswith("not "):
        return isel.compute("not.b32", isel.compute(f"{operation[4:]}.b32", *values))
    if operation.endswith(" not"):
        return isel.compute(f"{operation[:-4]}.b32", values[0], isel.compute("not.b32", values[1]))
    return isel.compute(f"{operation}.b32", *values)


@rule("lop3")
def _lop3(isel: InstructionSelection) -> None:
    """f(a, b, c) = f(a, b, 0) xor (c and (f(a, b, 0) xor f(a, b, 1)))."""
    operands = isel.operands
    table = isel.number(operands[4], TYPES["u32"]) if len(operands) == 5 else None
    if table is None or isel.match.modifiers & {"or", "and"}:
        raise Refusal("'lop3' with a predicate")
    a, b, c = isel.sources(operands[1:4], TYPES["b32"])
    # bit 4a + 2b + c of the table
    without = sum((table >> (2 * k) & 1) << k for k in range(4))
    with_c = sum((table >> (2 * k + 1) & 1) << k for k in range(4))
    target = isel.target()
    plain = _of_two(isel, without, a, b)
    if with_c == without:
        isel.move(target, plain)
        return
    changed = _of_two(isel, without ^ with_c, a, b)
    kept = c if without ^ with_c == 0b1111 else isel.compute("and.b32", c, changed)
    isel.emit("xor.b32", target, kept, plain) if without else isel.move(target, kept)


@rule("shf")
def _shf(isel: InstructionSelection) -> None:
    """A word of the 64 bits {b, a} shifted: two shifts and an `or`."""
    match, operands = isel.match, isel.operands
    low, high = isel.sources(operands[1:3], TYPES["b32"])
    target = isel.target()
    amount = isel.number(operands[3], TYPES["u32"])
    if amount is not None:
        amount = min(amount, 32) if "clamp" in match.modifiers else amount & 31
        there, back = word(amount), word(32 - amount)
    else:
        source = isel.source(operands[3], TYPES["u32"])
        if "clamp" in match.modifiers:
            there = isel.compute("min.u32", source, word(32))
        else:
            there = isel.compute("and.b32", source, word(31))
        back = isel.compute("sub.u32", word(32), there)
    if "l" in match.modifiers:
        parts = isel.compute("shl.b32", high, there), isel.compute("shr.u32", low, back)
    else:
        parts = isel.compute("shr.u32", low, there), isel.compute("shl.b32", high, back)
    isel.emit("or.b32", target, *parts)


@rule("dp4a")
def _dp4a(isel: InstructionSelection) -> None:
    """The sum of four products of bytes, onto a third operand."""
    a, b, total = isel.sources(isel.operands[1:4], TYPES["u32"])
    for k in range(4):
        first = isel.compute(f"bfe.{isel.match.type}", a, word(8 * k), word(8))
        second = isel.compute(f"bfe.{isel.match.stype}", b, word(8 * k), word(8))
        total = isel.compute("mad.lo.s32", first, second, total)
    isel.move(isel.target(), total)


@rule("bmsk")
def _bmsk(isel: InstructionSelection) -> None:
    """`b` ones from bit `a` on."""
    start, count = isel.sources(isel.operands[1:3], TYPES["u32"])
    if "wrap" in isel.match.modifiers:
        start, count = (isel.compute("and.b32", x, word(31)) for x in (start, count))
    ones = isel.compute("not.b32", isel.compute("shl.b32", word(-1), count))
    isel.emit("shl.b32", isel.target(), ones, start)
