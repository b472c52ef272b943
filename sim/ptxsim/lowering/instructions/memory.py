"""Loads, stores and atomics.

Loads of 8 and 16 bits extend to the destination's width by the sign of the type; stores take the low bits.
"""

from ptxsim.base.program import CONST, GENERIC, GLOBAL, LOCAL, PARAM, SHARED
from ptxsim.execute import codes
from ptxsim.lowering.addresses import load_code, store_code
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.packed import element_type, is_packed, merge, split
from ptxsim.lowering.rows import LONG, WORD, Operation, extension, row_bits, unsupported
from ptxtool.ir.nodes import Name, Operand, Vector
from ptxtool.isa.types import Type

_SPACES = {"global": GLOBAL, "shared": SHARED, "local": LOCAL, "const": CONST, "param": PARAM}
_PAIRS = {"bb64": 2, "ff64": 2, "bb128": 4}


def space_of(op: Operation) -> int:
    """The space a `.global`, `.shared`, ... modifier names; GENERIC without one."""
    for name in op.instruction.opcode.modifiers:
        space = _SPACES.get(name.partition("::")[0].partition("[")[0])
        if space is not None:
            return space
    return GENERIC


def elements(builder: UopBuilder, operand: Operand, count: int) -> tuple[Operand, ...]:
    """The registers of a vector operand: in braces, a vector register's components, or the one register."""
    if isinstance(operand, Vector):
        items = operand.items
    else:
        register = builder.register_of(operand)
        if count > 1 and register is not None and register.vector == count and isinstance(operand, Name):
            items = tuple(Name(operand.text, part) for part in "xyzw"[:count])
        else:
            items = (operand,)
    if len(items) != count:
        unsupported(f"{len(items)} registers for {count} values")
    return items


def _shape(builder: UopBuilder, op: Operation, operand: Operand) -> tuple[Type, tuple[Operand, ...]]:
    """Element type and registers of a load or store."""
    vector = op.match.one_of("v2", "v4", "v8")
    count = int(vector[1:]) if vector else 1
    if op.type.name in _PAIRS and isinstance(operand, Vector):
        return WORD, elements(builder, operand, count * _PAIRS[op.type.name])
    return builder.loaded_type(op.type), elements(builder, operand, count)


def _frame_or(builder: UopBuilder, op: Operation, address: Operand) -> int:
    """The space of a load or store: parameters of functions and of calls lie in local memory."""
    space = space_of(op)
    if space == PARAM and ("param::func" in op.instruction.opcode.modifiers or builder.is_in_frame(address)):
        builder.is_passing = True
        return LOCAL
    return space


@rule("ld")
def _ld(builder: UopBuilder, op: Operation) -> None:
    type_, items = _shape(builder, op, op.operands[0])
    load_vector(builder, op.operands[1], _frame_or(builder, op, op.operands[1]), type_, items)


@rule("st")
def _st(builder: UopBuilder, op: Operation) -> None:
    type_, items = _shape(builder, op, op.operands[1])
    space = _frame_or(builder, op, op.operands[0])
    if space in (CONST, PARAM):
        unsupported("a store to this state space")
    store_vector(builder, op.operands[0], space, type_, items)


def _in_words(
    builder: UopBuilder, type_: Type, items: tuple[Operand, ...]
) -> tuple[Type, tuple[Operand, ...]]:
    """Elements of 128 bits as twice as many of 64."""
    if type_.bits != 128:
        return type_, items
    return LONG, tuple(part for item in items for part in builder.halves(item))


def load_vector(
    builder: UopBuilder, operand: Operand, space: int, type_: Type, items: tuple[Operand, ...]
) -> None:
    """Load consecutive elements into registers."""
    type_, items = _in_words(builder, type_, items)
    address = builder.emit_access(operand, space, type_.bytes * len(items))
    builder.element_bytes = type_.bytes
    for k, item in enumerate(items):
        load_into(builder, item, type_, k * type_.bytes)
    builder.finish_access(address)


def load_into(builder: UopBuilder, item: Operand, type_: Type, offset: int) -> None:
    """One element: straight into a register that holds it as it is, otherwise by way of a temporary row."""
    code = load_code(type_)
    register = builder.register_of(item)
    if register is not None and not register.role and not register.is_predicate and isinstance(item, Name):
        whole = item.part not in ("lo", "hi")
        bits, row = builder.row_of(register, item.part)
        width = 64 if bits == 64 else register.bits // register.vector
        clean = type_.bits >= 32 or not type_.is_signed or width == 32
        if whole and (bits == 64) == (type_.bits == 64) and clean:
            builder.emit(code, row, e=offset)
            return
        if whole and bits == 64:
            narrow = builder.emit(code, builder.temporary(), e=offset)
            builder.emit(extension(type_), row, narrow)
            return
    d = builder.place(item, type_)
    d.write(code, e=offset)


def store_vector(
    builder: UopBuilder, operand: Operand, space: int, type_: Type, items: tuple[Operand, ...]
) -> None:
    """Store registers as consecutive elements."""
    type_, items = _in_words(builder, type_, items)
    rows = [stored(builder, item, type_) for item in items]
    address = builder.emit_access(operand, space, type_.bytes * len(items))
    builder.element_bytes = type_.bytes
    for k, row in enumerate(rows):
        builder.emit(store_code(type_), a=row, e=k * type_.bytes)
    builder.finish_access(address)


def stored(builder: UopBuilder, item: Operand, type_: Type) -> int:
    """The row of a value to store; upper bits do not matter."""
    register = builder.register_of(item)
    if register is not None and not register.role and not register.is_predicate and isinstance(item, Name):
        bits, row = builder.row_of(register, item.part)
        if bits == 32 and type_.bits <= 32 and item.part not in ("lo", "hi"):
            return row
    return builder.value(item, type_)


@rule("atom")
def _atom(builder: UopBuilder, op: Operation) -> None:
    _atomic(builder, op, op.operands[0], op.operands[1], op.operands[2:])


@rule("red")
def _red(builder: UopBuilder, op: Operation) -> None:
    reduce_at(builder, op, op.operands[0], op.operands[1:])


def reduce_at(builder: UopBuilder, op: Operation, address: Operand, values: tuple[Operand, ...]) -> None:
    """An atomic without a result."""
    _atomic(builder, op, None, address, values)


def _atomic(
    builder: UopBuilder, op: Operation, target: Operand | None, address: Operand, values: tuple[Operand, ...]
) -> None:
    """An atomic: one micro-operation for each element of a vector or a packed value."""
    name = op.match.one_of(*codes.ATOMICS)
    type_ = element_type(op.type)
    if type_.is_float and name not in ("add", "min", "max", "exch"):
        unsupported(f"'.{name}' of floating-point values")
    vector = op.match.one_of("v2", "v4", "v8")
    count = int(vector[1:]) if vector else 1
    if type_.bits == 128:
        _atomic128(builder, op, target, address, values)
        return
    kind = codes.FLOAT if type_.is_float else codes.SIGNED if type_.is_signed else codes.UNSIGNED
    kind = codes.BFLOAT if type_.name == "bf16" else kind
    kept = codes.KEEPS_SUBNORMALS if type_.name == "f32" and op.has("noftz") else 0
    operands = values[: 2 if name == "cas" else 1]
    columns = [
        [
            row
            for item in elements(builder, o, count)
            for row in split(builder, builder.value(item, op.type), op.type)
        ]
        for o in operands
    ]
    targets = elements(builder, target, count) if target is not None else ()
    places = [builder.place(item, op.type) for item in targets]
    plain = len(places) == 1 and not is_packed(op.type)
    place = builder.emit_access(address, space_of(op), op.type.bytes * count)
    builder.element_bytes = op.type.bytes
    code = {16: codes.ATOMIC16, 32: codes.ATOMIC32, 64: codes.ATOMIC64}[type_.bits]
    old: list[int] = []
    for k in range(len(columns[0])):
        row = places[0].row if plain else builder.temporary(row_bits(type_))
        rows = [column[k] for column in columns]
        what = codes.ATOMICS[name] | kind << 8 | kept
        old.append(builder.emit(code, row, rows[0], rows[-1], what, k * type_.bytes))
    per = len(old) // count
    for k, d in enumerate(places):
        if plain:
            d.finish()
        else:
            d.write(f"mov_u{row_bits(op.type)}", merge(builder, old[k * per : k * per + per], op.type))
    builder.finish_access(place)


def _atomic128(
    builder: UopBuilder, op: Operation, target: Operand | None, address: Operand, values: tuple[Operand, ...]
) -> None:
    """exch and cas of 128 bits, in pairs of neighbouring rows."""
    name = op.match.one_of(*codes.ATOMICS)
    pairs: list[int] = []
    for value in values[: 2 if name == "cas" else 1]:
        rows = [builder.value(half, LONG) for half in builder.halves(value)]
        pairs.append(builder.new_row(64))
        builder.new_row(64)
        for k, row in enumerate(rows):
            builder.emit("mov_u64", pairs[-1] + k, row)
    old = builder.new_row(64)
    builder.new_row(64)
    place = builder.emit_access(address, space_of(op), op.type.bytes)
    builder.element_bytes = op.type.bytes
    builder.emit(codes.ATOMIC128, old, pairs[0], pairs[-1], codes.ATOMICS[name])
    if target is not None:
        for k, half in enumerate(builder.halves(target)):
            builder.place(half, LONG).write("mov_u64", old + k)
    builder.finish_access(place)


@rule("createpolicy")
def _createpolicy(builder: UopBuilder, op: Operation) -> None:
    """The value is opaque and caches do not look at it: zero."""
    builder.destination(op, 0, LONG).write("mov_u64", builder.constant(0, 64))
