"""Asynchronous copies, asynchronous stores, and mbarriers.

A copy or store is made when it is issued; waiting for copies has no effect on values. The timing model sees a copy as a
load of its group, and waits for groups. What names the shared memory of a cluster is refused; generic addresses and
`.shared::cta` are those of the CTA itself.
"""

from ptxsim.base.program import GLOBAL, SHARED
from ptxsim.execute.codes import (
    ARRIVE,
    COMPLETE_BYTES,
    COPY,
    DROP,
    EXPECT_BYTES,
    INITIALISE,
    KEEP,
    MBARRIER,
    MBARRIER_TEST,
    NARROW,
    PENDING_BITS,
    STAY,
)
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.memory import elements, reduce_at, space_of, store_vector
from ptxsim.lowering.rows import TRUE, Operation, unsupported
from ptxtool.ir.nodes import Immediate, Name, Operand
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES

_U32, _U64 = TYPES["u32"], TYPES["u64"]
_STATE_BYTES = 8


@rule("cp_async")
def _cp_async(b: UopBuilder, op: Operation) -> None:
    """Copy 4, 8 or 16 bytes from global to shared memory; of fewer that are read the rest is zero."""
    to, of, size_operand = op.operands[:3]
    if not isinstance(size_operand, Immediate):
        unsupported("a copy of a size that is no number")
    size = integer(size_operand.text)
    b.emit_access(to, SHARED, size)
    kept = b.emit_code(KEEP, b.temporary(64))
    names = {spec.name for spec in op.match.form.operands}
    if not names & {"read", "skip"}:
        b.emit_access(of, GLOBAL, size)
        b.element_bytes = size
        b.emit_code(COPY, 0, kept, b.constant(size), e=size)
        return
    n_bytes = _bytes_read(b, op.operands[3], size)
    reads = b.compute("eq_u32", n_bytes, b.constant(0), e=1)
    b.emit_code(NARROW, a=reads, e=-1)
    # the last byte that is read, then the first: the bytes after them need not exist
    last = b.compute("sub_u32", n_bytes, b.constant(1))
    address = b.address(of, GLOBAL)
    b.emit_address(address, GLOBAL, 1, last)
    b.emit_address(address, GLOBAL, 1)
    b.access_bytes = b.element_bytes = size
    b.emit_code(NARROW, a=TRUE, e=-1)
    b.emit_code(COPY, 0, kept, n_bytes, e=size)


def _bytes_read(b: UopBuilder, operand: Operand, size: int) -> int:
    """The row of how many bytes are read: a number, or none where a predicate says so."""
    register = b.register(operand.text) if isinstance(operand, Name) else None
    if isinstance(operand, Immediate) or (register is not None and not register.is_predicate):
        return b.compute("min_u32", b.value(operand, _U32), b.constant(size))
    return b.compute("sel_u32", b.constant(0), b.constant(size), b.predicate(operand))


@rule("cp_async_commit", "cp_async_wait")
def _cp_async_wait(b: UopBuilder, op: Operation) -> None:
    """Every copy has been made already: only the timing model waits."""


def _mbarrier(
    b: UopBuilder, op: Operation, operand: Operand, what: int, count: int, n_bytes: int, d: int
) -> None:
    """An operation on the mbarrier at an address, lane after lane."""
    b.emit_access(operand, space_of(op), _STATE_BYTES)
    b.element_bytes = _STATE_BYTES
    b.emit_code(MBARRIER, d, count, n_bytes, e=what)


@rule("st_async")
def _st_async(b: UopBuilder, op: Operation) -> None:
    """A store whose bytes an mbarrier has waited for."""
    vector = op.match.one_of("v2", "v4")
    items = elements(b, op.operands[1], int(vector[1:]) if vector else 1)
    store_vector(b, op.operands[0], space_of(op), op.type, items)
    _complete(b, op, op.type.bytes * len(items))


@rule("red_async")
def _red_async(b: UopBuilder, op: Operation) -> None:
    """A reduction whose bytes an mbarrier has waited for."""
    reduce_at(b, op, op.operands[0], op.operands[1:2])
    _complete(b, op, op.type.bytes)


def _complete(b: UopBuilder, op: Operation, n_bytes: int) -> None:
    """Tell the mbarrier of the third operand that bytes have come; the timing model sees the access before it."""
    seen = b.access_bytes, b.element_bytes
    _mbarrier(b, op, op.operands[2], COMPLETE_BYTES, b.constant(0), b.constant(n_bytes), b.temporary(64))
    b.access_bytes, b.element_bytes = seen


@rule("mbarrier_init")
def _mbarrier_init(b: UopBuilder, op: Operation) -> None:
    _mbarrier(b, op, op.operands[0], INITIALISE, b.source(op, 1, _U32), b.constant(0), b.temporary(64))


@rule("mbarrier_inval")
def _mbarrier_inval(b: UopBuilder, op: Operation) -> None:
    """The place may hold anything afterwards: an mbarrier that can no longer complete."""
    _mbarrier(b, op, op.operands[0], INITIALISE, b.constant(0), b.constant(0), b.temporary(64))


@rule("mbarrier_bytes")
def _mbarrier_bytes(b: UopBuilder, op: Operation) -> None:
    what = EXPECT_BYTES if op.match.form.base == "mbarrier.expect_tx" else COMPLETE_BYTES
    _mbarrier(b, op, op.operands[0], what, b.constant(0), b.source(op, 1, _U32), b.temporary(64))


@rule("mbarrier_arrive")
def _mbarrier_arrive(b: UopBuilder, op: Operation) -> None:
    what = ARRIVE
    if op.match.form.base == "mbarrier.arrive_drop":
        what |= DROP
    if op.has("noComplete"):
        what |= STAY
    count, n_bytes = b.constant(1), b.constant(0)
    if op.has("expect_tx"):
        what |= EXPECT_BYTES
        n_bytes = b.source(op, 2, _U32)
    elif len(op.operands) > 2:
        count = b.source(op, 2, _U32)
    d = b.place(op.operands[0], _U64)
    _mbarrier(b, op, op.operands[1], what, count, n_bytes, d.row)
    d.finish()


@rule("mbarrier_copies")
def _mbarrier_copies(b: UopBuilder, op: Operation) -> None:
    """An arrival when all copies of the thread are made: now. Without `.noinc` it is not one of those expected."""
    what = ARRIVE if op.has("noinc") else STAY
    _mbarrier(b, op, op.operands[0], what, b.constant(1), b.constant(0), b.temporary(64))


@rule("mbarrier_test")
def _mbarrier_test(b: UopBuilder, op: Operation) -> None:
    """Whether the phase of a state, or of a parity, is complete; a time limit is not waited for."""
    by_parity = op.has("parity")
    of = b.source(op, 2, _U32 if by_parity else _U64)
    b.emit_access(op.operands[1], space_of(op), _STATE_BYTES)
    b.element_bytes = _STATE_BYTES
    b.emit_code(MBARRIER_TEST, b.predicate_destination(op.operands[0]), of, e=int(by_parity))


@rule("mbarrier_pending")
def _mbarrier_pending(b: UopBuilder, op: Operation) -> None:
    d = b.destination(op, 0, _U32)
    state = b.compute("trunc_u64", b.source(op, 1, _U64))
    b.emit("and_u32", d.row, state, b.constant((1 << PENDING_BITS) - 1))
    d.finish()
