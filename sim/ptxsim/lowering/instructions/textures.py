"""Textures and surfaces.

A handle is a 64-bit row: that of a variable is a number, a parameter of an opaque type holds one. There are no mipmaps:
levels and gradients are read and do not matter. For the timing model a fetch reads the first of its texels with a
weight; surfaces are accessed as global memory is.
"""

from collections.abc import Sequence

from ptxsim.base.program import GLOBAL, PARAM
from ptxsim.base.program import TEXTURE as TEXTURE_SPACE
from ptxsim.execute import codes
from ptxsim.execute.texture import sampling
from ptxsim.execute.texture.texture_table import KIND, PROPERTIES, QUERIES, SAMPLER, SORT, SURFACE, TEXTURE
from ptxsim.lowering.addresses import Address, store_code
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.memory import elements, load_into, stored
from ptxsim.lowering.rows import LONG, TRUE, WORD, Operation, unsupported
from ptxtool.ir.nodes import Dual, Immediate, Memory, Name, Operand, Vector
from ptxtool.isa.literals import literal
from ptxtool.isa.types import TYPES, Type

_S32, _U32 = TYPES["s32"], TYPES["u32"]
_SHAPES = {
    "1d": 1,
    "2d": 2,
    "3d": 3,
    "a1d": 1 | sampling.LAYERED,
    "a2d": 2 | sampling.LAYERED,
    "cube": 2 | sampling.CUBE,
    "acube": 2 | sampling.CUBE | sampling.LAYERED,
    "2dms": 2 | sampling.SAMPLED,
    "a2dms": 2 | sampling.SAMPLED | sampling.LAYERED,
}
_CLAMPING = {"trap": sampling.TRAP, "clamp": sampling.CLAMPED, "zero": sampling.ZERO}
_KINDS = {"texref": TEXTURE, "samplerref": SAMPLER, "surfref": SURFACE}
_FETCHED_BYTES = 4


def _shape(op: Operation) -> int:
    return _SHAPES[op.match.one_of(*_SHAPES)]


def _opaque(operand: Operand) -> Memory:
    if not isinstance(operand, Memory):
        unsupported("a texture or surface without brackets")
    return operand


def _handle(builder: UopBuilder, operand: Operand | None) -> int:
    """The 64-bit row of a handle: a variable's number, what a parameter holds, or a register."""
    if not isinstance(operand, Name):
        unsupported("this texture or surface")
    parameter = builder.parameter(operand.text)
    if builder.register(operand.text) is None and parameter is not None:
        # PTXPlus names it and does not read its copy in shared memory
        start = parameter.offset - builder.layout.param_start
        builder.emit_address(Address(builder.constant(0), False, start), PARAM, 8)
        return builder.emit(codes.LOAD_64, builder.temporary(64))
    symbol = builder.layout.symbols.get(operand.text)
    if builder.register(operand.text) is None and (symbol is None or symbol.space != TEXTURE_SPACE):
        unsupported(f"'{operand.text}' is no texture or surface")
    return builder.value(operand, LONG)


def _rows(builder: UopBuilder, operand: Operand, types: tuple[Type, ...], given: int) -> list[int]:
    """The rows of the first components of a vector (or of the one register) of `given` components."""
    items = elements(builder, operand, given)
    return [builder.value(item, type_) for item, type_ in zip(items, types, strict=False)]


def _emit_places(builder: UopBuilder, operand: Operand, shape: int, type_: Type) -> tuple[int, int, int, int]:
    """The rows of layer, x, y, z: coordinates of three axes stand in vectors of four. z may be a sample's number."""
    n = 3 if shape & sampling.CUBE else shape & 3
    layered, sampled = shape & sampling.LAYERED != 0, shape & sampling.SAMPLED != 0
    types = ((_U32,) if layered else ()) + (type_,) * (n + sampled)
    given = len(operand.items) if isinstance(operand, Vector) else 4 if len(types) > 2 else len(types)
    rows = _rows(builder, operand, types, given)
    if len(rows) < len(types):
        unsupported(f"{given} coordinates")
    zero = builder.constant(0)
    layer = rows.pop(0) if layered else zero
    if sampled:  # stands before x and y
        rows.append(rows.pop(0))
    x, y, z = [*rows, zero, zero][:3]
    return layer, x, y, z


def _optional(builder: UopBuilder, op: Operation) -> tuple[Operand | None, Operand | None]:
    """The offset and the depth of a fetch.

    One of them alone, and no vector, is the depth if no integer is meant, as ptxas has it: a register of `.f32` or
    `.b32`, or a float. A volume has no depth.
    """
    named = dict(zip((spec.name for spec in op.match.form.operands), op.operands, strict=False))
    offset, depth = named.get("offset"), named.get("depth")
    has_depth = op.stype.is_float and not op.has("3d")
    if offset is not None and depth is None and has_depth and _may_be_float(builder, offset):
        return None, offset
    return offset, depth


def _may_be_float(builder: UopBuilder, operand: Operand) -> bool:
    if isinstance(operand, Immediate):
        return literal(operand.text).kind != "int"
    register = builder.register_of(operand)
    return register is not None and register.vector == 1 and register.type in ("f32", "b32")


@rule("tex", "tld4")
def _tex(builder: UopBuilder, op: Operation) -> None:
    """A fetch; `tld4` gathers a component of four texels. PTXPlus: the texture and the coordinates are two operands.

    GPGPU-Sim: its converter prints `tex.1d.v4.f32.s32 {$r0,_,_,_}, NAME, {$r0,_,_,_}` for every fetch.
    """
    as_converted = builder.is_converted(op)
    shape = _SHAPES["1d"] if as_converted else _shape(op)
    if builder.ptxplus and len(op.operands) == 3:
        texture = sampler = _handle(builder, op.operands[1])
        coordinates = op.operands[2]
    else:
        memory = _opaque(op.operands[1])
        texture = _handle(builder, memory.base)
        sampler = _handle(builder, memory.coordinates[0]) if len(memory.coordinates) == 2 else texture
        coordinates = memory.coordinates[-1]
    is_float = op.stype.is_float and not as_converted
    places = _emit_places(builder, coordinates, shape, op.stype if is_float else _S32)
    offset, compared = _optional(builder, op)
    offsets = [builder.constant(0)] * 3
    if offset is not None:
        n = len(offset.items) if isinstance(offset, Vector) else 1
        given = _rows(builder, offset, (_S32,) * (shape & 3), n)
        offsets[: len(given)] = given
    depth = builder.constant(0)
    if compared is not None:
        depth = builder.value(compared, TYPES["f32"])
        shape |= sampling.COMPARES
    target = op.operands[0]
    if isinstance(target, Dual):
        builder.combine("true", TRUE, TRUE, d=builder.predicate_destination(target.second))
        target = target.first
    kind = {"f16": sampling.HALVES, "f16x2": sampling.PAIRS}.get(op.type.name, sampling.WORDS)
    type_ = TYPES["u16"] if kind == sampling.HALVES else WORD
    items = elements(builder, target, 2 if kind == sampling.PAIRS else 4)
    if as_converted:
        held = _held(builder, coordinates, _shape(op) & 3, items)
        items = items[0], *[Name("_")] * 3
    results = [builder.place(item, type_) for item in items]
    rows = [place.row for place in results] + [0] * (4 - len(results))
    component = op.match.one_of("r", "g", "b", "a")
    gathered = "rgba".index(component) + 1 if component else 0
    builder.emit(
        codes.FETCH, shape | (sampling.FLOATING if is_float else 0), texture, sampler, gathered, kind
    )
    builder.emit(codes.OPERANDS, *places)
    builder.emit(codes.OPERANDS, depth, *offsets)
    builder.emit(codes.OPERANDS, *rows)
    for place in results:
        place.finish()
    for item, row in held if as_converted else ():
        builder.place(item, WORD).write("mov_u32", row)
    builder.access_bytes = builder.element_bytes = _FETCHED_BYTES
    builder.space = TEXTURE_SPACE


def _held(
    builder: UopBuilder, coordinates: Operand, n: int, items: Sequence[Operand]
) -> list[tuple[Operand, int]]:
    """Registers of a result of n axes that a converted fetch does not write, and rows of what is in them: y and z.

    GT200 has coordinates and result in the same registers, as the converter and decuda print them.
    """
    given = coordinates.items if isinstance(coordinates, Vector) else ()
    pairs = zip(items[1:n], given[1:n], strict=False)
    return [(item, builder.compute("mov_u32", builder.value(place, WORD))) for item, place in pairs]


@rule("txq", "suq")
def _query(builder: UopBuilder, op: Operation) -> None:
    """What is known of a texture, a sampler or a surface; a level does not matter."""
    handle = _handle(builder, _opaque(op.operands[1]).base)
    what = PROPERTIES + QUERIES.index(op.match.one_of(*QUERIES))
    builder.place(op.operands[0], WORD).write(codes.QUERY, handle, 0, e=what)


@rule("istypep")
def _istypep(builder: UopBuilder, op: Operation) -> None:
    kind = builder.emit(codes.QUERY, builder.temporary(), builder.source(op, 1, LONG), 1, e=KIND)
    d = builder.predicate_destination(op.operands[0])
    builder.emit("eq_u32", d, kind, builder.constant(_KINDS[op.match.one_of(*_KINDS)]))


def _emit_surface(
    builder: UopBuilder, op: Operation, operand: Operand, element: int, n_bytes: int, flags: int
) -> int:
    """The addresses of an access; the row of the handle."""
    memory = _opaque(operand)
    shape = _shape(op)
    handle = _handle(builder, memory.base)
    places = _emit_places(builder, memory.coordinates[-1], shape, _S32)
    clamping = _CLAMPING[op.match.one_of(*_CLAMPING)]
    builder.emit(codes.SURFACE, shape | clamping << 4, handle, element, n_bytes, flags)
    builder.emit(codes.OPERANDS, *places)
    builder.access_bytes, builder.element_bytes, builder.space = n_bytes, element, GLOBAL
    return handle


def _count(op: Operation) -> int:
    return int((op.match.one_of("v2", "v4") or "v1")[1:])


@rule("suld")
def _suld(builder: UopBuilder, op: Operation) -> None:
    count = _count(op)
    items = elements(builder, op.operands[0], count)
    _emit_surface(builder, op, op.operands[1], op.type.bytes, op.type.bytes * count, 0)
    for k, item in enumerate(items):
        load_into(builder, item, op.type, k * op.type.bytes)


@rule("sust")
def _sust(builder: UopBuilder, op: Operation) -> None:
    count = _count(op)
    rows = [stored(builder, item, op.type) for item in elements(builder, op.operands[1], count)]
    if op.has("p"):
        handle = _emit_surface(
            builder, op, op.operands[0], 4, 4 * count, sampling.BY_TEXELS | sampling.WRITES
        )
        builder.emit(codes.STORE_TEXEL, 0, handle, e=count)
        builder.emit(codes.OPERANDS, *(rows + [builder.constant(0)] * 3)[:4])
        return
    _emit_surface(builder, op, op.operands[0], op.type.bytes, op.type.bytes * count, sampling.WRITES)
    for k, row in enumerate(rows):
        builder.emit(store_code(op.type), a=row, e=k * op.type.bytes)


@rule("sured")
def _sured(builder: UopBuilder, op: Operation) -> None:
    """A reduction; that of texels is as signed as they are."""
    type_ = op.type
    (item,) = elements(builder, op.operands[1], 1)
    row = builder.value(item, type_)
    name = op.match.one_of("add", "min", "max", "and", "or")
    by_texels = op.has("p")
    flags = sampling.WRITES | (sampling.BY_TEXELS if by_texels else 0)
    handle = _emit_surface(builder, op, op.operands[0], type_.bytes, type_.bytes, flags)
    code, old = (
        (codes.ATOMIC64, builder.temporary(64)) if type_.bits == 64 else (codes.ATOMIC32, builder.temporary())
    )
    kinds = [(codes.SIGNED if type_.is_signed else codes.UNSIGNED, TRUE)]
    if by_texels and name in ("min", "max"):
        sort = builder.emit(codes.QUERY, builder.temporary(), handle, 0, e=SORT)
        signed = builder.emit("eq_u32", builder.temporary(1), sort, builder.constant(codes.SIGNED))
        kinds = [(codes.SIGNED, signed), (codes.UNSIGNED, builder.combine("not", signed))]
    for kind, lanes in kinds:
        if lanes != TRUE:
            builder.emit(codes.NARROW, a=lanes, e=-1)
        builder.emit(code, old, row, row, codes.ATOMICS[name] | kind << 8)
