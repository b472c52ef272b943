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
from ptxsim.execute import codes
from ptxsim.lowering.addresses import load_code, store_code
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.callgraph import BUILTINS, Call, parts
from ptxsim.lowering.frames import Formals, FrameVariable
from ptxsim.lowering.instructions.host import builtin
from ptxsim.lowering.rows import WORD, Operation, row_bits, unsupported
from ptxsim.lowering.variable_layout import CallFrame
from ptxtool.base.bits import indices
from ptxtool.ir.nodes import Function, Immediate, Name, Operand
from ptxtool.isa.literals import literal
from ptxtool.isa.types import TYPES, Type

_SAVE = {32: codes.SAVE_32, 64: codes.SAVE_64, 1: codes.SAVE_P}
_RESTORE = {32: codes.RESTORE_32, 64: codes.RESTORE_64, 1: codes.RESTORE_P}
_DEFAULT_ALIGNMENT = 8
"""Of what `alloca` gives."""


@rule("call")
def _call(builder: UopBuilder, op: Operation) -> None:
    call = parts(op.instruction)
    if call is None:
        unsupported("this form of a call")
    targets = builder.graph.targets[builder.kernel.name, op.index]
    if isinstance(call.target, Name) and builder.register(call.target.text) is None and not targets:
        name = call.target.text
        if name not in BUILTINS:
            what = "only declared" if name in builder.kernel.module.functions else "not in the file"
            unsupported(f"function '{name}' is {what}")
        builtin(builder, call)
        return
    formals = _formals(builder, call, targets)
    if len(formals.params) != len(call.arguments) or len(formals.returns) != len(call.results):
        unsupported("arguments or results that do not fit the function")
    caller_bytes = builder.graph.frame_bytes(builder.kernel)
    recursive = builder.graph.returns_to(builder.kernel, targets)
    if recursive:
        needed = caller_bytes + max(builder.graph.frame_bytes(t) for t in targets)
        builder.emit(codes.CHECK_STACK, a=builder.shared_row("frame"), c=builder.graph.frame_end, e=needed)
    first = len(builder.uops)
    registers = _arguments(builder, call, formals, caller_bytes)
    saved = list(_saved_rows(builder, op.index)) if recursive else []
    if builder.graph.may_allocate(targets):
        saved.append((32, builder.shared_row("grown"), 1))
    for bits, row, count in saved:
        builder.emit(_SAVE[bits], row, e=count)
    for target in targets:
        _fill_registers(builder.family[target.name], registers)
    if isinstance(call.target, Name) and builder.register(call.target.text) is None:
        builder.invoked = builder.graph.starts[targets[0].name]
    else:
        builder.invoked = -1
        _choose(builder, call.target, targets)
    frame = builder.shared_row("frame")
    builder.emit("add_u32", frame, frame, builder.constant(caller_bytes))
    builder.return_start = len(builder.uops)
    for bits, row, count in reversed(saved):
        builder.emit(_RESTORE[bits], row, e=count)
    builder.emit("sub_u32", frame, frame, builder.constant(caller_bytes))
    for operand, place in zip(call.results, formals.returns, strict=True):
        _take_result(builder, operand, place, caller_bytes)
    builder.calls[builder.start + op.index] = CallFrame(
        caller_bytes,
        max((builder.graph.frame_bytes(t) for t in targets), default=formals.size),
        _copies(builder, first, builder.return_start),
        _copies(builder, builder.return_start, len(builder.uops)),
        () if recursive else tuple(t.name for t in targets),
    )


def _copies(builder: UopBuilder, first: int, last: int) -> tuple[tuple[int, int, int], ...]:
    """What micro-operations copy within the stack: to, from, bytes."""
    return tuple(
        (to, of, size) for op, to, _, of, _, size in builder.uops[first:last] if op == codes.COPY_LOCAL
    )


def _formals(builder: UopBuilder, call: Call, targets: tuple[Function, ...]) -> Formals:
    """What the target takes, or what the prototype says."""
    if targets:
        return builder.graph.formals(targets[0])
    expected, _ = builder.graph.expected(builder.kernel, call)
    if expected is None:
        unsupported("no function of the file that this can reach")
    return expected


def _choose(builder: UopBuilder, target: Operand, targets: tuple[Function, ...]) -> None:
    """The first instruction of each lane's function; a fault where there is none."""
    address = builder.value(target, TYPES["u32"])
    zero = builder.constant(0)
    builder.emit(codes.TARGET, a=zero, b=zero, e=-1)
    for function in targets:
        symbol = builder.layout.symbols[function.name]
        builder.emit(
            codes.TARGET, a=address, b=builder.constant(symbol.address), e=builder.graph.starts[function.name]
        )
    builder.emit(codes.CHECK_TARGET, c=0)


# ---- arguments and results


def _access(builder: UopBuilder, offset: int, n_bytes: int) -> None:
    """The address of what lies in the executing function's frame, or beyond it."""
    builder.emit(
        codes.ACCESS32, 0, builder.shared_row("frame"), builder.constant(0), LOCAL | n_bytes << 8, offset
    )


def _type_of(place: FrameVariable) -> Type:
    return WORD if place.type == "pred" else TYPES[place.type]


def _arguments(
    builder: UopBuilder, call: Call, formals: Formals, caller_bytes: int
) -> list[tuple[FrameVariable, int]]:
    """Write arguments to the callee's frame; those for registers as rows, of the file of their type."""
    rows: list[tuple[FrameVariable, int]] = []
    for operand, place in zip(call.arguments, formals.params, strict=True):
        source = builder.variable_of(operand)
        if place.is_register:
            rows.append(
                (place, _loaded(builder, source, place) if source else _copied(builder, operand, place))
            )
        elif source:
            size = min(place.size, source.size)
            builder.emit(
                codes.COPY_LOCAL,
                caller_bytes + place.offset,
                builder.shared_row("frame"),
                source.offset,
                e=size,
            )
        else:
            type_ = _type_of(place)
            row = builder.value(operand, type_)
            _access(builder, caller_bytes + place.offset, type_.bytes)
            builder.emit(store_code(type_), a=row)
    return rows


def _loaded(builder: UopBuilder, source: FrameVariable, place: FrameVariable) -> int:
    """The value of a `.param` variable, for a parameter in a register."""
    type_ = _type_of(place)
    _access(builder, source.offset, type_.bytes)
    return builder.emit(load_code(type_), builder.temporary(row_bits(type_)))


def _copied(builder: UopBuilder, operand: Operand, place: FrameVariable) -> int:
    """The value of a register or constant, in a row that nothing else changes before the callee's is written."""
    if place.type == "pred":
        return builder.combine("copy", builder.predicate(operand))
    type_ = _type_of(place)
    return builder.compute(f"mov_u{row_bits(type_)}", builder.value(operand, type_))


def _fill_registers(callee: UopBuilder, rows: Iterable[tuple[FrameVariable, int]]) -> None:
    """Write the parameters that are registers of the callee."""
    names = [d.name for p in callee.kernel.params if p.space == "reg" for d in p.declarators]
    for name, (_, row) in zip(names, rows, strict=True):
        register = callee.registers.in_head(name)
        if register is None:
            unsupported(f"parameter '{name}'")
        bits, first = callee.row_of(register)
        if bits == 1:
            callee.combine("copy", row, d=first)
        else:
            callee.emit(f"mov_u{bits}", first, row)


def _take_result(builder: UopBuilder, operand: Operand, place: FrameVariable, caller_bytes: int) -> None:
    """Move a result from the callee's frame to where the call wants it."""
    if isinstance(operand, Name) and operand.text == "_":
        return
    target = builder.variable_of(operand)
    if target is not None:
        size = min(place.size, target.size)
        builder.emit(
            codes.COPY_LOCAL, target.offset, builder.shared_row("frame"), caller_bytes + place.offset, e=size
        )
        return
    type_ = _type_of(place)
    _access(builder, caller_bytes + place.offset, type_.bytes)
    if place.type == "pred":
        row = builder.emit(load_code(type_), builder.temporary())
        builder.combine(
            "not",
            builder.compute("eq_u32", row, builder.constant(0)),
            d=builder.predicate_destination(operand),
        )
        return
    builder.place(operand, type_).write(load_code(type_))


def _saved_rows(builder: UopBuilder, index: int) -> Iterable[tuple[int, int, int]]:
    """File, first row and number of the rows to keep during a call: those of the registers that are live after it."""
    live = builder.live.after_bits[index]
    rows: list[tuple[int, int]] = []
    for r in indices(live):
        bits, first, count = builder.register_rows[r]
        rows += ((bits, row) for row in range(first, first + count))
    if builder.carry_row >= 0:
        rows.append((1, builder.carry_row))
    rows.sort()
    start = 0
    for k in range(1, len(rows) + 1):
        if k == len(rows) or rows[k] != (rows[k - 1][0], rows[k - 1][1] + 1):
            yield rows[start][0], rows[start][1], k - start
            start = k


@rule("ret")
def _ret(builder: UopBuilder, op: Operation) -> None:
    leave_results(builder)


def leave_results(builder: UopBuilder) -> None:
    """Put the results that a function has in registers where its caller reads them."""
    if builder.is_kernel:
        return
    for place in builder.graph.formals(builder.kernel).returns:
        if not place.is_register:
            continue
        register = builder.registers.in_head(place.name)
        if register is None:
            unsupported(f"result '{place.name}'")
        bits, row = builder.row_of(register)
        if bits == 1:
            row = builder.compute("sel_u32", builder.constant(1), builder.constant(0), row)
        type_ = _type_of(place)
        _access(builder, place.offset, type_.bytes)
        builder.emit(store_code(type_), a=row)


# ---- alloca


@rule("alloca")
def _alloca(builder: UopBuilder, op: Operation) -> None:
    """Local memory above all frames, from the first multiple of the alignment on."""
    end = builder.graph.frame_end
    alignment = _DEFAULT_ALIGNMENT
    if len(op.operands) > 2 and isinstance(op.operands[2], Immediate):
        alignment = literal(op.operands[2].text).payload
    size = builder.value(op.operands[1], TYPES["u32"])
    grown = builder.shared_row("grown")
    start = builder.compute("add_u32", grown, builder.constant(end + alignment - 1))
    start = builder.compute("and_u32", start, builder.constant(-alignment))
    after = builder.compute("sub_u32", builder.compute("add_u32", start, size), builder.constant(end))
    builder.emit(codes.CHECK_STACK, a=after, c=builder.graph.local_bytes - end, e=0)
    builder.emit("mov_u32", grown, after)
    _give(builder, op, start)


@rule("stacksave")
def _stacksave(builder: UopBuilder, op: Operation) -> None:
    _give(
        builder,
        op,
        builder.compute("add_u32", builder.shared_row("grown"), builder.constant(builder.graph.frame_end)),
    )


@rule("stackrestore")
def _stackrestore(builder: UopBuilder, op: Operation) -> None:
    grown = builder.shared_row("grown")
    builder.emit(
        "sub_u32",
        grown,
        builder.value(op.operands[0], TYPES["u32"]),
        builder.constant(builder.graph.frame_end),
    )


def _give(builder: UopBuilder, op: Operation, address: int) -> None:
    builder.destination(op).write("zext_u64" if op.type.bits == 64 else "mov_u32", address)
