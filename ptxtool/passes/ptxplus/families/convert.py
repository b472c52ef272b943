"""`cvt`: between integers of all widths, f32 and f64.

Floats become integers with the roundings `.rni .rzi .rmi .rpi`, which GPGPU-Sim honours (it ignores those without the
`i`). The dialect's conversion takes a denormal for zero first, which shows only when rounding up or down: there the
value is made integral as a float before. NaN becomes zero, but the upper bit alone where an f64 is converted, as in
PTX.

Conversions to and from 64 bits: `convert_long.py`. Refused: f16, bf16 and smaller formats.
"""

from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.families.convert_long import braces, extended, long_to_single, to_double, to_long
from ptxtool.passes.ptxplus.flatten import Key, Refusal, Step
from ptxtool.passes.ptxplus.selection import Selection, modifiers, rule

_FLOATS = ("f32", "f64")


@rule("cvt")
def _cvt(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    to, from_ = s.type_of(match.type), s.type_of(match.stype)
    for type_ in (to, from_):
        if type_.kind not in "usf" or (type_.is_float and type_.name not in _FLOATS):
            raise Refusal(f"PTXPlus does not convert '.{type_.name}'")
    if match.modifiers & {"relu", "satfinite"}:
        raise Refusal(f"PTXPlus has no '{step.instruction.opcode.text}'")
    key = s.destination(step, step.instruction.operands[0])
    if to.bits == 64:
        _to_long(s, step, key, from_, to)
        return
    target = s.value() if s.is_wide(key) else s.register(key)
    if from_.is_float and to.is_float:
        _float_to_float(s, step, target, from_)
    elif from_.is_float:
        _float_to_integer(s, step, target, from_, to)
    elif to.is_float:
        _integer_to_float(s, step, target, from_)
    else:
        _integer_to_integer(s, step, target, min(key.bits, 32), from_, to)
    if s.is_wide(key):  # a register wider than the result: extended by its type
        low, high = s.words(key)
        s.move(low, target)
        s.move(high, s.compute("shr.s32", target, word(31)) if to.is_signed else word(0))


def _to_long(s: Selection, step: Step, key: Key, from_: Type, to: Type) -> None:
    """Results of 64 bits."""
    match = step.match
    assert match is not None
    operand = step.instruction.operands[1]
    if to.is_float:
        if s.is_wide(key):  # otherwise nobody reads it
            to_double(s, step, braces(s.words(key)), from_)
    elif from_.is_float:
        to_long(s, step, key, from_, to)
    elif "sat" in match.modifiers:
        raise Refusal("a conversion with '.sat' of 64 bits")
    elif from_.bits == 64:
        s.assign(key, step, operand, from_)
    elif not s.is_wide(key):
        _extend_into(s, s.register(key), s.source(step, operand, from_), from_)
    else:
        low, high = s.words(key)
        value = extended(s, s.source(step, operand, from_), from_)
        sign = s.compute("shr.s32", value, word(31)) if from_.is_signed else word(0)
        s.move(low, value)
        s.move(high, sign)


def _integer_to_integer(s: Selection, step: Step, target: str, room: int, from_: Type, to: Type) -> None:
    """Results of up to 32 bits in a register that has room for so many."""
    match = step.match
    assert match is not None
    source = s.source(step, step.instruction.operands[1], from_)
    if "sat" in match.modifiers:
        if from_.bits == 64:
            raise Refusal("a conversion with '.sat' of 64 bits")
        s.move(target, _limited(s, extended(s, source, from_), from_, to))
    elif from_.bits < to.bits:
        if to.bits < room and from_.is_signed and not to.is_signed:
            _extend_into(s, target, extended(s, source, from_), to)
        else:
            _extend_into(s, target, source, from_)
    elif to.bits < room:
        _extend_into(s, target, source, to)
    else:
        s.move(target, source)


def _extend_into(s: Selection, target: str, source: str, type_: Type) -> None:
    """The number in the low bits of a register, by its type."""
    if type_.bits >= 32:
        s.move(target, source)
        return
    sign = "s" if type_.is_signed else "u"
    s.emit(f"cvt.{sign}32.{sign}{type_.bits}", target, source)


def _limits(type_: Type) -> tuple[int, int]:
    if type_.is_signed:
        return -(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1
    return 0, (1 << type_.bits) - 1


def _limited(s: Selection, value: str, from_: Type, to: Type) -> str:
    """An extended value kept within the range of a type."""
    low, high = _limits(from_)
    to_low, to_high = _limits(to)
    sign = "s" if from_.is_signed else "u"
    if to_low > low:
        value = s.compute(f"max.{sign}32", value, word(to_low))
    if to_high < high:
        value = s.compute(f"min.{sign}32", value, word(to_high))
    return value


def _float_to_integer(s: Selection, step: Step, target: str, from_: Type, to: Type) -> None:
    match = step.match
    assert match is not None
    rounding = match.one_of("rni", "rzi", "rmi", "rpi")
    sign = "s" if to.is_signed else "u"
    whole = TYPES[f"{sign}32"]
    opcode = f"cvt.{rounding}.{whole.name}"
    operand = step.instruction.operands[1]
    if from_.name == "f32":
        source = s.source(step, operand, from_)
        if rounding in ("rmi", "rpi") and "ftz" not in match.modifiers:
            source = s.compute(f"cvt.{rounding}.f32.f32", source)
        s.move(target, _limited(s, s.compute(f"{opcode}.f32", source), whole, to))
        return
    source = s.braced(s.wide_source(step, operand))
    value = _limited(s, s.compute(f"{opcode}.ff64", source), whole, to)
    is_nan = s.test("nan", "ff64", source, source)
    of_nan = -(1 << (to.bits - 1)) if to.is_signed else 1 << (to.bits - 1)
    s.emit("selp.u32", target, word(of_nan), value, is_nan)


def _integer_to_float(s: Selection, step: Step, target: str, from_: Type) -> None:
    """Integers to f32."""
    match = step.match
    assert match is not None
    if from_.bits == 64:
        _finish(s, step, target, long_to_single(s, step, from_))
        return
    source = extended(s, s.source(step, step.instruction.operands[1], from_), from_)
    rounding = modifiers(match, "rn", "rz", "rm", "rp")
    value = s.compute(f"cvt{rounding}.f32.{'s' if from_.is_signed else 'u'}32", source)
    _finish(s, step, target, value)


def _finish(s: Selection, step: Step, target: str, value: str) -> None:
    """`.sat` of f32: between 0 and 1, NaN is 0."""
    assert step.match is not None
    if "sat" in step.match.modifiers:
        s.emit("min.f32", target, s.compute("max.f32", value, word(0)), word(0x3F800000))
    else:
        s.move(target, value)


def _float_to_float(s: Selection, step: Step, target: str, from_: Type) -> None:
    """f32 and f64 to f32."""
    match = step.match
    assert match is not None
    operand = step.instruction.operands[1]
    rounding = modifiers(match, "rni", "rzi", "rmi", "rpi", "rn", "rz", "rm", "rp")
    flush = modifiers(match, "ftz")
    if from_.bits == 64:
        value = s.compute(f"cvt{rounding}.f32.ff64", s.braced(s.wide_source(step, operand)))
        value = s.compute("add.ftz.f32", value, word(1 << 31)) if flush else value
    else:
        value = s.compute(f"cvt{rounding}{flush}.f32.f32", s.source(step, operand, TYPES["f32"]))
    _finish(s, step, target, value)
