"""`cvt` with 64 bits on one side or both: f64 and 64-bit integers. For `convert.py`.

The dialect converts between f64 and 32-bit integers. A 64-bit integer is high * 2^32 + low, and so is what a float
becomes: its floor divided by 2^32, and what is left. Both saturate as PTX wants; NaN gives the upper bit alone. To f32
a 64-bit integer goes by way of an f64 that is rounded to odd (truncated, its last bit set where something was lost),
which has bits enough that the second rounding decides as one from the integer itself would.

Refused: `.sat` of f64; integers to f64 rounded up or down.
"""

from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Key, Refusal, Step
from ptxtool.passes.ptxplus.selection import Pair, Selection, modifiers

_2_TO_32 = (word(0), word(0x41F00000))
_2_TO_MINUS_32 = (word(0), word(0x3DF00000))


def braces(pair: Pair) -> str:
    """Both words as one operand."""
    return f"{{{pair[0]},{pair[1]}}}"


def extended(s: Selection, source: str, type_: Type) -> str:
    """A number of up to 32 bits with all of its register meaning it."""
    if type_.bits >= 32:
        return source
    sign = "s" if type_.is_signed else "u"
    return s.compute(f"cvt.{sign}32.{sign}{type_.bits}", source)


def _double(s: Selection, opcode: str, *operands: str) -> str:
    """The f64 result of an operation, in new registers."""
    result = braces(s.pair())
    s.always(opcode, result, *operands)
    return result


def to_double(s: Selection, step: Step, target: str, from_: Type) -> None:
    """Everything to f64, in a pair."""
    match = step.match
    assert match is not None
    operand = step.instruction.operands[1]
    if "sat" in match.modifiers:
        raise Refusal("a conversion with '.sat' of f64")
    if from_.name == "f64":
        rounding = modifiers(match, "rni", "rzi", "rmi", "rpi")
        s.emit(f"cvt{rounding}.ff64.ff64", target, s.braced(s.wide_source(step, operand)))
    elif from_.name == "f32":
        s.emit("cvt.ff64.f32", target, _single(s, step))
    elif from_.bits == 64:
        if match.modifiers & {"rm", "rp"}:
            raise Refusal("PTXPlus does not convert 64-bit integers to '.f64' so rounded")
        s.emit(f"add{modifiers(match, 'rz')}.ff64", target, *_terms(s, step, from_))
    else:
        source = extended(s, s.source(step, operand, from_), from_)
        s.emit(f"cvt.ff64.{'s' if from_.is_signed else 'u'}32", target, source)


def _single(s: Selection, step: Step) -> str:
    """The f32 that is converted; without a subnormal value under `.ftz`."""
    assert step.match is not None
    source = s.source(step, step.instruction.operands[1], TYPES["f32"])
    return s.compute("add.ftz.f32", source, word(1 << 31)) if "ftz" in step.match.modifiers else source


def _terms(s: Selection, step: Step, from_: Type) -> tuple[str, str]:
    """high * 2^32 and low of an integer, both exact."""
    low, high = s.wide_source(step, step.instruction.operands[1])
    upper = _double(s, f"cvt.ff64.{'s' if from_.is_signed else 'u'}32", high)
    return _double(s, "mul.ff64", upper, s.braced(_2_TO_32)), _double(s, "cvt.ff64.u32", low)


def long_to_single(s: Selection, step: Step, from_: Type) -> str:
    """A 64-bit integer as f32."""
    assert step.match is not None
    upper, lower = _terms(s, step, from_)
    total = s.pair()
    s.always("add.rz.ff64", braces(total), upper, lower)
    kept = _double(s, "sub.ff64", braces(total), upper)
    lost = s.mask("neu", "ff64", kept, lower)
    odd = s.compute("or.b32", total[0], s.compute("and.b32", lost, word(1))), s.compute("mov.u32", total[1])
    return s.compute(f"cvt{modifiers(step.match, 'rn', 'rz', 'rm', 'rp')}.f32.ff64", braces(odd))


def to_long(s: Selection, step: Step, key: Key, from_: Type, to: Type) -> None:
    """f32 and f64 to 64-bit integers."""
    match = step.match
    assert match is not None
    if from_.name == "f32":
        source = _double(s, "cvt.ff64.f32", _single(s, step))
    else:
        source = s.braced(s.wide_source(step, step.instruction.operands[1]))
    rounding = match.one_of("rni", "rzi", "rmi", "rpi")
    whole = _double(s, f"cvt.{rounding}.ff64.ff64", source)
    sign = "s" if to.is_signed else "u"
    quotient = _double(s, "mul.ff64", whole, s.braced(_2_TO_MINUS_32))
    high = s.compute(f"cvt.rmi.{sign}32.ff64", quotient)
    upper = _double(s, "mul.ff64", _double(s, f"cvt.ff64.{sign}32", high), s.braced(_2_TO_32))
    low = s.compute("cvt.rzi.u32.ff64", _double(s, "sub.ff64", whole, upper))
    is_nan = s.test("nan", "ff64", source, source)
    if not s.is_wide(key):
        s.emit("selp.u32", s.register(key), word(0), low, is_nan)
        return
    targets = s.words(key)
    s.emit("selp.u32", targets[0], word(0), low, is_nan)
    s.emit("selp.u32", targets[1], word(1 << 31), high, is_nan)
