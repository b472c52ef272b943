"""Moves: registers, special registers, addresses of variables, packing and unpacking, generic addresses.

A generic address is the address itself: `memory.py` refuses accesses whose space nothing tells.
"""

from ptxtool.ir.nodes import Name, Operand, Vector
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal, Step
from ptxtool.passes.ptxplus.selection import Selection, refuse_vector, rule

_LANE_MASKS = ("lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge")


@rule("mov")
def _mov(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    target, source = step.instruction.operands[:2]
    if match.type == "pred":
        s.emit("mov.pred", s.register(s.destination(step, target)), s.plain_truth(step, source))
        return
    if match.modifiers & {"v2", "v4"}:
        refuse_vector(step, target)
        refuse_vector(step, source)
        raise Refusal("a move of a vector")
    if isinstance(source, Vector):
        _pack(s, step, target, source)
        return
    if isinstance(target, Vector):
        _unpack(s, step, target, source)
        return
    key = s.destination(step, target)
    if isinstance(source, Name) and source.text[1:] in _LANE_MASKS and source.text.startswith("%"):
        _lane_mask(s, s.register(key), source.text[1:])
        return
    if isinstance(source, Name) and source.text in ("%clock64", "%globaltimer"):
        if s.is_wide(key) or source.text == "%globaltimer":
            raise Refusal(f"'{source.text}' has 64 bits, and PTXPlus's clock 32")
        s.move(s.register(key), "%clock")
        return
    s.assign(key, step, source, s.type_of(match.type))


def _lane_mask(s: Selection, target: str, name: str) -> None:
    """The lanes at, before or behind this one, as bits."""
    bit = s.compute("shl.b32", word(1), s.compute("mov.u32", "%laneid"))
    before = s.compute("sub.u32", bit, word(1))
    if name.endswith("eq"):
        s.move(target, bit)
    elif name.endswith("lt"):
        s.move(target, before)
    elif name.endswith("le"):
        s.emit("or.b32", target, before, bit)
    elif name.endswith("ge"):
        s.emit("not.b32", target, before)
    else:
        s.emit("not.b32", target, s.compute("or.b32", before, bit))


def _pack(s: Selection, step: Step, target: Operand, vector: Vector) -> None:
    """{a, b} or {a, b, c, d}, lowest first, as one value."""
    match = step.match
    assert match is not None
    total = s.type_of(match.type).bits
    n = len(vector.items)
    if total > 64:
        raise Refusal("values of 128 bits have no counterpart in PTXPlus")
    if total // n not in (8, 16, 32):
        raise Refusal("a move that packs this vector")
    key = s.destination(step, target)
    bits = total // n
    type_ = TYPES[f"u{bits}"]
    values = [s.source(step, item, type_) for item in vector.items]
    words = [values[k] for k in range(n)] if bits == 32 else _joined(s, values, bits)
    targets = s.words(key) if s.is_wide(key) else (s.register(key),)
    for place, value in zip(targets, words, strict=False):
        s.move(place, value)


def _joined(s: Selection, values: list[str], bits: int) -> list[str]:
    """Small values put together to words."""
    words: list[str] = []
    for first in range(0, len(values), 32 // bits):
        result = ""
        for k, value in enumerate(values[first : first + 32 // bits]):
            part = s.compute("and.b32", value, word((1 << bits) - 1))
            part = s.compute("shl.b32", part, word(bits * k)) if k else part
            result = s.compute("or.b32", result, part) if result else part
        words.append(result)
    return words


def _unpack(s: Selection, step: Step, target: Vector, source: Operand) -> None:
    """One value as {a, b} or {a, b, c, d}, lowest first."""
    match = step.match
    assert match is not None
    total = s.type_of(match.type).bits
    n = len(target.items)
    if total > 64:
        raise Refusal("values of 128 bits have no counterpart in PTXPlus")
    if total // n not in (8, 16, 32):
        raise Refusal("a move that unpacks this vector")
    words = s.wide_source(step, source) if total == 64 else (s.source(step, source, TYPES["b32"]),)
    bits = total // n
    moved: list[tuple[str, str]] = []
    for k, item in enumerate(target.items):
        if isinstance(item, Name) and item.text == "_":
            continue
        place = s.register(s.destination(step, item))
        value = words[k * bits // 32]
        if bits < 32 and k * bits % 32:
            value = s.compute("shr.u32", value, word(k * bits % 32))
        if bits == 8:
            value = s.compute("and.b32", value, word(0xFF))
        moved.append((place, value))
    copies = {value for _, value in moved} & {place for place, _ in moved}
    kept = {value: s.compute("mov.u32", value) for value in sorted(copies)}
    for place, value in moved:
        s.move(place, kept.get(value, value))


@rule("cvta")
def _cvta(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    target, source = step.instruction.operands
    s.assign(s.destination(step, target), step, source, s.type_of(match.type))
