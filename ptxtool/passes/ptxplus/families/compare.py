"""Comparisons, selections and predicates.

A PTX predicate is a condition code whose zero flag is clear where it holds: `set` writes all ones or zeros, and their
flags. `setp` with a boolean operation, or with two results, is a comparison and operations on condition codes; these
read and write whole codes, of which nothing but the zero flag ever matters here.
"""

from ptxtool.ir.nodes import Dual, Name, Operand
from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.families import wide
from ptxtool.passes.ptxplus.flatten import Refusal, Step
from ptxtool.passes.ptxplus.selection import Selection, rule

_COMPARISONS = (
    *("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"),
    *("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"),
)
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _comparison(s: Selection, step: Step, type_: Type) -> tuple[str, str, str, str]:
    """How to spell a comparison of operands 1 and 2: name, type, operands."""
    match = step.match
    assert match is not None
    name = match.one_of(*_COMPARISONS)
    operands = step.instruction.operands[1:3]
    if type_.name == "f64":
        return (name, "ff64", *(s.braced(s.wide_source(step, o)) for o in operands))  # type: ignore[return-value]
    if type_.is_float and type_.name != "f32":
        raise Refusal(f"PTXPlus does not compare '.{type_.name}'")
    kind = type_.name
    if not type_.is_float:
        unsigned = name in _UNSIGNED or not type_.is_signed
        kind = f"{'u' if unsigned else 's'}{type_.bits}"
        name = _UNSIGNED.get(name, name)
    a, b = (s.source(step, o, type_) for o in operands)
    if type_.is_float and "ftz" in match.modifiers:
        a, b = (s.compute("add.ftz.f32", x, word(1 << 31)) for x in (a, b))
    return name, kind, a, b


def _long_test(s: Selection, step: Step, type_: Type) -> str:
    """The condition code of a comparison of 64-bit integers."""
    match = step.match
    assert match is not None
    name = match.one_of(*_COMPARISONS)
    type_ = TYPES["u64"] if name in _UNSIGNED else type_
    name = _UNSIGNED.get(name, name)
    a, b = (s.wide_source(step, o) for o in step.instruction.operands[1:3])
    if name in ("eq", "ne"):
        result = wide.equal(s, a, b)
    else:
        if name in ("gt", "le"):
            a, b = b, a
        result = wide.below(s, type_, a, b)
    if name in ("ne", "le", "ge"):
        return inverted(s, result)
    return result


def inverted(s: Selection, name: str) -> str:
    """A new condition code that holds where another does not."""
    result = s.predicate()
    s.always("not.pred", result, name)
    return result


@rule("setp")
def _setp(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    first, second = _results(operands[0])
    type_ = s.type_of(match.type)
    boolean = match.one_of("and", "or", "xor")
    if type_.bits == 64 and not type_.is_float:
        found = _long_test(s, step, type_)
    else:
        name, kind, a, b = _comparison(s, step, type_)
        if not boolean and second is None and first is not None:  # the usual case, in one instruction
            target = s.register(s.destination(step, first))
            s.emit(f"set.{name}.u32.{kind}", f"{target}/$o127", a, b)
            return
        found = s.test(name, kind, a, b)
    other = s.plain_truth(step, operands[3]) if boolean else ""
    results: list[tuple[str, str]] = []
    for operand, negated in ((first, False), (second, True)):
        if operand is None:
            continue
        value = inverted(s, found) if negated else found
        if boolean:
            joined = s.predicate()
            s.always(f"{boolean}.pred", joined, value, other)
            value = joined
        results.append((s.register(s.destination(step, operand)), value))
    for target, value in results:
        s.emit("mov.pred", target, value)


def _results(operand: Operand) -> tuple[Operand | None, Operand | None]:
    """The two results of `p|q`; None for `_` and for one that is not there."""
    pair = (operand.first, operand.second) if isinstance(operand, Dual) else (operand, None)
    first, second = (None if isinstance(o, Name) and o.text == "_" else o for o in pair)
    return first, second


@rule("set")
def _set(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    type_ = s.type_of(match.stype)
    if match.type not in ("u32", "s32", "f32") or len(step.instruction.operands) > 3:
        raise Refusal(f"PTXPlus has no '{step.instruction.opcode.text}'")
    target = s.register(s.destination(step, step.instruction.operands[0]))
    true = word(0x3F800000) if match.type == "f32" else word(-1)
    if type_.bits == 64 and not type_.is_float:
        s.emit("selp.u32", target, true, word(0), _long_test(s, step, type_))
        return
    name, kind, a, b = _comparison(s, step, type_)
    s.emit("selp.u32", target, true, word(0), s.test(name, kind, a, b))


@rule("selp")
def _selp(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    condition, negated = s.truth(step, operands[3])
    key = s.destination(step, operands[0])
    a, b = operands[2:0:-1] if negated else operands[1:3]
    if not s.is_wide(key):
        type_ = s.type_of(match.type)
        s.emit("selp.u32", s.register(key), s.source(step, a, type_), s.source(step, b, type_), condition)
        return
    for target, x, y in zip(s.words(key), s.wide_source(step, a), s.wide_source(step, b), strict=True):
        s.emit("selp.u32", target, x, y, condition)


@rule("slct")
def _slct(s: Selection, step: Step) -> None:
    """`a` where `c` is not negative: NaN takes `b`."""
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    c = s.source(step, operands[3], s.type_of(match.stype))
    if "ftz" in match.modifiers:
        c = s.compute("add.ftz.f32", c, word(1 << 31))
    condition = s.test("ge", match.stype, c, word(0))
    key = s.destination(step, operands[0])
    if s.is_wide(key):
        pairs = [s.wide_source(step, o) for o in operands[1:3]]
        for target, a, b in zip(s.words(key), *pairs, strict=True):
            s.emit("selp.u32", target, a, b, condition)
        return
    a, b = (s.source(step, o, s.type_of(match.type)) for o in operands[1:3])
    s.emit("selp.u32", s.register(key), a, b, condition)


def predicate_logic(s: Selection, step: Step) -> None:
    """and, or, xor, not of predicates."""
    operands = step.instruction.operands
    sources = [s.plain_truth(step, o) for o in operands[1:]]
    s.emit(f"{step.instruction.opcode.base}.pred", s.register(s.destination(step, operands[0])), *sources)


@rule("testp")
def _testp(s: Selection, step: Step) -> None:
    """finite, infinite, number, notanumber, normal, subnormal: comparisons of the bits without their sign."""
    match = step.match
    assert match is not None
    if match.type != "f32" or isinstance(step.instruction.operands[0], Dual):
        raise Refusal(f"PTXPlus has no '{step.instruction.opcode.text}'")
    bits = s.compute("and.b32", s.source(step, step.instruction.operands[1], TYPES["f32"]), word(0x7FFFFFFF))
    infinity = word(0x7F800000)
    target = s.register(s.destination(step, step.instruction.operands[0]))
    test = match.one_of("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    simple = {"finite": "lt", "infinite": "eq", "number": "le", "notanumber": "gt"}
    if test in simple:
        s.emit(f"set.{simple[test]}.u32.u32", f"{target}/$o127", bits, infinity)
        return
    tiny = s.mask("lt", "u32", s.compute("sub.u32", bits, word(1)), word(0x007FFFFF))
    if test == "subnormal":
        s.emit("set.ne.u32.u32", f"{target}/$o127", tiny, word(0))
        return
    finite = s.mask("lt", "u32", bits, infinity)
    s.emit("and.b32", f"{target}|$o127", finite, s.compute("not.b32", tiny))
