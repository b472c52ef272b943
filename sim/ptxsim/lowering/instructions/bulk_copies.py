"""Bulk copies, plain and of tensors, their groups, and changes of tensor maps.

A copy is one micro-operation with a list of its operands (execute/bulk/copies.py). A tensor map is changed by loads and
stores of its words (execute/bulk/tensor_maps.py). Prefetches have no effect on values.

Refused: reports of validity, and what has no meaning in the table.
"""

from ptxsim.base.program import GENERIC, GLOBAL, SHARED, TENSOR_MAP_BYTES
from ptxsim.execute import codes
from ptxsim.execute.bulk import copies as flags
from ptxsim.execute.bulk import tensor_maps as maps
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.rows import LONG, WORD, Operation, unsupported
from ptxtool.ir.nodes import Immediate, Memory, Operand, Vector
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES, Type

_RESPONSE_BYTES = 16


def _named(op: Operation) -> dict[str, Operand]:
    return {spec.name: operand for spec, operand in zip(op.match.operands, op.operands, strict=False)}


def _address(builder: UopBuilder, operand: Operand, space: int) -> int:
    """The 64-bit row of an address."""
    place = builder.address(operand, space)
    row = place.base if place.is_long else builder.compute("zext_u64", place.base)
    if place.second is not None:
        row = builder.compute("add_u64", row, builder.compute("sext_u64", place.second))
    if place.offset:
        row = builder.compute("add_u64", row, builder.constant(place.offset & 0xFFFF_FFFF_FFFF_FFFF, 64))
    return row


def _no_report(op: Operation) -> None:
    if any(word.startswith("mbarrier::report::validity") for word in op.match.modifiers):
        unsupported("a report of validity")


def _reduction(op: Operation, type_: Type) -> int:
    """How a copy combines: operation, kind of values, bytes of one."""
    name = next(word for word in op.match.modifiers if word in codes.ATOMICS)
    kind = codes.SIGNED if type_.is_signed else codes.UNSIGNED
    if type_.is_float:
        kind = codes.BFLOAT if type_.name == "bf16" else codes.FLOAT
    return codes.ATOMICS[name] | kind << 8 | type_.bytes << 16


@rule("bulk_copy", "bulk_reduce")
def _copy(builder: UopBuilder, op: Operation) -> None:
    _no_report(op)
    named = _named(op)
    from_global = any(word.endswith(".global") for word in op.match.modifiers)
    stores = op.has("bulk_group")
    what = flags.FROM_GLOBAL if from_global else 0
    what |= flags.STORES if stores else 0
    mask = builder.constant(0)
    for name, flag in (("ctas", flags.MULTICAST), ("bytes", flags.MASKED)):
        if name in named:
            what |= flag
            mask = builder.value(named[name], WORD if op.has("multicast::cluster::32b") else TYPES["u16"])
    left = right = builder.constant(0)
    if "left" in named:
        what |= flags.LEAVES_OUT
        left, right = builder.value(named["left"], WORD), builder.value(named["right"], WORD)
    of = _address(builder, named["src"], GLOBAL if from_global else SHARED)
    to = _address(builder, named["dst"], GLOBAL if stores else SHARED)
    mbarrier = builder.constant(0, 64) if stores else _address(builder, named["mbar"], SHARED)
    size = builder.value(named["size"], WORD)
    combined, keeps = 0, int(op.has("noftz"))
    if op.match.form.sem == "bulk_reduce":
        what |= flags.COMBINES
        combined = _reduction(op, op.type)
    builder.emit(codes.BULK_COPY, to, of, size, what, mbarrier)
    builder.emit(codes.OPERANDS, mask, left, right, combined, keeps)


@rule("bulk_tensor", "bulk_tensor_reduce")
def _tensor(builder: UopBuilder, op: Operation) -> None:
    named = _named(op)
    what = 0
    if op.has("tile::gather4") or op.has("tile::scatter4"):
        what |= flags.GATHERS
    if op.has("im2col") or op.has("im2col_no_offs"):
        what |= flags.PIXELS
    if "halo" in named:
        what |= flags.PIXELS_ALONG_W | (flags.PIXELS_BY_32 if op.has("im2col::w::128") else 0)
    mask = builder.constant(0)
    if "ctas" in named:
        what |= flags.MULTICAST | (flags.PAIRS if op.has("cta_group::2") else 0)
        mask = builder.value(named["ctas"], TYPES["u16"])
    if op.has("bulk_group"):
        what |= flags.STORES
        mbarrier, shared = builder.constant(0, 64), named["src"]
    else:
        mbarrier, shared = _address(builder, named["mbar"], SHARED), named["dst"]
    map_ = named["map"]
    if not isinstance(map_, Memory) or not isinstance(map_.coordinates[-1], Vector):
        unsupported("this tensor map")
    coordinates = [builder.value(item, WORD) for item in map_.coordinates[-1].items]
    offsets: list[int] = []
    given = named.get("offsets", named.get("halo"))
    if given is not None:
        items = given.items if isinstance(given, Vector) else (given,)
        offsets = [builder.value(item, TYPES["u16"]) for item in items]
    zero = builder.constant(0)
    combined = 0
    if op.match.form.sem == "bulk_tensor_reduce":
        what |= flags.COMBINES
        combined = codes.ATOMICS[next(word for word in op.match.modifiers if word in codes.ATOMICS)]
    of_map = _address(builder, Memory("", map_.base, map_.offset), GENERIC)
    places = [*coordinates, *[zero] * (5 - len(coordinates))]
    moved = [*offsets, *[zero] * (3 - len(offsets))]
    dimensions = int((op.match.one_of("1d", "2d", "3d", "4d", "5d") or "0d")[0])
    builder.emit(codes.BULK_TENSOR, _address(builder, shared, SHARED), of_map, dimensions, what, mbarrier)
    builder.emit(codes.OPERANDS, mask, zero, zero, combined)
    builder.emit(codes.OPERANDS, *places)
    builder.emit(codes.OPERANDS, *moved)


@rule("bulk_commit")
def _commit(builder: UopBuilder, op: Operation) -> None:
    builder.emit(codes.BULK_COMMIT)


@rule("bulk_wait")
def _wait(builder: UopBuilder, op: Operation) -> None:
    groups = op.operands[0]
    if not isinstance(groups, Immediate):
        unsupported("a number of groups in a register")
    builder.emit(codes.BULK_WAIT, a=int(op.has("read")), e=integer(groups.text))


@rule("bulk_prefetch")
def _prefetch(builder: UopBuilder, op: Operation) -> None:
    """What is only a hint for L2."""


@rule("st_bulk")
def _fill(builder: UopBuilder, op: Operation) -> None:
    """Zeros; a generic address has to be one of shared memory, whose window is cut off."""
    to = _address(builder, op.operands[0], SHARED)
    to = builder.compute("and_u64", to, builder.constant(codes.WINDOW_BYTES - 1, 64))
    builder.emit(codes.BULK_FILL, to, builder.value(op.operands[1], LONG), c=0)


# ---- tensor maps

_WORDS = {
    "global_address": maps.ADDRESS,
    "box_dim": maps.BOX,
    "global_dim": maps.SIZES,
    "element_stride": maps.STEPS,
    "global_stride": maps.STRIDES,
}
_FIELDS = {
    "rank": maps.RANK_SHIFT,
    "elemtype": maps.TYPE_SHIFT,
    "interleave_layout": maps.INTERLEAVE_SHIFT,
    "swizzle_mode": maps.SWIZZLE_SHIFT,
    "swizzle_atomicity": maps.ATOMICITY_SHIFT,
    "fill_mode": maps.FILL_SHIFT,
}


@rule("tensormap_replace")
def _replace(builder: UopBuilder, op: Operation) -> None:
    """Store a word of a tensor map, or change a field of its properties."""
    named = _named(op)
    space = SHARED if op.has("shared::cta") else GLOBAL if op.has("global") else GENERIC
    name = next(word for word in op.match.modifiers if word in _WORDS or word in _FIELDS)
    type_ = LONG if op.type.bits == 64 else WORD
    value = builder.value(named["value"], type_)
    offset = 4 * maps.PROPERTIES
    if name in _WORDS:
        ordinal = named.get("ordinal")
        k = integer(ordinal.text) if isinstance(ordinal, Immediate) else 0
        offset = 4 * (_WORDS[name] + k * type_.bytes // 4)
    address = builder.address(named["map"], space)
    builder.emit_address(address, space, type_.bytes, offset=offset)
    builder.element_bytes = type_.bytes
    if name in _FIELDS:
        shift = _FIELDS[name]
        old = builder.emit(codes.LOAD_32, builder.temporary())
        old = builder.compute("and_u32", old, builder.constant(~(maps.FIELD << shift) & 0xFFFF_FFFF))
        value = builder.compute("and_u32", value, builder.constant(maps.FIELD))
        value = builder.compute("or_u32", old, builder.compute("shl_u32", value, builder.constant(shift)))
    builder.emit(codes.STORE_64 if type_ is LONG else codes.STORE_32, a=value)


@rule("tensormap_copy")
def _copy_map(builder: UopBuilder, op: Operation) -> None:
    """Copy the 128 bytes of a tensor map; every lane has the same addresses."""
    builder.emit_access(op.operands[1], SHARED, TENSOR_MAP_BYTES)
    rows = [
        builder.emit(codes.LOAD_64, builder.temporary(64), e=offset)
        for offset in range(0, TENSOR_MAP_BYTES, 8)
    ]
    builder.emit_access(op.operands[0], GLOBAL, TENSOR_MAP_BYTES)
    builder.element_bytes = 8
    for k, row in enumerate(rows):
        builder.emit(codes.STORE_64, a=row, e=8 * k)


# ---- launch control


@rule("try_cancel")
def _try_cancel(builder: UopBuilder, op: Operation) -> None:
    """No CTA waits to be launched for another one: the request always fails, which a program has to expect."""
    if op.has("multicast::cluster::all"):
        to, mbarrier = (_address(builder, operand, SHARED) for operand in op.operands)
        size = builder.constant(_RESPONSE_BYTES, 64)
        builder.emit(codes.BULK_FILL, to, size, c=flags.MULTICAST, e=mbarrier)
        return
    zero = builder.constant(0, 64)
    space = SHARED if op.has("shared::cta") else GENERIC
    builder.emit_access(op.operands[0], space, _RESPONSE_BYTES)
    for offset in (0, 8):
        builder.emit(codes.STORE_64, a=zero, e=offset)
    builder.emit_access(op.operands[1], space, 8)
    builder.element_bytes = 8
    n_bytes = builder.constant(_RESPONSE_BYTES)
    builder.emit(codes.MBARRIER, builder.temporary(64), builder.constant(0), n_bytes, e=codes.COMPLETE_BYTES)


@rule("query_cancel")
def _query_cancel(builder: UopBuilder, op: Operation) -> None:
    """Whether a request was granted (bit 0 of the answer), and the first CTA that is not launched then."""
    low, high = (builder.value(half, LONG) for half in builder.halves(op.operands[1]))
    if op.has("is_canceled"):
        bit = builder.compute("and_u64", low, builder.constant(1, 64))
        builder.emit("eq_u64", builder.predicate_destination(op.operands[0]), bit, builder.constant(1, 64))
        return
    x = builder.compute("high_u64", low)
    y, z = builder.compute("trunc_u64", high), builder.compute("high_u64", high)
    if op.has("v4"):
        items = op.operands[0].items if isinstance(op.operands[0], Vector) else ()
        for item, row in zip(items, (x, y, z), strict=False):
            builder.place(item, WORD).write("mov_u32", row)
        return
    row = x if op.has("get_first_ctaid::x") else y if op.has("get_first_ctaid::y") else z
    builder.destination(op, 0, WORD).write("mov_u32", row)
