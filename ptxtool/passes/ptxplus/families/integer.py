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
from ptxtool.passes.ptxplus.flatten import Refusal, Step
from ptxtool.passes.ptxplus.selection import Selection, modifiers, rule

_SIMPLE = frozenset(["add", "sub", "mul", "mad", "and", "or", "xor", "not", "shl", "neg"])
"""Operations whose low half depends on the low halves of their operands."""
_BITWISE = frozenset(["and", "or", "xor", "not", "shl", "brev", "popc", "clz", "cnot"])


@rule("add", "sub", "mul", "mad", "min", "max", "sad", "div", "rem", "neg", "abs", "mul24", "mad24")
@rule("and", "or", "xor", "not", "cnot", "shl", "shr", "popc", "clz", "brev", "bfe", "bfi", "bfind", "prmt")
def _integer(s: Selection, step: Step) -> None:
    """An operation by its type."""
    match = step.match
    assert match is not None
    type_ = s.type_of(match.type)
    base = step.instruction.opcode.base
    if type_.kind == "pred":
        predicate_logic(s, step)
        return
    if type_.is_float:
        floating(s, step)
        return
    if match.type.endswith("x2"):
        raise Refusal(f"PTXPlus has no packed values ('.{match.type}')")
    if "cc" in match.modifiers:
        chain(s, step)
        return
    if match.modifiers & {"sat", "relu"}:
        raise Refusal(f"PTXPlus does not limit the result of an integer '{base}'")
    is_double = "wide" in match.modifiers
    if type_.bits == 64 or (is_double and type_.bits == 32):
        wide.arithmetic(s, step)
        return
    target = s.register(s.destination(step, step.instruction.operands[0]))
    operands = step.instruction.operands[1:]
    if type_.bits == 16 and not is_double and base not in _SIMPLE:
        sources = [s.source(step, o, type_) for o in operands]
        _half(s, step, base, type_, target, sources)
        return
    if type_.bits == 16 and "hi" in match.modifiers:
        _high_half(s, step, type_, target, [s.source(step, o, type_) for o in operands])
        return
    sources = [s.source(step, o, _operand_type(base, k, type_)) for k, o in enumerate(operands)]
    if base == "bfind":
        _bfind(s, type_, "shiftamt" in match.modifiers, target, sources[0])
    elif base == "mad24":
        product = s.compute(f"mul24{modifiers(match, 'lo', 'hi')}.{match.type}", *sources[:2])
        s.emit("add.u32", target, product, sources[2])
    elif base == "prmt" and match.modifiers & {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}:
        raise Refusal("'prmt' with a mode: only the general form is lowered")
    elif base == "mul" and "lo" in match.modifiers:
        s.product(target, _spelling(base, step, type_), *sources)
    else:
        s.emit(_spelling(base, step, type_), target, *sources)


def _operand_type(base: str, place: int, type_: Type) -> Type:
    """The type of a source: amounts and positions have 32 bits whatever the instruction's type."""
    is_amount = (base in ("shl", "shr") and place == 1) or base in ("bfe", "bfi")
    return TYPES["u32"] if is_amount else type_


def _spelling(base: str, step: Step, type_: Type) -> str:
    """The opcode in PTXPlus."""
    match = step.match
    assert match is not None
    if base in _BITWISE:
        return f"{base}.b32"
    if "wide" in match.modifiers:
        return f"{base}.wide.{type_.name}"
    sign = "s" if type_.is_signed else "u"
    name = match.type if base in ("bfi", "prmt") else f"{sign}32"
    if base == "neg":
        name = "s32"
    return f"{base}{modifiers(match, 'lo', 'hi')}.{name}"


def _extended(s: Selection, type_: Type, source: str) -> str:
    """A 16-bit operand with all of its register meaning the same number."""
    if not source.startswith("$"):
        number = int(source, 16) & 0xFFFF if source.startswith("0x") else None
        if number is not None:
            return word(number - 0x10000 if type_.is_signed and number >> 15 else number)
    sign = "s" if type_.is_signed else "u"
    return s.compute(f"cvt.{sign}32.{sign}16", source)


def _half(s: Selection, step: Step, base: str, type_: Type, target: str, sources: list[str]) -> None:
    """min, max, shr, ... of 16 bits: on extended operands."""
    if base not in ("min", "max", "sad", "div", "rem", "abs", "shr", "cnot"):
        raise Refusal(f"'{step.instruction.opcode.text}' has 16 bits")
    n = 1 if base == "shr" else len(sources)
    extended = [_extended(s, type_, x) for x in sources[:n]] + sources[n:]
    sign = "s" if type_.is_signed else "u"
    s.emit("cnot.b32" if base == "cnot" else f"{base}.{sign}32", target, *extended)


def _high_half(s: Selection, step: Step, type_: Type, target: str, sources: list[str]) -> None:
    """mul.hi and mad.hi of 16 bits: the upper half of the product of 32."""
    product = s.compute("mul.lo.u32", *(_extended(s, type_, x) for x in sources[:2]))
    if step.instruction.opcode.base == "mad":
        high = s.compute("shr.u32", product, word(16))
        s.emit("add.u32", target, high, sources[2])
    else:
        s.emit("shr.u32", target, product, word(16))


def _bfind(s: Selection, type_: Type, is_amount: bool, target: str, source: str) -> None:
    """The place of the highest bit that is not the sign; all ones where there is none."""
    if type_.is_signed:
        source = s.compute("xor.b32", source, s.compute("shr.s32", source, word(31)))
    zeros = s.compute("clz.b32", source)
    if not is_amount:
        s.emit("sub.u32", target, word(31), zeros)
        return
    is_none = s.mask("eq", "u32", zeros, word(32))
    s.emit("or.b32", target, zeros, is_none)


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


def _of_two(s: Selection, results: int, a: str, b: str) -> str:
    """The register or constant of a function of two operands."""
    operation, *names = _OF_TWO[results]
    values = [{"a": a, "b": b}[name] for name in names]
    if operation in ("0", "1"):
        return word(-int(operation))
    if operation in ("a", "b"):
        return a if operation == "a" else b
    if operation == "not":
        return s.compute("not.b32", values[0])
    if operation.startswith("not "):
        return s.compute("not.b32", s.compute(f"{operation[4:]}.b32", *values))
    if operation.endswith(" not"):
        return s.compute(f"{operation[:-4]}.b32", values[0], s.compute("not.b32", values[1]))
    return s.compute(f"{operation}.b32", *values)


@rule("lop3")
def _lop3(s: Selection, step: Step) -> None:
    """f(a, b, c) = f(a, b, 0) xor (c and (f(a, b, 0) xor f(a, b, 1)))."""
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    table = s.number(operands[4], TYPES["u32"]) if len(operands) == 5 else None
    if table is None or match.modifiers & {"or", "and"}:
        raise Refusal("'lop3' with a predicate")
    a, b, c = (s.source(step, o, TYPES["b32"]) for o in operands[1:4])
    # bit 4a + 2b + c of the table
    without = sum((table >> (2 * k) & 1) << k for k in range(4))
    with_c = sum((table >> (2 * k + 1) & 1) << k for k in range(4))
    target = s.register(s.destination(step, operands[0]))
    plain = _of_two(s, without, a, b)
    if with_c == without:
        s.move(target, plain)
        return
    changed = _of_two(s, without ^ with_c, a, b)
    kept = c if without ^ with_c == 0b1111 else s.compute("and.b32", c, changed)
    s.emit("xor.b32", target, kept, plain) if without else s.move(target, kept)


@rule("shf")
def _shf(s: Selection, step: Step) -> None:
    """A word of the 64 bits {b, a} shifted: two shifts and an `or`."""
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    low, high = (s.source(step, o, TYPES["b32"]) for o in operands[1:3])
    target = s.register(s.destination(step, operands[0]))
    amount = s.number(operands[3], TYPES["u32"])
    if amount is not None:
        amount = min(amount, 32) if "clamp" in match.modifiers else amount & 31
        there, back = word(amount), word(32 - amount)
    else:
        source = s.source(step, operands[3], TYPES["u32"])
        if "clamp" in match.modifiers:
            there = s.compute("min.u32", source, word(32))
        else:
            there = s.compute("and.b32", source, word(31))
        back = s.compute("sub.u32", word(32), there)
    if "l" in match.modifiers:
        parts = s.compute("shl.b32", high, there), s.compute("shr.u32", low, back)
    else:
        parts = s.compute("shr.u32", low, there), s.compute("shl.b32", high, back)
    s.emit("or.b32", target, *parts)


@rule("dp4a")
def _dp4a(s: Selection, step: Step) -> None:
    """The sum of four products of bytes, onto a third operand."""
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    a, b, total = (s.source(step, o, TYPES["u32"]) for o in operands[1:4])
    for k in range(4):
        first = s.compute(f"bfe.{match.type}", a, word(8 * k), word(8))
        second = s.compute(f"bfe.{match.stype}", b, word(8 * k), word(8))
        total = s.compute("mad.lo.s32", first, second, total)
    s.move(s.register(s.destination(step, operands[0])), total)


@rule("bmsk")
def _bmsk(s: Selection, step: Step) -> None:
    """`b` ones from bit `a` on."""
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    start, count = (s.source(step, o, TYPES["u32"]) for o in operands[1:3])
    if "wrap" in match.modifiers:
        start, count = (s.compute("and.b32", x, word(31)) for x in (start, count))
    ones = s.compute("not.b32", s.compute("shl.b32", word(-1), count))
    s.emit("shl.b32", s.register(s.destination(step, operands[0])), ones, start)
