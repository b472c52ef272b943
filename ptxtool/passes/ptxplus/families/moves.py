"""Moves: registers, special registers, addresses of variables, packing and unpacking, generic addresses.

A generic address is the address itself: `memory.py` refuses accesses whose space nothing tells.
"""

from ptxtool.ir.nodes import Name, Operand, Vector
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal
from ptxtool.passes.ptxplus.selection import InstructionSelection, is_sink, rule

_LANE_MASKS = ("lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge")


@rule("mov")
def _mov(isel: InstructionSelection) -> None:
    match = isel.match
    target, source = isel.operands[:2]
    if match.type == "pred":
        isel.emit("mov.pred", isel.target(target), isel.plain_truth(source))
        return
    if match.modifiers & {"v2", "v4"}:
        isel.refuse_vector(target)
        isel.refuse_vector(source)
        raise Refusal("a move of a vector")
    if isinstance(source, Vector):
        return _pack(isel, target, source)
    if isinstance(target, Vector):
        return _unpack(isel, target, source)
    key = isel.destination(target)
    if isinstance(source, Name) and source.text[1:] in _LANE_MASKS and source.text.startswith("%"):
        return _lane_mask(isel, isel.register(key), source.text[1:])
    if isinstance(source, Name) and source.text in ("%clock64", "%globaltimer"):
        if isel.is_wide(key) or source.text == "%globaltimer":
            raise Refusal(f"'{source.text}' has 64 bits, and PTXPlus's clock 32")
        isel.move(isel.register(key), "%clock")
        return
    isel.assign(key, source, isel.type_of(match.type))


def _lane_mask(isel: InstructionSelection, target: str, name: str) -> None:
    """The lanes at, before or after this one, as bits."""
    bit = isel.compute("shl.b32", word(1), isel.compute("mov.u32", "%laneid"))
    before = isel.compute("sub.u32", bit, word(1))
    if name.endswith("eq"):
        isel.move(target, bit)
    elif name.endswith("lt"):
        isel.move(target, before)
    elif name.endswith("le"):
        isel.emit("or.b32", target, before, bit)
    elif name.endswith("ge"):
        isel.emit("not.b32", target, before)
    else:
        isel.emit("not.b32", target, isel.compute("or.b32", before, bit))


def _element_bits(isel: InstructionSelection, vector: Vector, what: str) -> int:
    """The width of a vector's elements. Raises `Refusal` for what PTXPlus cannot move."""
    total, n = isel.type_of(isel.match.type).bits, len(vector.items)
    if total > 64:
        raise Refusal("values of 128 bits have no counterpart in PTXPlus")
    if total // n not in (8, 16, 32):
        raise Refusal(f"a move that {what} this vector")
    return total // n


def _pack(isel: InstructionSelection, target: Operand, vector: Vector) -> None:
    """{a, b} or {a, b, c, d}, lowest first, as one value."""
    bits = _element_bits(isel, vector, "packs")
    key = isel.destination(target)
    values = isel.sources(vector.items, TYPES[f"u{bits}"])
    words = values if bits == 32 else _joined(isel, values, bits)
    isel.write(key, *words)


def _joined(isel: InstructionSelection, values: list[str], bits: int) -> list[str]:
    """Small values put together to words."""
    words: list[str] = []
    for first in range(0, len(values), 32 // bits):
        result = ""
        for k, value in enumerate(values[first : first + 32 // bits]):
            part = isel.compute("and.b32", value, word((1 << bits) - 1))
            part = isel.compute("shl.b32", part, word(bits * k)) if k else part
            result = isel.compute("or.b32", result, part) if result else part
        words.append(result)
    return words


def _unpack(isel: InstructionSelection, target: Vector, source: Operand) -> None:
    """One value as {a, b} or {a, b, c, d}, lowest first."""
    bits = _element_bits(isel, target, "unpacks")
    is_wide = bits * len(target.items) == 64
    words = isel.wide_source(source) if is_wide else (isel.source(source, TYPES["b32"]),)
    moved: list[tuple[str, str]] = []
    for k, item in enumerate(target.items):
        if is_sink(item):
            continue
        place = isel.target(item)
        value = words[k * bits // 32]
        if bits < 32 and k * bits % 32:
            value = isel.compute("shr.u32", value, word(k * bits % 32))
        if bits == 8:
            value = isel.compute("and.b32", value, word(0xFF))
        moved.append((place, value))
    copies = {value for _, value in moved} & {place for place, _ in moved}
    kept = {value: isel.compute("mov.u32", value) for value in sorted(copies)}
    for place, value in moved:
        isel.move(place, kept.get(value, value))


@rule("cvta")
def _cvta(isel: InstructionSelection) -> None:
    target, source = isel.operands
    isel.assign(isel.destination(target), source, isel.type_of(isel.match.type))
