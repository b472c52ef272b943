"""Floating-point arithmetic: f32 in a register, f64 in a pair with the type `.ff64`.

The results are bit by bit those of PTX. The dialect rounds sums, products and sums of products to nearest or towards
zero, divides and takes roots as PTX does (`div.rn`, `sqrt.rn`: the converter never prints them, GPGPU-Sim's parser
takes them). The sign of an f64 is a bit of its high word; `rcp.rn.f64` is the quotient 1 / x.

Refused: f16 and bf16, other roundings, `.NaN`, roots and approximations of f64.
"""

from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal
from ptxtool.passes.ptxplus.selection import InstructionSelection, braces, modifiers, rule

_ONE = word(0x3F800000)
_DOUBLE = frozenset(["add", "sub", "mul", "mad", "fma", "div", "rcp", "min", "max"])
_APPROXIMATIONS = frozenset(["rcp", "rsqrt", "sin", "cos", "ex2", "lg2"])
"""Printed without `.approx`, as the converter does."""


@rule("fma", "rcp", "rsqrt", "sqrt", "sin", "cos", "ex2", "lg2")
def floating(isel: InstructionSelection) -> None:
    """add, sub, mul, mad, fma, min, max, abs, neg, div of floating-point values. Raises `Refusal`."""
    match = isel.match
    if match.type == "f64":
        return _double(isel)
    if match.type != "f32" or match.stype:
        raise Refusal(f"PTXPlus has no arithmetic on '.{match.stype or match.type}'")
    base = isel.opcode.base
    if match.modifiers & {"NaN", "xorsign.abs", "abs", "relu"} or len(isel.operands) > 4:
        raise Refusal(f"PTXPlus has no '{isel.opcode.text}'")
    rounding = _rounding(isel)
    target = isel.target()
    sources = isel.sources(isel.operands[1:], TYPES["f32"])
    if base in ("mad", "fma"):
        base = "fma" if rounding or "ftz" in match.modifiers else "mad"
        rounding = rounding or (".rn" if base == "fma" else "")
    elif base in ("div", "sqrt", "rcp") and not match.modifiers & {"approx", "full"}:
        rounding = rounding or ".rn"
    approximate = modifiers(match, "approx", "full")
    if base in _APPROXIMATIONS and "ftz" not in match.modifiers:
        approximate = ""
    opcode = f"{base}{approximate}{rounding}{modifiers(match, 'ftz')}.f32"
    if "sat" not in match.modifiers:
        isel.emit(opcode, target, *sources)
        return
    result = isel.compute("max.f32", isel.compute(opcode, *sources), word(0))
    isel.emit("min.f32", target, result, _ONE)


def _rounding(isel: InstructionSelection) -> str:
    """What to print of the rounding. Raises `Refusal` for those the dialect lacks."""
    found = isel.match.one_of("rn", "rz", "rm", "rp")
    if found in ("rm", "rp"):
        raise Refusal(f"PTXPlus does not round '{isel.opcode.base}' with '.{found}'")
    return ".rz" if found == "rz" else ""


@rule("copysign")
def _copysign(isel: InstructionSelection) -> None:
    """The sign bit of the first, the rest of the second."""
    key = isel.destination()
    if isel.match.type == "f64":
        (_, sign), (low, size) = (isel.wide_source(o) for o in isel.operands[1:])
    else:
        sign, size = isel.sources(isel.operands[1:], TYPES["f32"])
    parts = isel.compute("and.b32", sign, word(0x80000000)), isel.compute("and.b32", size, word(0x7FFFFFFF))
    high = isel.compute("or.b32", *parts)
    if isel.match.type == "f64":
        isel.move(isel.words(key)[0], low)
    isel.move(isel.words(key)[1] if isel.match.type == "f64" else isel.register(key), high)


# ---- f64


def _double(isel: InstructionSelection) -> None:
    base = isel.opcode.base
    key = isel.destination()
    if not isel.is_wide(key):  # nothing reads it
        return
    target = isel.words(key)
    sources = [isel.wide_source(o) for o in isel.operands[1:]]
    if base in ("abs", "neg"):
        low, high = sources[0]
        operation, bits = ("and.b32", 0x7FFFFFFF) if base == "abs" else ("xor.b32", 0x80000000)
        isel.write(key, low, isel.compute(operation, high, word(bits)))
        return
    rounding = _rounding(isel)
    if "approx" in isel.match.modifiers or base not in _DOUBLE:
        raise Refusal(f"PTXPlus has no '{isel.opcode.text}'")
    if base in ("div", "rcp") and rounding:
        raise Refusal(f"PTXPlus does not round '{base}' of f64 towards zero")
    if base == "rcp":
        base, sources = "div", [(word(0), word(0x3FF00000)), *sources]
    if base in ("fma", "mad"):
        base, rounding = "fma", rounding or ".rn"
    isel.emit(f"{base}{rounding}.ff64", braces(target), *(isel.braced(p) for p in sources))
