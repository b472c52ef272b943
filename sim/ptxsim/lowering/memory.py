"""Loads, stores and atomics.

Loads of 8 and 16 bits extend to the destination's width by the sign of the type; stores take the low bits.
"""

from ptxsim.lowering.builder import WORD, Builder, Operation, load_code, rule, store_code, unsupported
from ptxsim.program import CONST, GENERIC, GLOBAL, LOCAL, PARAM, SHARED
from ptxsim.semantics import codes
from ptxsim.semantics.codes import ATOMIC32, ATOMIC64
from ptxtool.ir.nodes import Name, Operand, Vector
from ptxtool.isa.types import Type

_SPACES = {"global": GLOBAL, "shared": SHARED, "local": LOCAL, "const": CONST, "param": PARAM}
_PAIRS = {"bb64": 2, "ff64": 2, "bb128": 4}


def space_of(op: Operation) -> int:
    """The space a `.global`, `.shared`, ... modifier names; GENERIC without one."""
    for name in op.instruction.opcode.modifiers:
        if name == "shared::cluster":
            unsupported("clusters of CTAs are not simulated")
        space = _SPACES.get(name.partition("::")[0].partition("[")[0])
        if space is not None:
            return space
    return GENERIC


def _elements(b: Builder, operand: Operand, count: int) -> tuple[Operand, ...]:
    """The registers of a vector operand: in braces, a vector register's components, or the one register."""
    if isinstance(operand, Vector):
        items = operand.items
    else:
        register = b.register(operand.text) if isinstance(operand, Name) else None
        if count > 1 and register is not None and register.vector == count and isinstance(operand, Name):
            items = tuple(Name(operand.text, part) for part in "xyzw"[:count])
        else:
            items = (operand,)
    if len(items) != count:
        unsupported(f"{len(items)} registers for {count} values")
    return items


def _shape(b: Builder, op: Operation, operand: Operand) -> tuple[Type, tuple[Operand, ...]]:
    """Element type and registers of a load or store."""
    vector = op.match.one_of("v2", "v4", "v8")
    count = int(vector[1:]) if vector else 1
    if op.type.name in _PAIRS and isinstance(operand, Vector):
        return WORD, _elements(b, operand, count * _PAIRS[op.type.name])
    return op.type, _elements(b, operand, count)


def _frame_or(b: Builder, op: Operation, address: Operand) -> int:
    """The space of a load or store: parameters of functions and of calls lie in local memory."""
    space = space_of(op)
    if space == PARAM and ("param::func" in op.instruction.opcode.modifiers or b.is_in_frame(address)):
        b.is_passing = True
        return LOCAL
    return space


@rule("ld")
def _ld(b: Builder, op: Operation) -> None:
    type_, items = _shape(b, op, op.operands[0])
    load_vector(b, op.operands[1], _frame_or(b, op, op.operands[1]), type_, items)


@rule("st")
def _st(b: Builder, op: Operation) -> None:
    type_, items = _shape(b, op, op.operands[1])
    space = _frame_or(b, op, op.operands[0])
    if space in (CONST, PARAM):
        unsupported("a store to this state space")
    store_vector(b, op.operands[0], space, type_, items)


def load_vector(b: Builder, operand: Operand, space: int, type_: Type, items: tuple[Operand, ...]) -> None:
    """Load consecutive elements into registers."""
    if type_.bits == 128:
        unsupported("128-bit values")
    address = b.emit_access(operand, space, type_.bytes * len(items))
    b.element_bytes = type_.bytes
    for k, item in enumerate(items):
        _load_into(b, item, type_, k * type_.bytes)
    b.finish_access(address)


def _load_into(b: Builder, item: Operand, type_: Type, offset: int) -> None:
    """One element: straight into a register that holds it as it is, otherwise by way of a temporary row."""
    code = load_code(type_)
    register = b.register(item.text) if isinstance(item, Name) else None
    if register is not None and not register.role and not register.is_predicate and isinstance(item, Name):
        whole = item.part not in ("lo", "hi")
        bits, row = b.row_of(register, item.part)
        width = 64 if bits == 64 else register.bits // register.vector
        clean = type_.bits >= 32 or not type_.is_signed or width == 32
        if whole and (bits == 64) == (type_.bits == 64) and clean:
            b.emit_code(code, row, e=offset)
            return
        if whole and bits == 64:
            narrow = b.emit_code(code, b.temporary(), e=offset)
            b.emit("sext_u64" if type_.is_signed else "zext_u64", row, narrow)
            return
    d = b.place(item, type_)
    b.emit_code(code, d.row, e=offset)
    d.finish()


def store_vector(b: Builder, operand: Operand, space: int, type_: Type, items: tuple[Operand, ...]) -> None:
    """Store registers as consecutive elements."""
    if type_.bits == 128:
        unsupported("128-bit values")
    rows = [_stored(b, item, type_) for item in items]
    address = b.emit_access(operand, space, type_.bytes * len(items))
    b.element_bytes = type_.bytes
    for k, row in enumerate(rows):
        b.emit_code(store_code(type_), a=row, e=k * type_.bytes)
    b.finish_access(address)


def _stored(b: Builder, item: Operand, type_: Type) -> int:
    """The row of a value to store; upper bits do not matter."""
    register = b.register(item.text) if isinstance(item, Name) else None
    if register is not None and not register.role and not register.is_predicate and isinstance(item, Name):
        bits, row = b.row_of(register, item.part)
        if bits == 32 and type_.bits <= 32 and item.part not in ("lo", "hi"):
            return row
    return b.value(item, type_)


@rule("atom")
def _atom(b: Builder, op: Operation) -> None:
    _atomic(b, op, op.operands[0], op.operands[1], op.operands[2:])


@rule("red")
def _red(b: Builder, op: Operation) -> None:
    _atomic(b, op, None, op.operands[0], op.operands[1:])


def _atomic(
    b: Builder, op: Operation, target: Operand | None, address: Operand, values: tuple[Operand, ...]
) -> None:
    type_ = op.type
    name = op.match.one_of(*codes.ATOMICS)
    if op.match.one_of("v2", "v4", "v8") or type_.bits not in (32, 64) or type_.name.endswith("x2"):
        unsupported(f"an atomic of type '.{type_.name}'")
    if type_.is_float and name not in ("add", "min", "max", "exch"):
        unsupported(f"'.{name}' of floating-point values")
    kind = codes.FLOAT if type_.is_float else codes.SIGNED if type_.is_signed else codes.UNSIGNED
    rows = [b.value(value, type_) for value in values[: 2 if name == "cas" else 1]]
    d = b.place(target, type_) if target is not None else None
    row = b.temporary(64 if type_.bits == 64 else 32) if d is None else d.row
    place = b.emit_access(address, space_of(op), type_.bytes)
    b.element_bytes = type_.bytes
    code = ATOMIC64 if type_.bits == 64 else ATOMIC32
    b.emit_code(code, row, rows[0], rows[-1], codes.ATOMICS[name] | kind << 8)
    if d is not None:
        d.finish()
    b.finish_access(place)
