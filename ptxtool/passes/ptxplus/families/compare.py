"""Comparisons, selections and predicates.

A PTX predicate is a condition code whose zero flag is clear where it holds: `set` writes all ones or zeros, and their
flags. `setp` with a boolean operation, or with two results, is a comparison and operations on condition codes; these
read and write whole codes, of which nothing but the zero flag ever matters here.
"""

from ptxtool.ir.nodes import Dual, Operand
from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.families import wide
from ptxtool.passes.ptxplus.flatten import Refusal
from ptxtool.passes.ptxplus.selection import InstructionSelection, results_of, rule

_COMPARISONS = (
    *("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"),
    *("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"),
)
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _comparison(isel: InstructionSelection, type_: Type) -> tuple[str, str, str, str]:
    """How to spell a comparison of operands 1 and 2: name, type, operands."""
    name = isel.match.one_of(*_COMPARISONS)
    operands = isel.operands[1:3]
    if type_.name == "f64":
        return (name, "ff64", *(isel.braced(isel.wide_source(o)) for o in operands))  # type: ignore[return-value]
    if type_.is_float and type_.name != "f32":
        raise Refusal(f"PTXPlus does not compare '.{type_.name}'")
    kind = type_.name
    if not type_.is_float:
        unsigned = name in _UNSIGNED or not type_.is_signed
        kind = f"{'u' if unsigned else 's'}{type_.bits}"
        name = _UNSIGNED.get(name, name)
    a, b = (isel.source(o, type_) for o in operands)
    if type_.is_float and "ftz" in isel.match.modifiers:
        a, b = (isel.flushed(x) for x in (a, b))
    return name, kind, a, b


def _long_test(isel: InstructionSelection, type_: Type) -> str:
    """The condition code of a comparison of 64-bit integers."""
    name = isel.match.one_of(*_COMPARISONS)
    type_ = TYPES["u64"] if name in _UNSIGNED else type_
    name = _UNSIGNED.get(name, name)
    a, b = (isel.wide_source(o) for o in isel.operands[1:3])
    if name in ("eq", "ne"):
        result = wide.equal(isel, a, b)
    else:
        if name in ("gt", "le"):
            a, b = b, a
        result = wide.below(isel, type_, a, b)
    return isel.inverted(result) if name in ("ne", "le", "ge") else result


def _condition(isel: InstructionSelection, type_: Type) -> str:
    """The condition code of a comparison."""
    if type_.bits == 64 and not type_.is_float:
        return _long_test(isel, type_)
    return isel.test(*_comparison(isel, type_))


@rule("setp")
def _setp(isel: InstructionSelection) -> None:
    first, second = results_of(isel.operands[0])
    type_ = isel.type_of(isel.match.type)
    boolean = isel.match.one_of("and", "or", "xor")
    is_plain = not boolean and second is None and first is not None
    if is_plain and (type_.bits < 64 or type_.is_float):  # the usual case, in one instruction
        name, kind, a, b = _comparison(isel, type_)
        isel.emit(f"set.{name}.u32.{kind}", f"{isel.target(first)}/$o127", a, b)
        return
    found = _condition(isel, type_)
    other = isel.plain_truth(isel.operands[3]) if boolean else ""
    results: list[tuple[str, str]] = []
    for operand, negated in ((first, False), (second, True)):
        if operand is None:
            continue
        value = isel.inverted(found) if negated else found
        if boolean:
            value = isel.compute_predicate(f"{boolean}.pred", value, other)
        results.append((isel.target(operand), value))
    for target, value in results:
        isel.emit("mov.pred", target, value)


@rule("set")
def _set(isel: InstructionSelection) -> None:
    match = isel.match
    type_ = isel.type_of(match.stype)
    if match.type not in ("u32", "s32", "f32") or len(isel.operands) > 3:
        raise Refusal(f"PTXPlus has no '{isel.opcode.text}'")
    target = isel.target()
    true = word(0x3F800000) if match.type == "f32" else word(-1)
    isel.emit("selp.u32", target, true, word(0), _condition(isel, type_))


@rule("selp")
def _selp(isel: InstructionSelection) -> None:
    condition, negated = isel.truth(isel.operands[3])
    a, b = isel.operands[1:3]
    _choose(isel, condition, *((b, a) if negated else (a, b)))


@rule("slct")
def _slct(isel: InstructionSelection) -> None:
    """`a` where `c` is not negative: NaN takes `b`."""
    match, (_, a, b, third) = isel.match, isel.operands
    c = isel.source(third, isel.type_of(match.stype))
    if "ftz" in match.modifiers:
        c = isel.flushed(c)
    _choose(isel, isel.test("ge", match.stype, c, word(0)), a, b)


def _choose(isel: InstructionSelection, condition: str, a: Operand, b: Operand) -> None:
    """The result is `a` where a condition holds, elsewhere `b`."""
    key = isel.destination()
    if isel.is_wide(key):
        for target, x, y in zip(isel.words(key), isel.wide_source(a), isel.wide_source(b), strict=True):
            isel.emit("selp.u32", target, x, y, condition)
    else:
        target, sources = isel.register(key), isel.sources((a, b), isel.type_of(isel.match.type))
        isel.emit("selp.u32", target, *sources, condition)


def predicate_logic(isel: InstructionSelection) -> None:
    """and, or, xor, not of predicates."""
    sources = [isel.plain_truth(o) for o in isel.operands[1:]]
    isel.emit(f"{isel.opcode.base}.pred", isel.target(), *sources)


@rule("testp")
def _testp(isel: InstructionSelection) -> None:
    """finite, infinite, number, notanumber, normal, subnormal: comparisons of the bits without their sign."""
    if isel.match.type != "f32" or isinstance(isel.operands[0], Dual):
        raise Refusal(f"PTXPlus has no '{isel.opcode.text}'")
    bits = isel.compute("and.b32", isel.source(isel.operands[1], TYPES["f32"]), word(0x7FFFFFFF))
    infinity = word(0x7F800000)
    target = isel.target()
    test = isel.match.one_of("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    simple = {"finite": "lt", "infinite": "eq", "number": "le", "notanumber": "gt"}
    if test in simple:
        isel.emit(f"set.{simple[test]}.u32.u32", f"{target}/$o127", bits, infinity)
        return
    tiny = isel.mask("lt", "u32", isel.compute("sub.u32", bits, word(1)), word(0x007FFFFF))
    if test == "subnormal":
        isel.emit("set.ne.u32.u32", f"{target}/$o127", tiny, word(0))
        return
    finite = isel.mask("lt", "u32", bits, infinity)
    isel.emit("and.b32", f"{target}|$o127", finite, isel.compute("not.b32", tiny))
