"""Floating-point arithmetic: f32 in a register, f64 in a pair with the type `.ff64`.

The results are bit by bit those of PTX. The dialect rounds sums, products and sums of products to nearest or towards
zero, divides and takes roots as PTX does (`div.rn`, `sqrt.rn`: the converter never prints them, GPGPU-Sim's parser
takes them). The sign of an f64 is a bit of its high word; `rcp.rn.f64` is the quotient 1 / x.

Refused: f16 and bf16, other roundings, `.NaN`, roots and approximations of f64.
"""

from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal, Step
from ptxtool.passes.ptxplus.selection import Selection, modifiers, rule

_ONE = word(0x3F800000)
_APPROXIMATIONS = frozenset(["rcp", "rsqrt", "sin", "cos", "ex2", "lg2"])
"""Printed without `.approx`, as the converter does."""


def floating(s: Selection, step: Step) -> None:
    """add, sub, mul, mad, fma, min, max, abs, neg, div of floating-point values. Raises `Refusal`."""
    match = step.match
    assert match is not None
    if match.type == "f64":
        _double(s, step)
        return
    if match.type != "f32" or match.stype:
        raise Refusal(f"PTXPlus has no arithmetic on '.{match.stype or match.type}'")
    base = step.instruction.opcode.base
    if match.modifiers & {"NaN", "xorsign.abs", "abs", "relu"} or len(step.instruction.operands) > 4:
        raise Refusal(f"PTXPlus has no '{step.instruction.opcode.text}'")
    rounding = _rounding(step)
    target = s.register(s.destination(step, step.instruction.operands[0]))
    sources = [s.source(step, o, TYPES["f32"]) for o in step.instruction.operands[1:]]
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
        s.emit(opcode, target, *sources)
        return
    result = s.compute("max.f32", s.compute(opcode, *sources), word(0))
    s.emit("min.f32", target, result, _ONE)


def _rounding(step: Step) -> str:
    """What to print of the rounding. Raises `Refusal` for those the dialect lacks."""
    match = step.match
    assert match is not None
    found = match.one_of("rn", "rz", "rm", "rp")
    if found in ("rm", "rp"):
        raise Refusal(f"PTXPlus does not round '{step.instruction.opcode.base}' with '.{found}'")
    return ".rz" if found == "rz" else ""


@rule("fma", "rcp", "rsqrt", "sqrt", "sin", "cos", "ex2", "lg2")
def _rule(s: Selection, step: Step) -> None:
    floating(s, step)


@rule("copysign")
def _copysign(s: Selection, step: Step) -> None:
    """The sign bit of the first, the rest of the second."""
    match = step.match
    assert match is not None
    key = s.destination(step, step.instruction.operands[0])
    if match.type == "f64":
        (_, sign), (low, size) = (s.wide_source(step, o) for o in step.instruction.operands[1:])
    else:
        sign, size = (s.source(step, o, TYPES["f32"]) for o in step.instruction.operands[1:])
        low = ""
    parts = s.compute("and.b32", sign, word(0x80000000)), s.compute("and.b32", size, word(0x7FFFFFFF))
    high = s.compute("or.b32", *parts)
    for target, source in zip(
        s.words(key) if low else (s.register(key),), (low, high) if low else (high,), strict=True
    ):
        s.move(target, source)


# ---- f64


def _double(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    base = step.instruction.opcode.base
    key = s.destination(step, step.instruction.operands[0])
    if not s.is_wide(key):  # nobody reads it
        return
    target = s.words(key)
    sources = [s.wide_source(step, o) for o in step.instruction.operands[1:]]
    if base in ("abs", "neg"):
        low, high = sources[0]
        operation, bits = ("and.b32", 0x7FFFFFFF) if base == "abs" else ("xor.b32", 0x80000000)
        changed = s.compute(operation, high, word(bits))
        s.move(target[0], low)
        s.move(target[1], changed)
        return
    rounding = _rounding(step)
    if "approx" in match.modifiers or base not in (
        "add",
        "sub",
        "mul",
        "mad",
        "fma",
        "div",
        "rcp",
        "min",
        "max",
    ):
        raise Refusal(f"PTXPlus has no '{step.instruction.opcode.text}'")
    if base in ("div", "rcp") and rounding:
        raise Refusal(f"PTXPlus does not round '{base}' of f64 towards zero")
    if base == "rcp":
        base, sources = "div", [(word(0), word(0x3FF00000)), *sources]
    if base in ("fma", "mad"):
        base, rounding = "fma", rounding or ".rn"
    s.emit(f"{base}{rounding}.ff64", f"{{{target[0]},{target[1]}}}", *(s.braced(p) for p in sources))
