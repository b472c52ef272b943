"""`cvt` with 64 bits on one side or both: f64 and 64-bit integers. For `convert.py`.

The dialect converts between f64 and 32-bit integers. A 64-bit integer is high * 2^32 + low, and so is what a float
becomes: its floor divided by 2^32, and what is left. Both saturate as PTX wants; NaN gives the upper bit alone. To f32
a 64-bit integer goes by way of an f64 that is rounded to odd (truncated, its last bit set where something was lost),
which has bits enough that the second rounding decides as one from the integer itself would.

Refused: `.sat` of f64; integers to f64 rounded up or down.
"""

from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal, ValueKey
from ptxtool.passes.ptxplus.selection import InstructionSelection, braces, modifiers, sign_of

_2_TO_32 = (word(0), word(0x41F00000))
_2_TO_MINUS_32 = (word(0), word(0x3DF00000))


def _double(isel: InstructionSelection, opcode: str, *operands: str) -> str:
    """The f64 result of an operation, in new registers."""
    result = braces(isel.pair())
    isel.always(opcode, result, *operands)
    return result


def to_double(isel: InstructionSelection, target: str, from_: Type) -> None:
    """Everything to f64, in a pair."""
    match = isel.match
    operand = isel.operands[1]
    if "sat" in match.modifiers:
        raise Refusal("a conversion with '.sat' of f64")
    if from_.name == "f64":
        rounding = modifiers(match, "rni", "rzi", "rmi", "rpi")
        isel.emit(f"cvt{rounding}.ff64.ff64", target, isel.braced(isel.wide_source(operand)))
    elif from_.name == "f32":
        isel.emit("cvt.ff64.f32", target, _single(isel))
    elif from_.bits == 64:
        if match.modifiers & {"rm", "rp"}:
            raise Refusal("PTXPlus does not convert 64-bit integers to '.f64' so rounded")
        isel.emit(f"add{modifiers(match, 'rz')}.ff64", target, *_terms(isel, from_))
    else:
        source = isel.extended(isel.source(operand, from_), from_)
        isel.emit(f"cvt.ff64.{sign_of(from_)}32", target, source)


def _single(isel: InstructionSelection) -> str:
    """The f32 that is converted; without a subnormal value under `.ftz`."""
    source = isel.source(isel.operands[1], TYPES["f32"])
    return isel.flushed(source) if "ftz" in isel.match.modifiers else source


def _terms(isel: InstructionSelection, from_: Type) -> tuple[str, str]:
    """high * 2^32 and low of an integer, both exact."""
    low, high = isel.wide_source(isel.operands[1])
    upper = _double(isel, f"cvt.ff64.{sign_of(from_)}32", high)
    return _double(isel, "mul.ff64", upper, isel.braced(_2_TO_32)), _double(isel, "cvt.ff64.u32", low)


def long_to_single(isel: InstructionSelection, from_: Type) -> str:
    """A 64-bit integer as f32."""
    upper, lower = _terms(isel, from_)
    total = isel.pair()
    isel.always("add.rz.ff64", braces(total), upper, lower)
    kept = _double(isel, "sub.ff64", braces(total), upper)
    lost = isel.mask("neu", "ff64", kept, lower)
    odd = (
        isel.compute("or.b32", total[0], isel.compute("and.b32", lost, word(1))),
        isel.compute("mov.u32", total[1]),
    )
    return isel.compute(f"cvt{modifiers(isel.match, 'rn', 'rz', 'rm', 'rp')}.f32.ff64", braces(odd))


def to_long(isel: InstructionSelection, key: ValueKey, from_: Type, to: Type) -> None:
    """f32 and f64 to 64-bit integers."""
    if from_.name == "f32":
        source = _double(isel, "cvt.ff64.f32", _single(isel))
    else:
        source = isel.braced(isel.wide_source(isel.operands[1]))
    rounding = isel.match.one_of("rni", "rzi", "rmi", "rpi")
    whole = _double(isel, f"cvt.{rounding}.ff64.ff64", source)
    sign = sign_of(to)
    quotient = _double(isel, "mul.ff64", whole, isel.braced(_2_TO_MINUS_32))
    high = isel.compute(f"cvt.rmi.{sign}32.ff64", quotient)
    upper = _double(isel, "mul.ff64", _double(isel, f"cvt.ff64.{sign}32", high), isel.braced(_2_TO_32))
    low = isel.compute("cvt.rzi.u32.ff64", _double(isel, "sub.ff64", whole, upper))
    is_nan = isel.test("nan", "ff64", source, source)
    isel.emit("selp.u32", isel.register(key), word(0), low, is_nan)
    if isel.is_wide(key):
        isel.emit("selp.u32", isel.words(key)[1], word(1 << 31), high, is_nan)
