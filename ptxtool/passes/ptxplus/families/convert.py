"""`cvt`: between integers of all widths, f32 and f64.

Floats become integers with the roundings `.rni .rzi .rmi .rpi`, which GPGPU-Sim honours (it ignores those without the
`i`). The dialect's conversion flushes a subnormal to zero first, which shows only when rounding up or down: there the
value is made integral as a float before. NaN becomes zero, but only the highest bit is set where an f64 is converted,
as in PTX.

The dialect converts between f64 and 32-bit integers. A 64-bit integer is high * 2^32 + low, and so is the result of
converting a float: its floor divided by 2^32, and the rest. Both saturate as PTX requires; NaN becomes the highest bit
alone. A 64-bit integer becomes f32 via an f64 that is rounded to odd (truncated, its last bit set where something was
lost), which has bits enough that the second rounding decides as one from the integer itself would.

Refused: f16, bf16 and smaller formats; `.sat` of f64; integers to f64 rounded up or down.
"""

from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal, ValueKey
from ptxtool.passes.ptxplus.selection import InstructionSelection, braces, modifiers, rule, sign_of

_FLOATS = ("f32", "f64")
_2_TO_32 = (word(0), word(0x41F00000))
_2_TO_MINUS_32 = (word(0), word(0x3DF00000))


@rule("cvt")
def _cvt(isel: InstructionSelection) -> None:
    match = isel.match
    to, from_ = isel.type_of(match.type), isel.type_of(match.stype)
    for type_ in (to, from_):
        if type_.kind not in "usf" or (type_.is_float and type_.name not in _FLOATS):
            raise Refusal(f"PTXPlus does not convert '.{type_.name}'")
    if match.modifiers & {"relu", "satfinite"}:
        raise Refusal(f"PTXPlus has no '{isel.opcode.text}'")
    key = isel.destination()
    if to.bits == 64:
        return _to_long(isel, key, from_, to)
    target = isel.value() if isel.is_wide(key) else isel.register(key)
    if from_.is_float and to.is_float:
        _float_to_float(isel, target, from_)
    elif from_.is_float:
        _float_to_integer(isel, target, from_, to)
    elif to.is_float:
        _integer_to_float(isel, target, from_)
    else:
        _integer_to_integer(isel, target, min(key.bits, 32), from_, to)
    if isel.is_wide(key):  # a register wider than the result: extended by its type
        low, high = isel.words(key)
        isel.move(low, target)
        isel.move(high, isel.upper_word(target, to))


def _to_long(isel: InstructionSelection, key: ValueKey, from_: Type, to: Type) -> None:
    """Results of 64 bits."""
    operand = isel.operands[1]
    if to.is_float:
        if isel.is_wide(key):  # otherwise nothing reads it
            _to_double(isel, braces(isel.words(key)), from_)
    elif from_.is_float:
        _float_to_long(isel, key, from_, to)
    elif "sat" in isel.match.modifiers:
        raise Refusal("a conversion with '.sat' of 64 bits")
    elif from_.bits == 64:
        isel.assign(key, operand, from_)
    elif not isel.is_wide(key):
        isel.extend(isel.register(key), isel.source(operand, from_), from_)
    else:
        isel.register(key)  # numbered before what is computed
        value = _source(isel, from_)
        isel.write(key, value, isel.upper_word(value, from_))


def _integer_to_integer(isel: InstructionSelection, target: str, room: int, from_: Type, to: Type) -> None:
    """Results of up to 32 bits in a register that has room for so many."""
    source = isel.source(isel.operands[1], from_)
    if "sat" in isel.match.modifiers:
        if from_.bits == 64:
            raise Refusal("a conversion with '.sat' of 64 bits")
        isel.move(target, _limited(isel, isel.extended(source, from_), from_, to))
    elif from_.bits < to.bits:
        if to.bits < room and from_.is_signed and not to.is_signed:
            isel.extend(target, isel.extended(source, from_), to)
        else:
            isel.extend(target, source, from_)
    elif to.bits < room:
        isel.extend(target, source, to)
    else:
        isel.move(target, source)


def _limits(type_: Type) -> tuple[int, int]:
    if type_.is_signed:
        return -(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1
    return 0, (1 << type_.bits) - 1


def _limited(isel: InstructionSelection, value: str, from_: Type, to: Type) -> str:
    """An extended value kept within the range of a type."""
    low, high = _limits(from_)
    to_low, to_high = _limits(to)
    sign = sign_of(from_)
    if to_low > low:
        value = isel.compute(f"max.{sign}32", value, word(to_low))
    if to_high < high:
        value = isel.compute(f"min.{sign}32", value, word(to_high))
    return value


def _source(isel: InstructionSelection, from_: Type) -> str:
    """The operand that is converted: an f64 in a pair, integers extended to the whole register."""
    operand = isel.operands[1]
    if from_.name == "f64":
        return isel.braced(isel.wide_source(operand))
    return isel.extended(isel.source(operand, from_), from_)


def _float_to_integer(isel: InstructionSelection, target: str, from_: Type, to: Type) -> None:
    rounding = isel.match.one_of("rni", "rzi", "rmi", "rpi")
    whole = TYPES[f"{sign_of(to)}32"]
    source, kind = _source(isel, from_), "f32" if from_.bits == 32 else "ff64"
    if kind == "f32" and rounding in ("rmi", "rpi") and "ftz" not in isel.match.modifiers:
        source = isel.compute(f"cvt.{rounding}.f32.f32", source)
    value = _limited(isel, isel.compute(f"cvt.{rounding}.{whole.name}.{kind}", source), whole, to)
    if kind == "f32":
        isel.move(target, value)
        return
    is_nan = isel.test("nan", "ff64", source, source)
    of_nan = -(1 << (to.bits - 1)) if to.is_signed else 1 << (to.bits - 1)
    isel.emit("selp.u32", target, word(of_nan), value, is_nan)


def _integer_to_float(isel: InstructionSelection, target: str, from_: Type) -> None:
    """Integers to f32."""
    if from_.bits == 64:
        value = _long_to_single(isel, from_)
    else:
        rounding = modifiers(isel.match, "rn", "rz", "rm", "rp")
        value = isel.compute(f"cvt{rounding}.f32.{sign_of(from_)}32", _source(isel, from_))
    _finish(isel, target, value)


def _finish(isel: InstructionSelection, target: str, value: str) -> None:
    """`.sat` of f32: between 0 and 1, NaN is 0."""
    if "sat" in isel.match.modifiers:
        isel.emit("min.f32", target, isel.compute("max.f32", value, word(0)), word(0x3F800000))
    else:
        isel.move(target, value)


def _float_to_float(isel: InstructionSelection, target: str, from_: Type) -> None:
    """f32 and f64 to f32."""
    rounding = modifiers(isel.match, "rni", "rzi", "rmi", "rpi", "rn", "rz", "rm", "rp")
    flush, source = modifiers(isel.match, "ftz"), _source(isel, from_)
    if from_.bits == 64:
        value = isel.compute(f"cvt{rounding}.f32.ff64", source)
        value = isel.flushed(value) if flush else value
    else:
        value = isel.compute(f"cvt{rounding}{flush}.f32.f32", source)
    _finish(isel, target, value)


def _double(isel: InstructionSelection, opcode: str, *operands: str) -> str:
    """The f64 result of an operation, in new registers."""
    result = braces(isel.pair())
    isel.always(opcode, result, *operands)
    return result


def _to_double(isel: InstructionSelection, target: str, from_: Type) -> None:
    """Everything to f64, in a pair."""
    match = isel.match
    if "sat" in match.modifiers:
        raise Refusal("a conversion with '.sat' of f64")
    if from_.name == "f64":
        rounding = modifiers(match, "rni", "rzi", "rmi", "rpi")
        isel.emit(f"cvt{rounding}.ff64.ff64", target, _source(isel, from_))
    elif from_.name == "f32":
        isel.emit("cvt.ff64.f32", target, _source_single(isel))
    elif from_.bits == 64:
        if match.modifiers & {"rm", "rp"}:
            raise Refusal("PTXPlus does not convert 64-bit integers to '.f64' so rounded")
        isel.emit(f"add{modifiers(match, 'rz')}.ff64", target, *_terms(isel, from_))
    else:
        isel.emit(f"cvt.ff64.{sign_of(from_)}32", target, _source(isel, from_))


def _source_single(isel: InstructionSelection) -> str:
    """The f32 that is converted; without a subnormal value under `.ftz`."""
    source = isel.source(isel.operands[1], TYPES["f32"])
    return isel.flushed(source) if "ftz" in isel.match.modifiers else source


def _terms(isel: InstructionSelection, from_: Type) -> tuple[str, str]:
    """high * 2^32 and low of an integer, both exact."""
    low, high = isel.wide_source(isel.operands[1])
    upper = _double(isel, f"cvt.ff64.{sign_of(from_)}32", high)
    return _double(isel, "mul.ff64", upper, isel.braced(_2_TO_32)), _double(isel, "cvt.ff64.u32", low)


def _long_to_single(isel: InstructionSelection, from_: Type) -> str:
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


def _float_to_long(isel: InstructionSelection, key: ValueKey, from_: Type, to: Type) -> None:
    """f32 and f64 to 64-bit integers."""
    is_single = from_.name == "f32"
    source = _double(isel, "cvt.ff64.f32", _source_single(isel)) if is_single else _source(isel, from_)
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
