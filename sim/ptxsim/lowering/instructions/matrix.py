"""Matrix instructions: `mma`, `mma.sp`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.

A product becomes one micro-operation with a list of its registers (execute/tensor/mma.py says how). The fragments of
`wmma`, which PTX leaves open, are those of `mma` with as many rows and columns as it takes; registers beyond them hold
copies. `wmma.load` and `wmma.store` are lowered to one access per register (or per element, across the matrix's
layout). For the timing model they are one access of each lane's part from its first element on.
"""

import re
from dataclasses import dataclass

from ptxsim.execute import codes
from ptxsim.execute.codes import LOAD_32, LOAD_64, NARROW, OPERANDS, STORE_32, STORE_64
from ptxsim.execute.tensor import mma as kinds
from ptxsim.execute.tensor.tensor_model import accumulation
from ptxsim.lowering.builder import Destination, UopBuilder, rule
from ptxsim.lowering.instructions.memory import space_of
from ptxsim.lowering.rows import LONG, TRUE, WORD, Operation, unsupported
from ptxtool.ir.nodes import Immediate, Operand, Vector
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES

_FLOATS = {
    # type: fraction bits, exponent bits, special exponents
    "f32": (23, 8, kinds.IEEE),
    "f16": (10, 5, kinds.IEEE),
    "bf16": (7, 8, kinds.IEEE),
    "tf32": (10, 8, kinds.IEEE),
    "e5m2": (2, 5, kinds.IEEE),
    "e4m3": (3, 4, kinds.ONE_NAN),
    "e3m2": (2, 3, kinds.NO_SPECIALS),
    "e2m3": (3, 2, kinds.NO_SPECIALS),
    "e2m1": (1, 2, kinds.NO_SPECIALS),
    "ue8m0": (0, 8, kinds.ONE_NAN),
    "ue4m3": (3, 4, kinds.ONE_NAN),
}
_INTEGERS = {"s8": (8, 1), "u8": (8, 0), "s4": (4, 1), "u4": (4, 0)}
_BITS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "f32": 32,
    "s32": 32,
    "f64": 64,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
}
_ROUNDINGS = ("rn", "rz", "rm", "rp")


def _shape(op: Operation) -> tuple[int, int, int]:
    for name in op.instruction.opcode.modifiers:
        found = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", name)
        if found:
            m, n, k = (int(v) for v in found.groups())
            return m, n, k
    unsupported("a product without a shape")


def _format(name: str) -> int:
    if name in _FLOATS:
        fraction, exponent, rule_ = _FLOATS[name]
        return fraction | exponent << 8 | rule_ << 16
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
    return _BITS.get(name, 8)


def _items(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vector) else (operand,)


def _capability(b: UopBuilder) -> int:
    """The number of the module's target: 75 for `sm_75`."""
    found = re.search(r"_(\d+)", b.kernel.module.directive("target") or "")
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


def _multiply(b: UopBuilder, op: Operation, product: _Product) -> None:
    """The micro-operation, what it multiplies, and its registers."""
    m, n, k = product.shape
    kind = _kind(op, product)
    k = k // 32 if product.a == "b1" else k
    target, *factors = op.operands[:4]
    type_ = LONG if kind == kinds.DOUBLES else WORD
    rows = [[b.value(item, type_) for item in _items(operand)] for operand in factors]
    places: list[Destination] = [b.place(item, type_) for item in _items(target)]
    flags = product.flags | (kinds.SATURATES if op.has("satfinite") else 0)
    flags |= _ROUNDINGS.index(op.rounding) << kinds.ROUNDING_SHIFT
    group = 0
    if kind == kinds.FLOATS:
        model = accumulation(_capability(b), product.a)
        group = model.products | model.unit_bits << 8
        group |= (10 if product.d == "f16" else model.result_bits) << 16
    n_accumulators = len(places) * (2 if product.d == "f16" else 1)
    b.emit_code(codes.MULTIPLY, n_accumulators, len(rows[0]), len(rows[1]))
    b.emit_code(OPERANDS, m, n, k, _format(product.a), _format(product.b))
    b.emit_code(OPERANDS, _format(product.c), _format(product.d), kind, group, flags)
    b.emit_code(
        OPERANDS,
        product.metadata,
        product.arrangement,
        product.selector,
        _element_bits(product.a, product.is_packed),
        _element_bits(product.b, product.is_packed),
    )
    for r in range(max(len(places), *(len(column) for column in rows))):
        first, second, third = (column[r] if r < len(column) else 0 for column in rows)
        b.emit_code(OPERANDS, places[r].row if r < len(places) else 0, first, second, third)
    if product.flags & kinds.SCALED:
        _scales(b, op)
    for place in places:
        place.finish()


def _scales(b: UopBuilder, op: Operation) -> None:
    """The scales of A and of B: registers, and numbers of byte and thread where they begin."""
    count = 1 if op.has("kind::mxf8f6f4") else 4 if op.has("scale_vec::4X") else 2
    format_ = _format("ue4m3" if op.has("ue4m3") else "ue8m0")
    for scales, where in zip(op.operands[-4::2], op.operands[-3::2], strict=True):
        byte, thread = (b.value(item, TYPES["u16"]) for item in _items(where))
        b.emit_code(OPERANDS, b.value(scales, WORD), byte, thread, format_, count)


def _scaled(op: Operation, product: _Product) -> None:
    """What scaled blocks change about a product."""
    if op.has("block_scale"):
        product.flags |= kinds.SCALED
        product.is_packed = not op.has("kind::mxf8f6f4")


@rule("mma")
def _mma(b: UopBuilder, op: Operation) -> None:
    match = op.match
    product = _Product(_shape(op), match.type, match.stype, match.utype, match.vtype)
    if product.shape == (8, 8, 4) and product.a == "f16":
        layouts = [name for name in op.instruction.opcode.modifiers if name in ("row", "col")]
        product.flags = kinds.QUADS
        product.flags |= kinds.A_BY_COLUMNS if layouts[0] == "col" else 0
        product.flags |= kinds.B_BY_ROWS if layouts[1] == "row" else 0
    _scaled(op, product)
    _multiply(b, op, product)


@rule("mma_sp")
def _mma_sp(b: UopBuilder, op: Operation) -> None:
    """A has half of its elements; two bits of metadata tell where each one (or each pair) stands."""
    match = op.match
    product = _Product(_shape(op), match.type, match.stype, match.utype, match.vtype)
    _scaled(op, product)
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
    product.metadata = b.source(op, 4, TYPES["u32"])
    product.selector = integer(selector.text)
    _multiply(b, op, product)


@rule("wmma_mma")
def _wmma_mma(b: UopBuilder, op: Operation) -> None:
    match = op.match
    if match.utype:
        product = _Product(_shape(op), match.type, match.stype, match.utype, match.vtype)
    else:
        product = _Product(_shape(op), match.type, "f16", "f16", match.stype)
    _multiply(b, op, product)


# ---- between memory and registers


@rule("ldmatrix")
def _ldmatrix(b: UopBuilder, op: Operation) -> None:
    items = _items(op.operands[0])
    tall = op.has("m16n16")
    rows = 16 if tall else 8
    width = 16 if op.type.name == "b16" else 8
    if op.has("b6x16_p32") or op.has("b4x16_p64"):
        width = 6 if op.has("b6x16_p32") else 4
    per_matrix = 2 if tall else 1
    _row_addresses(b, op, op.operands[1], rows * len(items) // per_matrix)
    places = [b.place(item, WORD) for item in items]
    for r, place in enumerate(places):
        matrix, half = divmod(r, per_matrix)
        b.emit_code(codes.MATRIX_LOAD, place.row, c=rows * matrix, e=width | op.has("trans") << 8 | half << 9)
    for place in places:
        place.finish()


@rule("stmatrix")
def _stmatrix(b: UopBuilder, op: Operation) -> None:
    items = _items(op.operands[1])
    width = 8 if op.has("m16n8") else 16
    values = [b.value(item, WORD) for item in items]
    _row_addresses(b, op, op.operands[0], 8 * len(items))
    for r, row in enumerate(values):
        b.emit_code(codes.MATRIX_STORE, a=row, c=8 * r, e=width | op.has("trans") << 8)


def _row_addresses(b: UopBuilder, op: Operation, operand: Operand, lanes: int) -> None:
    """The addresses of the rows, which the first lanes give; all lanes take part again afterwards."""
    b.emit_code(NARROW, a=TRUE, e=(1 << lanes) - 1)
    b.emit_access(operand, space_of(op), 16)
    b.element_bytes = 16
    b.emit_code(NARROW, a=TRUE, e=-1)


@rule("movmatrix")
def _movmatrix(b: UopBuilder, op: Operation) -> None:
    source = b.source(op, 1, WORD)
    d = b.destination(op, 0, WORD)
    b.emit_code(codes.MATRIX_MOVE, d.row, source)
    d.finish()


@dataclass
class _Tile:
    """The fragment of a `wmma` matrix in memory: offsets of elements as (multiple of the stride, bytes) and by lane."""

    b: UopBuilder
    op: Operation
    address: Operand
    stride: Operand | None
    bits: int
    contiguous: bool  # along the direction in which a register's elements follow each other
    natural: int  # the stride, in elements, where none is given

    def __post_init__(self) -> None:
        b = self.b
        self.space = space_of(self.op)
        self.where = b.address(self.address, self.space)
        lane = b.special_row(codes.LANEID)
        group = b.compute("shr_u32", lane, b.constant(2))
        member = b.compute("and_u32", lane, b.constant(3))
        if self.stride is None:
            self.pitch = b.constant(self.natural * self.bits // 8)
        else:
            elements = b.value(self.stride, TYPES["u32"])
            self.pitch = b.compute(
                "shr_u32", b.compute("mul_u32", elements, b.constant(self.bits)), b.constant(3)
            )
        across, along = (group, member) if self.contiguous else (member, group)
        step = self.step if not self.contiguous else 1
        size = self.bits * (self.step if self.contiguous else 1) // 8
        pitches = b.compute("mul_u32", across, b.constant(step))
        self.lanes = b.compute("mad_u32", along, b.constant(size), b.compute("mul_u32", pitches, self.pitch))
        self.rows = {0: self.lanes}

    step: int = 1  # elements between two members of a group

    def access(self, along: int, across: int, n_bytes: int) -> None:
        """Check the access of an element: `along` elements on, `across` strides on."""
        if across not in self.rows:
            self.rows[across] = self.b.compute("mad_u32", self.pitch, self.b.constant(across), self.lanes)
        self.b.emit_address(self.where, self.space, n_bytes, self.rows[across], along * self.bits // 8)

    def note(self, n_bytes: int) -> None:
        """What the timing model sees: the first element's address, and a lane's bytes."""
        self.b.access_bytes, self.b.element_bytes = min(n_bytes, 16), min(n_bytes, 4)


def _places(op: Operation, which: str) -> tuple[int, int, bool, list[list[tuple[int, int]]], int, int]:
    """The registers' elements as (along, across): the direction of a register's elements, and the other one.

    Also the bits of an element, elements of a step, whether rows are what `along` follows, the natural stride.
    """
    m, n, k = _shape(op)
    bits = _BITS[op.match.type]
    per_register = max(32 // bits, 1)
    registers: list[list[tuple[int, int]]] = []
    if which in "ab":
        extent = m if which == "a" else n
        steps = k // (4 * per_register)
        for first in range(steps if which == "a" else extent // 8):
            for second in range(extent // 8 if which == "a" else steps):
                step, block = (first, second) if which == "a" else (second, first)
                registers.append([(4 * per_register * step + j, 8 * block) for j in range(per_register)])
        by_rows = which == "a"
        step_elements = per_register
    else:
        flat = [(8 * (i // (m // 4)) + i % 2, 8 * (i // 2 % (m // 8))) for i in range(m * n // 32)]
        registers = [flat[i : i + per_register] for i in range(0, len(flat), per_register)]
        by_rows, step_elements = True, 2
    row_length = {"a": k, "b": n, "c": n}[which]
    column_length = {"a": m, "b": k, "c": m}[which]
    natural = row_length if op.has("row") else column_length
    return bits, step_elements, by_rows, registers, natural, per_register


def _tile(
    b: UopBuilder, op: Operation, which: str, address: Operand, stride: Operand | None
) -> tuple[_Tile, list[list[tuple[int, int]]]]:
    bits, step, by_rows, registers, natural, _ = _places(op, which)
    contiguous = op.has("row") == by_rows
    return _Tile(b, op, address, stride, bits, contiguous, natural, step), registers


@rule("wmma_load")
def _wmma_load(b: UopBuilder, op: Operation) -> None:
    which = op.match.form.base[-1]
    items = _items(op.operands[0])
    tile, registers = _tile(b, op, which, op.operands[1], op.operands[2] if len(op.operands) > 2 else None)
    type_ = LONG if tile.bits == 64 else WORD
    loaded: list[int] = [0] * len(registers)
    for r in reversed(
        range(len(registers))
    ):  # the first one last: its addresses are what the timing model sees
        loaded[r] = _load_register(b, tile, registers[r])
    tile.note(4 * len(registers))
    places = [b.place(item, type_) for item in items]
    for r, place in enumerate(places):
        b.emit("mov_u64" if tile.bits == 64 else "mov_u32", place.row, loaded[r % len(loaded)])
        place.finish()


def _load_register(b: UopBuilder, tile: _Tile, elements: list[tuple[int, int]]) -> int:
    """The row of a register's elements."""
    if tile.bits == 64:
        tile.access(*_oriented(tile, elements[0]), 8)
        return b.emit_code(LOAD_64, b.temporary(64))
    if tile.contiguous or len(elements) == 1:
        tile.access(*_oriented(tile, elements[0]), 4)
        return b.emit_code(LOAD_32, b.temporary())
    if tile.bits < 8:
        unsupported("elements of less than a byte across their layout")
    code = codes.LOAD_U16 if tile.bits == 16 else codes.LOAD_U8
    value = b.constant(0)
    for j in reversed(range(len(elements))):
        tile.access(*_oriented(tile, elements[j]), tile.bits // 8)
        part = b.emit_code(code, b.temporary())
        value = b.compute("or_u32", b.compute("shl_u32", value, b.constant(tile.bits)), part)
    return value


def _oriented(tile: _Tile, element: tuple[int, int]) -> tuple[int, int]:
    """(elements on, strides on) of an element's (along, across)."""
    along, across = element
    return (along, across) if tile.contiguous else (across, along)


@rule("wmma_store")
def _wmma_store(b: UopBuilder, op: Operation) -> None:
    values = [b.value(item, LONG if op.type.bits == 64 else WORD) for item in _items(op.operands[1])]
    tile, registers = _tile(b, op, "c", op.operands[0], op.operands[2] if len(op.operands) > 2 else None)
    for r in reversed(range(len(registers))):
        elements, row = registers[r], values[r]
        if tile.bits == 64:
            tile.access(*_oriented(tile, elements[0]), 8)
            b.emit_code(STORE_64, a=row)
        elif tile.contiguous or len(elements) == 1:
            tile.access(*_oriented(tile, elements[0]), 4)
            b.emit_code(STORE_32, a=row)
        else:
            high = b.compute("high16_u32", row)
            for j in (1, 0):
                tile.access(*_oriented(tile, elements[j]), 2)
                b.emit_code(codes.STORE_16, a=high if j else row)
    tile.note(4 * len(registers))
