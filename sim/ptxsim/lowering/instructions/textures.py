"""Textures and surfaces.

A handle is a 64-bit row: that of a variable is a number, a parameter of an opaque type holds one. There are no mipmaps:
levels and gradients are read and do not matter. For the timing model a fetch reads the first of its texels with a
weight; surfaces are accessed as global memory is.
"""

from ptxsim.base.program import GLOBAL, PARAM
from ptxsim.base.program import TEXTURE as TEXTURE_SPACE
from ptxsim.execute import codes
from ptxsim.execute.codes import ATOMIC32, ATOMIC64, FETCH, LOAD_64, NARROW, OPERANDS, QUERY, STORE_TEXEL
from ptxsim.execute.codes import SURFACE as SURFACE_ACCESS
from ptxsim.execute.texture.sampling import (
    BY_TEXELS,
    CLAMPED,
    COMPARES,
    CUBE,
    FLOATING,
    HALVES,
    LAYERED,
    PAIRS,
    SAMPLED,
    TRAP,
    WORDS,
    WRITES,
    ZERO,
)
from ptxsim.execute.texture.texture_table import KIND, PROPERTIES, QUERIES, SAMPLER, SORT, SURFACE, TEXTURE
from ptxsim.lowering.addresses import Address, store_code
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.memory import elements, load_into, stored
from ptxsim.lowering.rows import LONG, NOT_TABLE, TRUE, WORD, Operation, unsupported
from ptxtool.ir.nodes import Dual, Immediate, Memory, Name, Operand, Vector
from ptxtool.isa.literals import literal
from ptxtool.isa.types import TYPES, Type

_S32, _U32 = TYPES["s32"], TYPES["u32"]
_SHAPES = {
    "1d": 1,
    "2d": 2,
    "3d": 3,
    "a1d": 1 | LAYERED,
    "a2d": 2 | LAYERED,
    "cube": 2 | CUBE,
    "acube": 2 | CUBE | LAYERED,
    "2dms": 2 | SAMPLED,
    "a2dms": 2 | SAMPLED | LAYERED,
}
_CLAMPING = {"trap": TRAP, "clamp": CLAMPED, "zero": ZERO}
_KINDS = {"texref": TEXTURE, "samplerref": SAMPLER, "surfref": SURFACE}
_FETCHED_BYTES = 4


def _shape(op: Operation) -> int:
    return _SHAPES[op.match.one_of(*_SHAPES)]


def _opaque(operand: Operand) -> Memory:
    if not isinstance(operand, Memory):
        unsupported("a texture or surface without brackets")
    return operand


def _handle(b: UopBuilder, operand: Operand | None) -> int:
    """The 64-bit row of a handle: a variable's number, what a parameter holds, or a register."""
    if not isinstance(operand, Name):
        unsupported("this texture or surface")
    parameter = next((p for p in b.layout.parameters if p.name == operand.text), None)
    if b.register(operand.text) is None and parameter is not None:
        b.emit_address(Address(b.constant(0), False, None, parameter.offset), PARAM, 8)
        return b.emit_code(LOAD_64, b.temporary(64))
    symbol = b.layout.symbols.get(operand.text)
    if b.register(operand.text) is None and (symbol is None or symbol.space != TEXTURE_SPACE):
        unsupported(f"'{operand.text}' is no texture or surface")
    return b.value(operand, LONG)


def _rows(b: UopBuilder, operand: Operand, types: tuple[Type, ...], given: int) -> list[int]:
    """The rows of the first components of a vector (or of the one register) of `given` components."""
    items = elements(b, operand, given)
    return [b.value(item, type_) for item, type_ in zip(items, types, strict=False)]


def _emit_places(b: UopBuilder, operand: Operand, shape: int, type_: Type) -> tuple[int, int, int, int]:
    """The rows of layer, x, y, z: coordinates of three axes stand in vectors of four. z may be a sample's number."""
    n = 3 if shape & CUBE else shape & 3
    layered, sampled = shape & LAYERED != 0, shape & SAMPLED != 0
    types = ((_U32,) if layered else ()) + (type_,) * (n + sampled)
    given = len(operand.items) if isinstance(operand, Vector) else 4 if len(types) > 2 else len(types)
    rows = _rows(b, operand, types, given)
    if len(rows) < len(types):
        unsupported(f"{given} coordinates")
    zero = b.constant(0)
    layer = rows.pop(0) if layered else zero
    if sampled:  # stands before x and y
        rows.append(rows.pop(0))
    x, y, z = [*rows, zero, zero][:3]
    return layer, x, y, z


def _optional(b: UopBuilder, op: Operation) -> tuple[Operand | None, Operand | None]:
    """The offset and the depth of a fetch.

    One of them alone, and no vector, is the depth if no integer is meant, as ptxas has it: a register of `.f32` or
    `.b32`, or a float. A volume has no depth.
    """
    named = dict(zip((spec.name for spec in op.match.form.operands), op.operands, strict=False))
    offset, depth = named.get("offset"), named.get("depth")
    has_depth = op.stype.is_float and not op.has("3d")
    if offset is not None and depth is None and has_depth and _may_be_float(b, offset):
        return None, offset
    return offset, depth


def _may_be_float(b: UopBuilder, operand: Operand) -> bool:
    if isinstance(operand, Immediate):
        return literal(operand.text).kind != "int"
    register = b.register(operand.text) if isinstance(operand, Name) else None
    return register is not None and register.vector == 1 and register.type in ("f32", "b32")


@rule("tex", "tld4")
def _tex(b: UopBuilder, op: Operation) -> None:
    """A fetch; `tld4` gathers a component of four texels. PTXPlus: the texture and the coordinates are two operands."""
    shape = _shape(op)
    if b.ptxplus and len(op.operands) == 3:
        texture = sampler = _handle(b, op.operands[1])
        coordinates = op.operands[2]
    else:
        memory = _opaque(op.operands[1])
        texture = _handle(b, memory.base)
        sampler = _handle(b, memory.coordinates[0]) if len(memory.coordinates) == 2 else texture
        coordinates = memory.coordinates[-1]
    is_float = op.stype.is_float
    places = _emit_places(b, coordinates, shape, op.stype if is_float else _S32)
    offset, compared = _optional(b, op)
    offsets = [b.constant(0)] * 3
    if offset is not None:
        n = len(offset.items) if isinstance(offset, Vector) else 1
        given = _rows(b, offset, (_S32,) * (shape & 3), n)
        offsets[: len(given)] = given
    depth = b.constant(0)
    if compared is not None:
        depth = b.value(compared, TYPES["f32"])
        shape |= COMPARES
    target = op.operands[0]
    if isinstance(target, Dual):
        b.combine(0b1111, TRUE, TRUE, d=b.predicate_destination(target.second))
        target = target.first
    kind = {"f16": HALVES, "f16x2": PAIRS}.get(op.type.name, WORDS)
    type_ = TYPES["u16"] if kind == HALVES else WORD
    results = [b.place(item, type_) for item in elements(b, target, 2 if kind == PAIRS else 4)]
    rows = [place.row for place in results] + [0] * (4 - len(results))
    component = op.match.one_of("r", "g", "b", "a")
    gathered = "rgba".index(component) + 1 if component else 0
    b.emit_code(FETCH, shape | (FLOATING if is_float else 0), texture, sampler, gathered, kind)
    b.emit_code(OPERANDS, *places)
    b.emit_code(OPERANDS, depth, *offsets)
    b.emit_code(OPERANDS, *rows)
    for place in results:
        place.finish()
    b.access_bytes = b.element_bytes = _FETCHED_BYTES
    b.space = TEXTURE_SPACE


@rule("txq", "suq")
def _query(b: UopBuilder, op: Operation) -> None:
    """What is known of a texture, a sampler or a surface; a level does not matter."""
    handle = _handle(b, _opaque(op.operands[1]).base)
    d = b.place(op.operands[0], WORD)
    b.emit_code(QUERY, d.row, handle, 0, e=PROPERTIES + QUERIES.index(op.match.one_of(*QUERIES)))
    d.finish()


@rule("istypep")
def _istypep(b: UopBuilder, op: Operation) -> None:
    kind = b.emit_code(QUERY, b.temporary(), b.source(op, 1, LONG), 1, e=KIND)
    b.emit(
        "eq_u32",
        b.predicate_destination(op.operands[0]),
        kind,
        b.constant(_KINDS[op.match.one_of(*_KINDS)]),
    )


def _emit_surface(
    b: UopBuilder, op: Operation, operand: Operand, element: int, n_bytes: int, flags: int
) -> int:
    """The addresses of an access; the row of the handle."""
    memory = _opaque(operand)
    shape = _shape(op)
    handle = _handle(b, memory.base)
    places = _emit_places(b, memory.coordinates[-1], shape, _S32)
    clamping = _CLAMPING[op.match.one_of(*_CLAMPING)]
    b.emit_code(SURFACE_ACCESS, shape | clamping << 4, handle, element, n_bytes, flags)
    b.emit_code(OPERANDS, *places)
    b.access_bytes, b.element_bytes, b.space = n_bytes, element, GLOBAL
    return handle


def _count(op: Operation) -> int:
    return int((op.match.one_of("v2", "v4") or "v1")[1:])


@rule("suld")
def _suld(b: UopBuilder, op: Operation) -> None:
    count = _count(op)
    items = elements(b, op.operands[0], count)
    _emit_surface(b, op, op.operands[1], op.type.bytes, op.type.bytes * count, 0)
    for k, item in enumerate(items):
        load_into(b, item, op.type, k * op.type.bytes)


@rule("sust")
def _sust(b: UopBuilder, op: Operation) -> None:
    count = _count(op)
    rows = [stored(b, item, op.type) for item in elements(b, op.operands[1], count)]
    if op.has("p"):
        handle = _emit_surface(b, op, op.operands[0], 4, 4 * count, BY_TEXELS | WRITES)
        b.emit_code(STORE_TEXEL, 0, handle, e=count)
        b.emit_code(OPERANDS, *(rows + [b.constant(0)] * 3)[:4])
        return
    _emit_surface(b, op, op.operands[0], op.type.bytes, op.type.bytes * count, WRITES)
    for k, row in enumerate(rows):
        b.emit_code(store_code(op.type), a=row, e=k * op.type.bytes)


@rule("sured")
def _sured(b: UopBuilder, op: Operation) -> None:
    """A reduction; that of texels is as signed as they are."""
    type_ = op.type
    (item,) = elements(b, op.operands[1], 1)
    row = b.value(item, type_)
    name = op.match.one_of("add", "min", "max", "and", "or")
    by_texels = op.has("p")
    handle = _emit_surface(
        b, op, op.operands[0], type_.bytes, type_.bytes, WRITES | (BY_TEXELS if by_texels else 0)
    )
    code, old = (ATOMIC64, b.temporary(64)) if type_.bits == 64 else (ATOMIC32, b.temporary())
    kinds = [(codes.SIGNED if type_.is_signed else codes.UNSIGNED, TRUE)]
    if by_texels and name in ("min", "max"):
        sort = b.emit_code(QUERY, b.temporary(), handle, 0, e=SORT)
        signed = b.emit("eq_u32", b.temporary(1), sort, b.constant(codes.SIGNED))
        kinds = [(codes.SIGNED, signed), (codes.UNSIGNED, b.combine(NOT_TABLE, signed))]
    for kind, lanes in kinds:
        if lanes != TRUE:
            b.emit_code(NARROW, a=lanes, e=-1)
        b.emit_code(code, old, row, row, codes.ATOMICS[name] | kind << 8)
