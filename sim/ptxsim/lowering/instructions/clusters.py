"""Clusters: addresses in the shared memory of other CTAs, and the barrier of a cluster.

The layout of these addresses is that of `execute/cluster/clusters.py`.
"""

from ptxsim.execute import codes
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.rows import Operation
from ptxtool.isa.types import TYPES

_U32, _U64 = TYPES["u32"], TYPES["u64"]


def _words(builder: UopBuilder, op: Operation) -> int:
    """The row of the low 32 bits of an address, operand 1."""
    row = builder.source(op, 1)
    return builder.compute("trunc_u64", row) if op.type.bits == 64 else row


def in_window(builder: UopBuilder, address: int) -> int:
    """An address of shared memory, with a rank or without, as the generic window has it: 32-bit rows."""
    if not builder.has_pairs:
        return address
    part = builder.compute("shr_u32", address, builder.constant(codes.RANK_SHIFT))
    rank = builder.compute("sub_u32", part, builder.constant(codes.FIRST_RANK))
    is_own = builder.combine(
        "or",
        builder.compute("eq_u32", part, builder.constant(0)),
        builder.compute("eq_u32", rank, builder.special_row(codes.CLUSTER_CTARANK)),
    )
    start = builder.compute("add_u32", rank, builder.constant(1))
    start = builder.compute("shl_u32", start, builder.constant(codes.CLUSTER_SHIFT))
    offset = builder.compute("and_u32", address, builder.constant((1 << codes.CLUSTER_SHIFT) - 1))
    return builder.compute("sel_u32", offset, builder.compute("add_u32", start, offset), is_own)


def with_rank(builder: UopBuilder, address: int) -> int:
    """The opposite of `in_window`: an address with the rank of its CTA."""
    if not builder.has_pairs:
        return address
    start = builder.compute("add_u32", _rank(builder, address), builder.constant(codes.FIRST_RANK))
    start = builder.compute("shl_u32", start, builder.constant(codes.RANK_SHIFT))
    offset = builder.compute("and_u32", address, builder.constant((1 << codes.CLUSTER_SHIFT) - 1))
    return builder.compute("add_u32", start, offset)


def _rank(builder: UopBuilder, address: int) -> int:
    """The rank of the CTA in which an address of the window lies."""
    part = builder.compute("shr_u32", address, builder.constant(codes.CLUSTER_SHIFT))
    own = builder.special_row(codes.CLUSTER_CTARANK)
    is_own = builder.compute("eq_u32", part, builder.constant(0))
    other = builder.compute("sub_u32", part, builder.constant(1))
    return builder.compute("sel_u32", own, other, is_own)


@rule("mapa")
def _mapa(builder: UopBuilder, op: Operation) -> None:
    """The address in another CTA of what an address names in this one."""
    window = 0 if op.has("shared::cluster") else codes.SHARED_WINDOW
    offset = builder.compute("and_u32", _words(builder, op), builder.constant((1 << codes.CLUSTER_SHIFT) - 1))
    rank = builder.compute("add_u32", builder.source(op, 2, _U32), builder.constant(1))
    start = builder.compute("shl_u32", rank, builder.constant(codes.CLUSTER_SHIFT))
    address = builder.compute("add_u32", start, offset)
    if window:
        address = builder.compute("add_u32", address, builder.constant(window))
    else:
        address = with_rank(builder, address)
    if op.type.bits == 64:
        builder.destination(op).write("zext_u64", address)
    else:
        builder.destination(op).write("mov_u32", address)


@rule("getctarank")
def _getctarank(builder: UopBuilder, op: Operation) -> None:
    """The rank of the CTA that an address lies in."""
    address = _words(builder, op)
    if op.has("shared::cluster"):
        address = in_window(builder, address)
    offset = builder.compute("and_u32", address, builder.constant(codes.WINDOW_BYTES - 1))
    builder.destination(op, 0, _U32).write("mov_u32", _rank(builder, offset))


@rule("cluster_arrive")
def _arrive(builder: UopBuilder, op: Operation) -> None:
    builder.emit(codes.CLUSTER_ARRIVE, builder.shared_row("cluster"))


@rule("cluster_wait")
def _wait(builder: UopBuilder, op: Operation) -> None:
    builder.emit(codes.CLUSTER_WAIT, a=builder.shared_row("cluster"))
