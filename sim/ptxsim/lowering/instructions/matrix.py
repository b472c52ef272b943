"""Matrix instructions: `mma`, `mma.sp`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.

A product becomes one micro-operation with a list of its registers (execute/tensor/mma.py says how). The fragments of
`wmma`, which PTX leaves open, are those of `mma` with as many rows and columns as it takes; registers beyond them hold
copies. `wmma.load` and `wmma.store` are lowered to one access per register (or per element, across the matrix's
layout). For the timing model they are one access of each lane's part from its first element on.
"""

import re
from dataclasses import dataclass

from ptxsim.execute import codes
from ptxsim.execute.small_floats import FINITE, IEEE, ONE_NAN
from ptxsim.execute.tensor import mma as kinds
from ptxsim.execute.tensor.tensor_model import accumulation
from ptxsim.lowering.addresses import load_code, store_code
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.memory import space_of
from ptxsim.lowering.instructions.small_formats import FORMATS
from ptxsim.lowering.rows import LONG, TRUE, WORD, Operation, unsupported
from ptxtool.ir.nodes import Immediate, Operand, Vector
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES

_SPECIALS = {IEEE: kinds.IEEE, ONE_NAN: kinds.ONE_NAN, FINITE: kinds.NO_SPECIALS}
# fraction bits, exponent bits, what the highest codes are
_FLOATS = FORMATS | {"f32": (23, 8, IEEE), "ue8m0": (0, 8, ONE_NAN), "ue4m3": (3, 4, ONE_NAN)}
_INTEGERS = {"s8": (8, 1), "u8": (8, 0), "s4": (4, 1), "u4": (4, 0)}
_ROUNDINGS = ("rn", "rz", "rm", "rp")


def shape_of(op: Operation) -> tuple[int, int, int]:
    for name in op.instruction.opcode.modifiers:
        found = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", name)
        if found:
            m, n, k = (int(v) for v in found.groups())
            return m, n, k
    unsupported("a product without a shape")


def float_format(name: str) -> int:
    if name in _FLOATS:
        fraction, exponent, specials = _FLOATS[name]
        return fraction | exponent << 8 | _SPECIALS[specials] << 16
    width, is_signed = _INTEGERS.get(name, (32, 0))
    return width | is_signed << 8


def _element_bits(name: str, is_packed: bool) -> int:
    """Bits an element takes in a register, and how far up its value begins << 8."""
    if is_packed:
        return 4
    if name == "b1":
        return 32  # whole words
    if name == "tf32":
        return 32 | 13 << 8
    if name == "e2m1":
        return 8 | 2 << 8
    return TYPES[name].bits


def items_of(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vector) else (operand,)


def capability(builder: UopBuilder) -> int:
    """The number of the module's target: 75 for `sm_75`."""
    found = re.search(r"_(\d+)", builder.kernel.module.directive("target") or "")
    return int(found.group(1)) if found else 70


@dataclass
class _Product:
    """A product of matrices, as the table reads it."""

    shape: tuple[int, int, int]
    d: str
    a: str
    b: str
    c: str
    flags: int = 0
    arrangement: int = 0  # of the metadata; 0: A is dense
    metadata: int = 0
    selector: int = 0
    is_packed: bool = False
    """Elements of 4 bits stand side by side, not in a byte each."""


def _kind(op: Operation, product: _Product) -> int:
    if product.a == "f64":
        return kinds.DOUBLES
    if product.a == "b1":
        return kinds.AND_POPC if op.has("and") else kinds.XOR_POPC
    return kinds.FLOATS if product.a in _FLOATS else kinds.INTEGERS


def _multiply(builder: UopBuilder, op: Operation, product: _Product) -> None:
    """The micro-operation, what it multiplies, and its registers."""
    m, n, k = product.shape
    builder.products, builder.product_kind, builder.product_type = m * n * k, "mma", product.a
    if product.flags & kinds.QUADS:  # four at a time
        builder.products *= 4
    elif product.arrangement:  # half of A is there
        builder.products //= 2
    kind = _kind(op, product)
    k = k // 32 if product.a == "b1" else k
    target, *factors = op.operands[:4]
    type_ = LONG if kind == kinds.DOUBLES else WORD
    rows = [[builder.value(item, type_) for item in items_of(operand)] for operand in factors]
    places = [builder.place(item, type_) for item in items_of(target)]
    flags = product.flags | (kinds.SATURATES if op.has("satfinite") else 0)
    flags |= _ROUNDINGS.index(op.rounding) << kinds.ROUNDING_SHIFT
    group = 0
    if kind == kinds.FLOATS:
        model = accumulation(capability(builder), product.a)
        group = model.products | model.unit_bits << 8
        group |= (10 if product.d == "f16" else model.result_bits) << 16
    n_accumulators = len(places) * (2 if product.d == "f16" else 1)
    builder.emit(codes.MULTIPLY, n_accumulators, len(rows[0]), len(rows[1]))
    builder.emit(codes.OPERANDS, m, n, k, float_format(product.a), float_format(product.b))
    builder.emit(codes.OPERANDS, float_format(product.c), float_format(product.d), kind, group, flags)
    bits = [_element_bits(name, product.is_packed) for name in (product.a, product.b)]
    builder.emit(codes.OPERANDS, product.metadata, product.arrangement, product.selector, *bits)
    for r in range(max(len(places), *(len(column) for column in rows))):
        first, second, third = (column[r] if r < len(column) else 0 for column in rows)
        builder.emit(codes.OPERANDS, places[r].row if r < len(places) else 0, first, second, third)
    if product.flags & kinds.SCALED:
        _scales(builder, op)
    for place in places:
        place.finish()


def _scales(builder: UopBuilder, op: Operation) -> None:
    """The scales of A and of B: registers, and numbers of byte and thread where they begin."""
    count = 1 if op.has("kind::mxf8f6f4") else 4 if op.has("scale_vec::4X") else 2
    format_ = float_format("ue4m3" if op.has("ue4m3") else "ue8m0")
    for scales, where in zip(op.operands[-4::2], op.operands[-3::2], strict=True):
        byte, thread = (builder.value(item, TYPES["u16"]) for item in items_of(where))
        builder.emit(codes.OPERANDS, builder.value(items_of(scales)[0], WORD), byte, thread, format_, count)


def _product(op: Operation) -> _Product:
    """The shape and the types of a product, and what scaled blocks change about it."""
    match = op.match
    types = match.type, match.stype, match.utype, match.vtype
    if not match.utype:  # of `wmma`
        types = match.type, "f16", "f16", match.stype
    product = _Product(shape_of(op), *types)
    if op.has("block_scale"):
        product.flags |= kinds.SCALED
        product.is_packed = not op.has("kind::mxf8f6f4")
    return product


@rule("mma", "wmma_mma")
def _mma(builder: UopBuilder, op: Operation) -> None:
    product = _product(op)
    if product.shape == (8, 8, 4) and product.a == "f16":
        layouts = [name for name in op.instruction.opcode.modifiers if name in ("row", "col")]
        product.flags |= kinds.QUADS
        product.flags |= kinds.A_BY_COLUMNS if layouts[0] == "col" else 0
        product.flags |= kinds.B_BY_ROWS if layouts[1] == "row" else 0
    _multiply(builder, op, product)


@rule("mma_sp")
def _mma_sp(builder: UopBuilder, op: Operation) -> None:
    """A has half of its elements; two bits of metadata tell where each one (or each pair) stands."""
    product = _product(op)
    k, a = product.shape[2], product.a
    indices = kinds.PAIR_OF_FOUR
    if a in ("s4", "u4") or product.is_packed:
        indices, n_indices = kinds.PAIRS_OF_EIGHT, k // 4
    elif a == "tf32":
        indices, n_indices = kinds.ONE_OF_TWO, k
    else:
        n_indices = k // 2
    # 8 indices of a row are 16 bits, 32 rows of which are in 8 lanes; 16 are in 16 lanes; 32 in all
    arrangement = {8: kinds.ONE_LANE, 16: kinds.ROW_EACH, 32: kinds.ALL_LANES}[n_indices]
    if n_indices == 16 and a in ("f16", "bf16", "tf32"):
        arrangement = kinds.HALF_WORDS
    selector = op.operands[5]
    if not isinstance(selector, Immediate):
        unsupported("a sparsity selector that is no number")
    product.arrangement = arrangement | indices << kinds.INDEX_SHIFT
    product.metadata = builder.source(op, 4, TYPES["u32"])
    product.selector = integer(selector.text)
    _multiply(builder, op, product)


# ---- between memory and registers


@rule("ldmatrix")
def _ldmatrix(builder: UopBuilder, op: Operation) -> None:
    items = items_of(op.operands[0])
    tall = op.has("m16n16")
    rows = 16 if tall else 8
    width = 16 if op.type.name == "b16" else 8
    if op.has("b6x16_p32") or op.has("b4x16_p64"):
        width = 6 if op.has("b6x16_p32") else 4
    per_matrix = 2 if tall else 1
    _row_addresses(builder, op, op.operands[1], rows * len(items) // per_matrix)
    places = [builder.place(item, WORD) for item in items]
    for r, place in enumerate(places):
        matrix, half = divmod(r, per_matrix)
        builder.emit(
            codes.MATRIX_LOAD, place.row, c=rows * matrix, e=width | op.has("trans") << 8 | half << 9
        )
    for place in places:
        place.finish()


@rule("stmatrix")
def _stmatrix(builder: UopBuilder, op: Operation) -> None:
    items = items_of(op.operands[1])
    width = 8 if op.has("m16n8") else 16
    values = [builder.value(item, WORD) for item in items]
    _row_addresses(builder, op, op.operands[0], 8 * len(items))
    for r, row in enumerate(values):
        builder.emit(codes.MATRIX_STORE, a=row, c=8 * r, e=width | op.has("trans") << 8)


def _row_addresses(builder: UopBuilder, op: Operation, operand: Operand, lanes: int) -> None:
    """The addresses of the rows, which the first lanes give; all lanes take part again afterwards."""
    builder.emit(codes.NARROW, a=TRUE, e=(1 << lanes) - 1)
    builder.emit_access(operand, space_of(op), 16)
    builder.element_bytes = 16
    builder.emit(codes.NARROW, a=TRUE, e=-1)


@rule("movmatrix")
def _movmatrix(builder: UopBuilder, op: Operation) -> None:
    source = builder.source(op, 1, WORD)
    builder.destination(op, 0, WORD).write(codes.MATRIX_MOVE, source)


class _Tile:
    """The fragment of a `wmma` matrix in memory: offsets of elements as (multiple of the stride, bytes) and by lane."""

    def __init__(self, builder: UopBuilder, op: Operation, which: str, address: Operand):
        """The fragment of matrix a, b or c (d is as c); the stride is operand 2, by default that of a dense matrix."""
        m, n, k = shape_of(op)
        self.b, self.type, bits = builder, LONG if op.type.bits == 64 else WORD, op.type.bits
        self.bits = bits
        self.registers = _registers(op, which)
        # whether the elements of a register follow each other in memory
        self.contiguous = op.has("row") == (which != "b")
        step = 2 if which == "c" else len(self.registers[0])  # elements between two members of a group
        self.space = space_of(op)
        self.where = builder.address(address, self.space)
        lane = builder.special_row(codes.LANEID)
        group = builder.compute("shr_u32", lane, builder.constant(2))
        member = builder.compute("and_u32", lane, builder.constant(3))
        if len(op.operands) > 2:
            elements = builder.value(op.operands[2], TYPES["u32"])
            pitch_bits = builder.compute("mul_u32", elements, builder.constant(bits))
            self.pitch = builder.compute("shr_u32", pitch_bits, builder.constant(3))
        else:
            row_length, column_length = {"a": (k, m), "b": (n, k), "c": (n, m)}[which]
            self.pitch = builder.constant((row_length if op.has("row") else column_length) * bits // 8)
        across, along = (group, member) if self.contiguous else (member, group)
        pitches = builder.compute("mul_u32", across, builder.constant(1 if self.contiguous else step))
        size = builder.constant(bits * (step if self.contiguous else 1) // 8)
        self.lanes = builder.compute("mad_u32", along, size, builder.compute("mul_u32", pitches, self.pitch))
        self.rows = {0: self.lanes}

    def is_whole(self, r: int) -> bool:
        """Whether the elements of register r are one access."""
        return self.contiguous or len(self.registers[r]) == 1

    def access(self, element: tuple[int, int], n_bytes: int) -> None:
        """Check the access of an element, given as in `_registers`."""
        along, across = element if self.contiguous else element[::-1]
        if across not in self.rows:
            self.rows[across] = self.b.compute("mad_u32", self.pitch, self.b.constant(across), self.lanes)
        self.b.emit_address(self.where, self.space, n_bytes, self.rows[across], along * self.bits // 8)

    def note(self) -> None:
        """What the timing model sees: the first element's address, and a lane's bytes."""
        self.b.access_bytes, self.b.element_bytes = min(4 * len(self.registers), 16), 4


def _registers(op: Operation, which: str) -> list[list[tuple[int, int]]]:
    """The elements of each register as (along, across): the direction of a register's elements, and the other one."""
    m, n, k = shape_of(op)
    per_register = max(32 // op.type.bits, 1)
    if which == "c":
        flat = [(8 * (i // (m // 4)) + i % 2, 8 * (i // 2 % (m // 8))) for i in range(m * n // 32)]
        return [flat[i : i + per_register] for i in range(0, len(flat), per_register)]
    steps, blocks = range(k // (4 * per_register)), range((m if which == "a" else n) // 8)
    if which == "a":
        places = [(step, block) for step in steps for block in blocks]
    else:
        places = [(step, block) for block in blocks for step in steps]
    elements = range(per_register)
    return [[(4 * per_register * step + j, 8 * block) for j in elements] for step, block in places]


@rule("wmma_load")
def _wmma_load(builder: UopBuilder, op: Operation) -> None:
    items = items_of(op.operands[0])
    tile = _Tile(builder, op, op.match.form.base[-1], op.operands[1])
    # the first register is loaded last: its addresses are what the timing model sees
    loaded = [_load_register(builder, tile, r) for r in reversed(range(len(tile.registers)))][::-1]
    tile.note()
    places = [builder.place(item, tile.type) for item in items]
    for r, place in enumerate(places):
        place.write(f"mov_u{tile.type.bits}", loaded[r % len(loaded)])


def _load_register(builder: UopBuilder, tile: _Tile, r: int) -> int:
    """The row of a register's elements."""
    elements = tile.registers[r]
    if tile.is_whole(r):
        tile.access(elements[0], tile.type.bytes)
        return builder.emit(load_code(tile.type), builder.temporary(tile.type.bits))
    if tile.bits < 8:
        unsupported("elements of less than a byte across their layout")
    code = codes.LOAD_U16 if tile.bits == 16 else codes.LOAD_U8
    value = builder.constant(0)
    for element in reversed(elements):
        tile.access(element, tile.bits // 8)
        part = builder.emit(code, builder.temporary())
        value = builder.compute(
            "or_u32", builder.compute("shl_u32", value, builder.constant(tile.bits)), part
        )
    return value


@rule("wmma_store")
def _wmma_store(builder: UopBuilder, op: Operation) -> None:
    values = [builder.value(item, LONG if op.type.bits == 64 else WORD) for item in items_of(op.operands[1])]
    tile = _Tile(builder, op, "c", op.operands[0])
    for r in reversed(range(len(tile.registers))):
        elements, row = tile.registers[r], values[r]
        if tile.is_whole(r):
            tile.access(elements[0], tile.type.bytes)
            builder.emit(store_code(tile.type), a=row)
        else:
            high = builder.compute("high16_u32", row)
            for j in (1, 0):
                tile.access(elements[j], 2)
                builder.emit(codes.STORE_16, a=high if j else row)
    tile.note()
