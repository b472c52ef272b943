"""Asynchronous copies, asynchronous stores, and mbarriers.

A copy or store is made when it is issued; waiting for copies has no effect on values. The timing model sees a copy as a
load of its group, and waits for groups.
"""

from ptxsim.base.program import GLOBAL, SHARED
from ptxsim.execute import codes
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.memory import elements, reduce_at, space_of, store_vector
from ptxsim.lowering.rows import FALSE, TRUE, Operation, unsupported
from ptxtool.ir.nodes import Dual, Immediate, Memory, Operand
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES

_U32, _U64 = TYPES["u32"], TYPES["u64"]
_STATE_BYTES = 8


@rule("cp_async")
def _cp_async(builder: UopBuilder, op: Operation) -> None:
    """Copy 4, 8 or 16 bytes from global to shared memory; of fewer that are read the rest is zero."""
    to, of, size_operand = op.operands[:3]
    if not isinstance(size_operand, Immediate):
        unsupported("a copy of a size that is no number")
    size = integer(size_operand.text)
    builder.emit_access(to, SHARED, size)
    kept = builder.emit(codes.KEEP, builder.temporary(64))
    names = {spec.name for spec in op.match.form.operands}
    if not names & {"read", "skip"}:
        builder.emit_access(of, GLOBAL, size)
        builder.element_bytes = size
        builder.emit(codes.COPY, 0, kept, builder.constant(size), e=size)
        return
    n_bytes = _bytes_read(builder, op.operands[3], size)
    reads = builder.compute("eq_u32", n_bytes, builder.constant(0), e=1)
    builder.emit(codes.NARROW, a=reads, e=-1)
    # the last byte that is read, then the first: the bytes after them need not exist
    last = builder.compute("sub_u32", n_bytes, builder.constant(1))
    address = builder.address(of, GLOBAL)
    builder.emit_address(address, GLOBAL, 1, last)
    builder.emit_address(address, GLOBAL, 1)
    builder.access_bytes = builder.element_bytes = size
    builder.emit(codes.NARROW, a=TRUE, e=-1)
    builder.emit(codes.COPY, 0, kept, n_bytes, e=size)


def _bytes_read(builder: UopBuilder, operand: Operand, size: int) -> int:
    """The row of how many bytes are read: a number, or none where a predicate says so."""
    register = builder.register_of(operand)
    if isinstance(operand, Immediate) or (register is not None and not register.is_predicate):
        return builder.compute("min_u32", builder.value(operand, _U32), builder.constant(size))
    return builder.compute("sel_u32", builder.constant(0), builder.constant(size), builder.predicate(operand))


@rule("cp_async_commit", "cp_async_wait")
def _cp_async_wait(builder: UopBuilder, op: Operation) -> None:
    """Every copy has been made already: only the timing model waits."""


def _mbarrier(
    builder: UopBuilder, op: Operation, index: int, what: int, count: int, n_bytes: int, d: int | None = None
) -> None:
    """An operation on the mbarrier at the address that is operand `index`, lane after lane; its old state in row d."""
    d = builder.temporary(64) if d is None else d
    _emit_access(builder, op, index)
    builder.emit(codes.MBARRIER, d, count, n_bytes, e=what)


def _emit_access(builder: UopBuilder, op: Operation, index: int) -> None:
    builder.emit_access(op.operands[index], space_of(op), _STATE_BYTES)
    builder.element_bytes = _STATE_BYTES


def operate(builder: UopBuilder, operand: Operand, what: int, value: int, ctas: int | None = None) -> None:
    """An operation at an mbarrier of shared memory, its address generic or not: the window is cut off. With `ctas`, the
    row of a mask, at the same offset in each of these CTAs. `value` is the row of its bytes, or of its arrivals."""
    if not isinstance(operand, Memory) or operand.base is None:
        unsupported("this address of an mbarrier")
    address = builder.address(operand, SHARED)
    base = builder.compute("trunc_u64", address.base) if address.is_long else address.base
    address.base = builder.compute("and_u32", base, builder.constant(codes.WINDOW_BYTES - 1))
    address.is_long = False
    one, zero = builder.constant(1), builder.constant(0)
    count, n_bytes = (one, value) if what & (codes.EXPECT_BYTES | codes.COMPLETE_BYTES) else (value, zero)
    if ctas is not None:
        own = builder.special_row(codes.CLUSTER_CTARANK)
        offset = builder.compute("add_u32", address.base, builder.constant(address.offset))
        builder.emit(codes.MBARRIERS, value, offset, ctas, own, what)
        in_cta = builder.constant((1 << codes.CLUSTER_SHIFT) - 1)
        address.base = builder.compute("and_u32", address.base, in_cta)
        has_own = builder.compute("and_u32", builder.compute("shr_u32", ctas, own), one)
        builder.emit(codes.NARROW, a=builder.compute("eq_u32", has_own, one), e=-1)
    builder.emit_address(address, SHARED, _STATE_BYTES)
    builder.element_bytes = _STATE_BYTES
    builder.emit(codes.MBARRIER, builder.temporary(64), count, n_bytes, e=what)
    if ctas is not None:
        builder.emit(codes.NARROW, a=TRUE, e=-1)


@rule("st_async")
def _st_async(builder: UopBuilder, op: Operation) -> None:
    """A store whose bytes an mbarrier has waited for."""
    vector = op.match.one_of("v2", "v4")
    items = elements(builder, op.operands[1], int(vector[1:]) if vector else 1)
    store_vector(builder, op.operands[0], space_of(op), op.type, items)
    _complete(builder, op, op.type.bytes * len(items))


@rule("red_async")
def _red_async(builder: UopBuilder, op: Operation) -> None:
    """A reduction whose bytes an mbarrier has waited for."""
    reduce_at(builder, op, op.operands[0], op.operands[1:2])
    _complete(builder, op, op.type.bytes)


def _complete(builder: UopBuilder, op: Operation, n_bytes: int) -> None:
    """Tell the mbarrier of the third operand that bytes have come; the timing model sees the access before it."""
    seen = builder.access_bytes, builder.element_bytes
    _mbarrier(builder, op, 2, codes.COMPLETE_BYTES, builder.constant(0), builder.constant(n_bytes))
    builder.access_bytes, builder.element_bytes = seen


@rule("mbarrier_init")
def _mbarrier_init(builder: UopBuilder, op: Operation) -> None:
    layout = builder.constant(int(op.has("layout::v1")))
    _mbarrier(builder, op, 0, codes.INITIALISE, builder.source(op, 1, _U32), layout)


@rule("mbarrier_layout")
def _mbarrier_layout(builder: UopBuilder, op: Operation) -> None:
    """Whether an mbarrier is of a layout."""
    _emit_access(builder, op, 1)
    state = builder.emit(codes.LOAD_64, builder.temporary(64))
    layout = builder.compute("shr_u64", state, builder.constant(codes.LAYOUT_SHIFT))
    wanted = builder.constant(int(op.has("layout::v1")), 64)
    builder.emit("eq_u64", builder.predicate_destination(op.operands[0]), layout, wanted)


@rule("mbarrier_inval")
def _mbarrier_inval(builder: UopBuilder, op: Operation) -> None:
    """The place may hold anything afterwards: an mbarrier that can no longer complete."""
    _mbarrier(builder, op, 0, codes.INITIALISE, builder.constant(0), builder.constant(0))


@rule("mbarrier_bytes")
def _mbarrier_bytes(builder: UopBuilder, op: Operation) -> None:
    what = codes.EXPECT_BYTES if op.match.form.base == "mbarrier.expect_tx" else codes.COMPLETE_BYTES
    if op.has("multicast::cluster::32b"):
        operate(builder, op.operands[0], what, builder.source(op, 1, _U32), builder.source(op, 2, _U32))
        return
    _mbarrier(builder, op, 0, what, builder.constant(0), builder.source(op, 1, _U32))


@rule("mbarrier_arrive")
def _mbarrier_arrive(builder: UopBuilder, op: Operation) -> None:
    what = codes.ARRIVE
    if op.match.form.base == "mbarrier.arrive_drop":
        what |= codes.DROP
    if op.has("noComplete"):
        what |= codes.STAY
    count, n_bytes = builder.constant(1), builder.constant(0)
    if op.has("multicast::cluster::32b"):
        value = builder.source(op, 2, _U32) if len(op.operands) > 3 else count
        what |= codes.EXPECT_BYTES if op.has("expect_tx") else 0
        operate(builder, op.operands[1], what, value, builder.source(op, len(op.operands) - 1, _U32))
        return
    if op.has("expect_tx"):
        what |= codes.EXPECT_BYTES
        n_bytes = builder.source(op, 2, _U32)
    elif len(op.operands) > 2:
        count = builder.source(op, 2, _U32)
    d = builder.place(op.operands[0], _U64)
    _mbarrier(builder, op, 1, what, count, n_bytes, d.row)
    d.finish()


@rule("mbarrier_copies")
def _mbarrier_copies(builder: UopBuilder, op: Operation) -> None:
    """An arrival when all copies of the thread are made: now. Without `.noinc` it is not one of those expected."""
    what = codes.ARRIVE if op.has("noinc") else codes.STAY
    _mbarrier(builder, op, 0, what, builder.constant(1), builder.constant(0))


@rule("mbarrier_test")
def _mbarrier_test(builder: UopBuilder, op: Operation) -> None:
    """Whether the phase of a state, or of a parity, is complete; a time limit is not waited for. No copy reports."""
    names = [spec.name for spec in op.match.form.operands]
    at, by_parity = names.index("mbar"), op.has("parity")
    of = builder.source(op, at + 1, _U32 if by_parity else _U64)
    limit = (
        builder.source(op, names.index("time"), _U32)
        if "time" in names[: len(op.operands)]
        else builder.constant(0)
    )
    done = op.operands[0]
    if isinstance(done, Dual):
        builder.combine("false", FALSE, d=builder.predicate_destination(done.second))
        done = done.first
    _emit_access(builder, op, at)
    builder.emit(codes.MBARRIER_TEST, builder.predicate_destination(done), of, limit, e=int(by_parity))
    if "report" in names:
        builder.place(op.operands[1], TYPES["b8"]).write("mov_u32", builder.constant(0))


@rule("mbarrier_pending")
def _mbarrier_pending(builder: UopBuilder, op: Operation) -> None:
    d = builder.destination(op, 0, _U32)
    state = builder.compute("trunc_u64", builder.source(op, 1, _U64))
    d.write("and_u32", state, builder.constant((1 << codes.PENDING_BITS) - 1))
