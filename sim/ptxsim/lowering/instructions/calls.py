"""Calls of functions, their results, and the stack.

A call writes its arguments to the callee's frame, which begins where the caller's ends, moves the frame row up and
enters; after it, when all lanes have returned, the row moves down and the results are read from the callee's frame.
Arguments for `.reg` parameters go straight to the callee's registers. A call that may lead back to its own function
puts the caller's live registers aside first, one that may lead to an `alloca` what that has taken so far.

A call through a register compares the address with those of the functions it may reach; the lanes of each target enter
together. What the simulator has itself (`vprintf` and the like) is in lowering/instructions/host.py.

`alloca` takes local memory above all frames; what a function takes is free again after its call.

Reference: NVIDIA, "Parallel Thread Execution ISA", sections 7.1 to 7.3 (ABI, variadic functions, alloca), 9.7.12.
"""

from collections.abc import Iterable

from ptxsim.base.program import LOCAL
from ptxsim.execute.codes import (
    ACCESS32,
    CHECK_STACK,
    CHECK_TARGET,
    COPY_LOCAL,
    RESTORE_32,
    RESTORE_64,
    RESTORE_P,
    SAVE_32,
    SAVE_64,
    SAVE_P,
    TARGET,
)
from ptxsim.lowering.addresses import load_code, store_code
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.callgraph import BUILTINS, Call, parts
from ptxsim.lowering.frames import Formals, FrameVariable
from ptxsim.lowering.instructions.host import builtin
from ptxsim.lowering.rows import COPY_TABLE, NOT_TABLE, WORD, Operation, unsupported
from ptxsim.lowering.variable_layout import CallFrame
from ptxtool.base.bits import indices
from ptxtool.ir.nodes import Function, Immediate, Name, Operand
from ptxtool.isa.literals import literal
from ptxtool.isa.types import TYPES, Type

_SAVE = {32: (SAVE_32, RESTORE_32), 64: (SAVE_64, RESTORE_64), 1: (SAVE_P, RESTORE_P)}
_DEFAULT_ALIGNMENT = 8
"""Of what `alloca` gives."""


@rule("call")
def _call(b: UopBuilder, op: Operation) -> None:
    call = parts(op.instruction)
    if call is None:
        unsupported("this form of a call")
    targets = b.graph.targets[b.kernel.name, op.index]
    if isinstance(call.target, Name) and b.register(call.target.text) is None and not targets:
        name = call.target.text
        if name not in BUILTINS:
            what = "only declared" if name in b.kernel.module.functions else "not in the file"
            unsupported(f"function '{name}' is {what}")
        builtin(b, call)
        return
    formals = _formals(b, call, targets)
    if len(formals.params) != len(call.arguments) or len(formals.returns) != len(call.results):
        unsupported("arguments or results that do not fit the function")
    caller_bytes = b.graph.frame_bytes(b.kernel)
    recursive = b.graph.returns_to(b.kernel, targets)
    if recursive:
        needed = caller_bytes + max(b.graph.frame_bytes(t) for t in targets)
        b.emit_code(CHECK_STACK, a=b.shared_row("frame"), c=b.graph.frame_end, e=needed)
    first = len(b.uops)
    registers = _arguments(b, call, formals, caller_bytes)
    saved = list(_saved_rows(b, op.index)) if recursive else []
    if b.graph.may_allocate(targets):
        saved.append((32, b.shared_row("grown"), 1))
    for bits, row, count in saved:
        b.emit_code(_SAVE[bits][0], row, e=count)
    for target in targets:
        _fill_registers(b.family[target.name], registers)
    if isinstance(call.target, Name) and b.register(call.target.text) is None:
        b.invoked = b.graph.starts[targets[0].name]
    else:
        b.invoked = -1
        _choose(b, call.target, targets)
    frame = b.shared_row("frame")
    b.emit("add_u32", frame, frame, b.constant(caller_bytes))
    b.return_start = len(b.uops)
    for bits, row, count in reversed(saved):
        b.emit_code(_SAVE[bits][1], row, e=count)
    b.emit("sub_u32", frame, frame, b.constant(caller_bytes))
    for operand, place in zip(call.results, formals.returns, strict=True):
        _take_result(b, operand, place, caller_bytes)
    b.calls[b.start + op.index] = CallFrame(
        caller_bytes,
        max((b.graph.frame_bytes(t) for t in targets), default=formals.size),
        _copies(b, first, b.return_start),
        _copies(b, b.return_start, len(b.uops)),
        () if recursive else tuple(t.name for t in targets),
    )


def _copies(b: UopBuilder, first: int, last: int) -> tuple[tuple[int, int, int], ...]:
    """What micro-operations copy within the stack: to, from, bytes."""
    return tuple((to, of, size) for op, to, _, of, _, size in b.uops[first:last] if op == COPY_LOCAL)


def _formals(b: UopBuilder, call: Call, targets: tuple[Function, ...]) -> Formals:
    """What the target takes, or what the prototype says."""
    if targets:
        return b.graph.formals(targets[0])
    expected, _ = b.graph.expected(b.kernel, call)
    if expected is None:
        unsupported("no function of the file that this can reach")
    return expected


def _choose(b: UopBuilder, target: Operand, targets: tuple[Function, ...]) -> None:
    """The first instruction of each lane's function; a fault where there is none."""
    address = b.value(target, TYPES["u32"])
    zero = b.constant(0)
    b.emit_code(TARGET, a=zero, b=zero, e=-1)
    for function in targets:
        symbol = b.layout.symbols[function.name]
        b.emit_code(TARGET, a=address, b=b.constant(symbol.address), e=b.graph.starts[function.name])
    b.emit_code(CHECK_TARGET)


# ---- arguments and results


def _access(b: UopBuilder, offset: int, n_bytes: int) -> None:
    """The address of what lies in the executing function's frame, or beyond it."""
    b.emit_code(ACCESS32, 0, b.shared_row("frame"), b.constant(0), LOCAL | n_bytes << 8, offset)


def _type_of(place: FrameVariable) -> Type:
    return WORD if place.type == "pred" else TYPES[place.type]


def _arguments(
    b: UopBuilder, call: Call, formals: Formals, caller_bytes: int
) -> list[tuple[FrameVariable, int]]:
    """Write arguments to the callee's frame; those for registers as rows, of the file of their type."""
    rows: list[tuple[FrameVariable, int]] = []
    for operand, place in zip(call.arguments, formals.params, strict=True):
        source = b.place_in_frame(operand.text) if isinstance(operand, Name) else None
        is_variable = source is not None and isinstance(operand, Name) and b.register(operand.text) is None
        if place.is_register:
            rows.append(
                (place, _loaded(b, source, place) if is_variable and source else _copied(b, operand, place))
            )
        elif is_variable and source:
            size = min(place.size, source.size)
            b.emit_code(COPY_LOCAL, caller_bytes + place.offset, b.shared_row("frame"), source.offset, e=size)
        else:
            type_ = _type_of(place)
            row = b.value(operand, type_)
            _access(b, caller_bytes + place.offset, type_.bytes)
            b.emit_code(store_code(type_), a=row)
    return rows


def _loaded(b: UopBuilder, source: FrameVariable, place: FrameVariable) -> int:
    """The value of a `.param` variable, for a parameter in a register."""
    type_ = _type_of(place)
    _access(b, source.offset, type_.bytes)
    return b.emit_code(load_code(type_), b.temporary(64 if type_.bits == 64 else 32))


def _copied(b: UopBuilder, operand: Operand, place: FrameVariable) -> int:
    """The value of a register or constant, in a row that nothing else changes before the callee's is written."""
    if place.type == "pred":
        return b.combine(COPY_TABLE, b.predicate(operand))
    type_ = _type_of(place)
    return b.compute("mov_u64" if type_.bits == 64 else "mov_u32", b.value(operand, type_))


def _fill_registers(callee: UopBuilder, rows: Iterable[tuple[FrameVariable, int]]) -> None:
    """Write the parameters that are registers of the callee."""
    names = [d.name for p in callee.kernel.params if p.space == "reg" for d in p.declarators]
    for name, (_, row) in zip(names, rows, strict=True):
        register = callee.registers.in_head(name)
        if register is None:
            unsupported(f"parameter '{name}'")
        bits, first = callee.row_of(register)
        if bits == 1:
            callee.combine(COPY_TABLE, row, d=first)
        else:
            callee.emit(f"mov_u{bits}", first, row)


def _take_result(b: UopBuilder, operand: Operand, place: FrameVariable, caller_bytes: int) -> None:
    """Move a result from the callee's frame to where the call wants it."""
    if isinstance(operand, Name) and operand.text == "_":
        return
    target = b.place_in_frame(operand.text) if isinstance(operand, Name) else None
    if target is not None and isinstance(operand, Name) and b.register(operand.text) is None:
        size = min(place.size, target.size)
        b.emit_code(COPY_LOCAL, target.offset, b.shared_row("frame"), caller_bytes + place.offset, e=size)
        return
    type_ = _type_of(place)
    _access(b, caller_bytes + place.offset, type_.bytes)
    if place.type == "pred":
        row = b.emit_code(load_code(type_), b.temporary())
        b.combine(NOT_TABLE, b.compute("eq_u32", row, b.constant(0)), d=b.predicate_destination(operand))
        return
    d = b.place(operand, type_)
    b.emit_code(load_code(type_), d.row)
    d.finish()


def _saved_rows(b: UopBuilder, index: int) -> Iterable[tuple[int, int, int]]:
    """File, first row and number of the rows to keep during a call: those of the registers that are live after it."""
    live = b.live.after_bits[index]
    rows: list[tuple[int, int]] = []
    for r in indices(live):
        bits, first, count = b.register_rows[r]
        rows += ((bits, row) for row in range(first, first + count))
    if b.carry_row >= 0:
        rows.append((1, b.carry_row))
    rows.sort()
    start = 0
    for k in range(1, len(rows) + 1):
        if k == len(rows) or rows[k] != (rows[k - 1][0], rows[k - 1][1] + 1):
            yield rows[start][0], rows[start][1], k - start
            start = k


@rule("ret")
def _ret(b: UopBuilder, op: Operation) -> None:
    leave_results(b)


def leave_results(b: UopBuilder) -> None:
    """Put the results that a function has in registers where its caller reads them."""
    if b.is_kernel:
        return
    for place in b.graph.formals(b.kernel).returns:
        if not place.is_register:
            continue
        register = b.registers.in_head(place.name)
        if register is None:
            unsupported(f"result '{place.name}'")
        bits, row = b.row_of(register)
        if bits == 1:
            row = b.compute("sel_u32", b.constant(1), b.constant(0), row)
        type_ = _type_of(place)
        _access(b, place.offset, type_.bytes)
        b.emit_code(store_code(type_), a=row)


# ---- alloca


@rule("alloca")
def _alloca(b: UopBuilder, op: Operation) -> None:
    """Local memory above all frames, from the first multiple of the alignment on."""
    end = b.graph.frame_end
    alignment = _DEFAULT_ALIGNMENT
    if len(op.operands) > 2 and isinstance(op.operands[2], Immediate):
        alignment = literal(op.operands[2].text).payload
    size = b.value(op.operands[1], TYPES["u32"])
    grown = b.shared_row("grown")
    start = b.compute("add_u32", grown, b.constant(end + alignment - 1))
    start = b.compute("and_u32", start, b.constant(-alignment))
    after = b.compute("sub_u32", b.compute("add_u32", start, size), b.constant(end))
    b.emit_code(CHECK_STACK, a=after, c=b.graph.local_bytes - end, e=0)
    b.emit("mov_u32", grown, after)
    _give(b, op, start)


@rule("stacksave")
def _stacksave(b: UopBuilder, op: Operation) -> None:
    _give(b, op, b.compute("add_u32", b.shared_row("grown"), b.constant(b.graph.frame_end)))


@rule("stackrestore")
def _stackrestore(b: UopBuilder, op: Operation) -> None:
    b.emit(
        "sub_u32", b.shared_row("grown"), b.value(op.operands[0], TYPES["u32"]), b.constant(b.graph.frame_end)
    )


def _give(b: UopBuilder, op: Operation, address: int) -> None:
    b.destination(op).write("zext_u64" if op.type.bits == 64 else "mov_u32", address)
