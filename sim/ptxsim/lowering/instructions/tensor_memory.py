"""Tensor memory and its products: `tcgen05`.

Each instruction is one micro-operation (execute/tensor/tensor_memory.py, tensor_product.py) and happens when it is
executed: waits and fences have no effect, and a commit arrives at its mbarrier at once. For the timing model a product
occupies a tensor core as one of 128 by 256 does (`[tcgen05]` of the GPU file): its shape is known when it is executed.
Loads and stores are as quick as arithmetic.

Refused: `.ashift` of a sparse A: the manual does not say whether its metadata is shifted too.
"""

from ptxsim.base.program import GENERIC, SHARED
from ptxsim.execute import codes
from ptxsim.execute.tensor import tensor_layouts as layouts
from ptxsim.execute.tensor import tensor_memory as tensor
from ptxsim.execute.tensor import tensor_product as product
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.asynchronous import operate
from ptxsim.lowering.instructions.floating import extreme_of
from ptxsim.lowering.instructions.matrix import items_of
from ptxsim.lowering.instructions.warpgroup import warp_number
from ptxsim.lowering.rows import LONG, WORD, Operation, unsupported
from ptxtool.ir.nodes import Immediate, Memory, Operand, Vector
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES

_SHAPES = {
    "32x32b": tensor.BY_LANES,
    "16x64b": tensor.PAIRS,
    "16x128b": tensor.QUARTERS,
    "16x256b": tensor.EIGHTHS,
    "16x32bx2": tensor.HALVES,
}
_COPIES = {
    "128x256b": (128, 2),
    "4x256b": (4, 2),
    "128x128b": (128, 1),
    "64x128b": (64, 1),
    "32x128b": (32, 1),
}
_WAYS = {
    "warpx4": tensor.TO_ALL,
    "warpx2::02_13": tensor.PAIRS_02_13,
    "warpx2::01_23": tensor.PAIRS_01_23,
    "4x256b": tensor.TO_EACH,
}


def _pair(op: Operation) -> int:
    return tensor.PAIR if op.has("cta_group::2") else 0


def _address(builder: UopBuilder, operand: Operand) -> int:
    """The row of an address in tensor memory."""
    if not isinstance(operand, Memory) or operand.base is None:
        unsupported("this address in tensor memory")
    row = builder.value(operand.base, WORD)
    if operand.offset is not None:
        row = builder.compute("add_u32", row, builder.value(operand.offset, WORD))
    return row


def _number(operand: Operand) -> int:
    if not isinstance(operand, Immediate):
        unsupported("an operand that has to be a number")
    return integer(operand.text)


@rule("tcgen05_alloc")
def _alloc(builder: UopBuilder, op: Operation) -> None:
    """Allocate columns, and store the address of the first one in shared memory."""
    found, columns = builder.temporary(), builder.value(op.operands[1], WORD)
    builder.emit(codes.TENSOR_ALLOCATE, found, columns, _pair(op), e=warp_number(builder))
    builder.emit_access(op.operands[0], SHARED if op.has("shared::cta") else GENERIC, 4)
    builder.element_bytes = 4
    builder.emit(codes.STORE_32, a=found)


@rule("tcgen05_dealloc")
def _dealloc(builder: UopBuilder, op: Operation) -> None:
    address, columns = (builder.value(operand, WORD) for operand in op.operands)
    builder.emit(codes.TENSOR_FREE, 0, address, columns, e=warp_number(builder))


@rule("tcgen05_nothing")
def _nothing(builder: UopBuilder, op: Operation) -> None:
    """The permit to allocate, waits and fences: everything before has happened."""


@rule("tcgen05_ld", "tcgen05_st")
def _transfer(builder: UopBuilder, op: Operation) -> None:
    is_load = op.match.form.sem == "tcgen05_ld"
    registers = next(items_of(o) for o in op.operands if not isinstance(o, Memory | Immediate))
    memory = next(o for o in op.operands if isinstance(o, Memory))
    split = next((_number(o) for o in op.operands if isinstance(o, Immediate)), 0)
    shape = next(number for name, number in _SHAPES.items() if op.has(name))
    if op.has("pack::16b") or op.has("unpack::16b"):
        shape |= tensor.PACKED
    address, number = _address(builder, memory), warp_number(builder)
    if is_load:
        places = [builder.place(item, WORD) for item in registers]
        rows = [place.row for place in places]
    else:
        rows = [builder.value(item, WORD) for item in registers]
    code = codes.TENSOR_LOAD if is_load else codes.TENSOR_STORE
    builder.emit(code, len(rows), address, shape, split, number)
    for row in rows:
        builder.emit(codes.OPERANDS, row)
    if is_load:
        for place in places:
            place.finish()
    if op.match.form.base == "tcgen05.ld.red":
        _reduce(builder, op, rows)


def _reduce(builder: UopBuilder, op: Operation, rows: list[int]) -> None:
    """The least or greatest of what each thread has loaded, into the second operand."""
    name, type_ = op.match.one_of("min", "max"), op.type
    if type_.is_float:
        found = extreme_of(builder, op, name, rows, type_)
    else:
        found = rows[0]
        for row in rows[1:]:
            found = builder.compute(f"{name}_{type_.name}", found, row)
    builder.place(op.operands[1], WORD).write("mov_u32", found)


@rule("tcgen05_cp")
def _copy(builder: UopBuilder, op: Operation) -> None:
    lines, chunks = next(size for name, size in _COPIES.items() if op.has(name))
    way = next((number for name, number in _WAYS.items() if op.has(name)), tensor.ONCE)
    bits = 6 if op.has("b6x16_p32") else 4 if op.has("b4x16_p64") else 0
    address, descriptor = _address(builder, op.operands[0]), builder.value(op.operands[1], LONG)
    number = warp_number(builder)
    builder.emit(
        codes.TENSOR_COPY, way | bits << 8 | _pair(op), address, descriptor, lines << 8 | chunks, number
    )


@rule("tcgen05_shift")
def _shift(builder: UopBuilder, op: Operation) -> None:
    address = _address(builder, op.operands[0])
    builder.emit(codes.TENSOR_SHIFT, 0, address, c=_pair(op), e=warp_number(builder))


def _operands(op: Operation) -> dict[str, Operand]:
    """The operands by name: those of some rows are as many, and braces are masks of lanes."""
    rest = list(op.operands)
    is_sparse = op.match.form.base.endswith(".sp")
    found = {name: rest.pop(0) for name in ("d", "a", "b", *(("meta",) if is_sparse else ()), "i")}
    if op.has("block_scale"):
        found["sa"], found["sb"] = rest.pop(0), rest.pop(0)
    if isinstance(rest[0], Vector):
        found["lanes"] = rest.pop(0)
    found["enable"] = rest.pop(0)
    if rest:
        found["zero" if ".ws" in op.match.form.base else "scale"] = rest[0]
    return found


@rule("tcgen05_mma")
def _mma(builder: UopBuilder, op: Operation) -> None:
    named = _operands(op)
    if op.has("ashift") and "meta" in named:
        unsupported("rows of a sparse A that are shifted (.ashift)")
    kind = next(name for name in layouts.KINDS if op.has(f"kind::{name}"))
    flags = product.STATIONARY if ".ws" in op.match.form.base else 0
    flags |= (product.PAIR if op.has("cta_group::2") else 0) | (product.MASKED if "zero" in named else 0)
    flags |= (product.SPARSE if "meta" in named else 0) | (product.SHIFTED if op.has("ashift") else 0)
    if isinstance(named["a"], Memory):
        flags |= product.IN_TENSOR_MEMORY
        of_a = _address(builder, named["a"])
    else:
        of_a = builder.value(named["a"], LONG)
    masks = [builder.value(item, WORD) for item in items_of(named["lanes"])] if "lanes" in named else []
    masks += [builder.constant(0)] * (8 - len(masks))
    scales = [
        _address(builder, named[name]) if name in named else builder.constant(0) for name in ("sa", "sb")
    ]
    exponent = _number(named["scale"]) if "scale" in named else 0
    count = 1 if kind == "mxf8f6f4" else 4 if op.has("scale_vec::4X") or op.has("block16") else 2
    d, of_b = _address(builder, named["d"]), builder.value(named["b"], LONG)
    what, adds, number = (
        builder.value(named["i"], WORD),
        builder.predicate(named["enable"]),
        warp_number(builder),
    )
    zeros = builder.value(named["zero"], LONG) if "zero" in named else 0
    metadata = _address(builder, named["meta"]) if "meta" in named else 0
    builder.emit(codes.TENSOR_MULTIPLY, d, of_a, of_b, what, adds)
    builder.emit(
        codes.OPERANDS, layouts.KINDS.index(kind) | flags << 8, scales[0], scales[1], exponent, number
    )
    for k, more in ((0, count), (4, zeros)):
        builder.emit(codes.OPERANDS, masks[k], masks[k + 1], masks[k + 2], masks[k + 3], more)
    builder.emit(codes.OPERANDS, metadata)
    depth = int(layouts.DEPTHS[layouts.KINDS.index(kind)])
    builder.products, builder.product_kind, builder.product_type = 128 * 256 * depth, "tcgen05", kind


@rule("tcgen05_commit")
def _commit(builder: UopBuilder, op: Operation) -> None:
    """Arrive at an mbarrier, or at those of a mask of CTAs: what is waited for, all or reads of A, has happened."""
    ctas = None
    if len(op.operands) > 1:
        ctas = builder.value(op.operands[1], WORD if op.has("multicast::cluster::32b") else TYPES["u16"])
    operate(builder, op.operands[0], codes.ARRIVE, builder.constant(1), ctas)
