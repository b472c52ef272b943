"""Clusters of CTAs: their numbers, their shared memory, their barrier.

CTAs of a cluster are numbered like those of a grid, x first (`%cluster_ctarank`). In the shared space, and so in its
window of the generic one, the memory of rank r begins at (r + 1) << CLUSTER_SHIFT; addresses below are the executing
CTA's own. In kernels with pairs of CTAs it begins at (r + FIRST_RANK) << RANK_SHIFT as well. A CTA that has ended, or
is not there, has no memory: an access is a fault.

A thread leaves the phase of the cluster's barrier that it has arrived in, and waits until the barrier has another one:
the next phase cannot end before the thread has arrived in it. Threads that exit are not waited for.

Reference: PTX ISA, `barrier.cluster`, `mapa`, `getctarank`; sections on the special registers and on state spaces.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import njit, popcount, record_type, rows_u32, types
from ptxsim.base.program import CONTEXT, MISALIGNED, OUT_OF_BOUNDS, UOP, cluster_at
from ptxsim.execute.boundary import boundary
from ptxsim.execute.codes import (
    CLUSTER_ARRIVE,
    CLUSTER_CTAID_X,
    CLUSTER_CTARANK,
    CLUSTER_NCTAID_X,
    CLUSTER_NCTARANK,
    CLUSTER_SHIFT,
    CLUSTERID_X,
    FIRST_RANK,
    NCLUSTERID_X,
    RANK_SHIFT,
)

_CONTEXT, _UOP = record_type(CONTEXT), record_type(UOP)
_OFFSET_BITS = np.uint64((1 << CLUSTER_SHIFT) - 1)


@njit(types.int64(_CONTEXT))
def cluster_size(context):
    """The CTAs of a cluster."""
    return context.cluster_shape[0] * context.cluster_shape[1] * context.cluster_shape[2]


@njit(types.int64(_CONTEXT, *[types.int64] * 3))
def rank_of(context, x, y, z):
    """The rank of a CTA in its cluster."""
    shape = context.cluster_shape
    return x % shape[0] + shape[0] * (y % shape[1] + shape[1] * (z % shape[2]))


@njit(types.int64(_CONTEXT, *[types.int64] * 4))
def cta_at(context, turn, columns, rows, layers):
    """The number in its grid of the CTA that is launched at a turn: cluster after cluster, by rank in each."""
    shape = context.cluster_shape
    size = shape[0] * shape[1] * shape[2]
    cluster, rank = turn // size, turn % size
    across, down = columns // shape[0], rows // shape[1]
    x = cluster % across * shape[0] + rank % shape[0]
    y = cluster // across % down * shape[1] + rank // shape[0] % shape[1]
    z = cluster // (across * down) * shape[2] + rank // (shape[0] * shape[1])
    return x + columns * (y + rows * z)


@njit(types.int64(_CONTEXT, *[types.int64] * 7))
def cluster_register(context, number, x, y, z, columns, rows, layers):
    """The value of a special register about clusters in CTA (x, y, z) of a grid."""
    shape = context.cluster_shape
    if number == CLUSTER_CTARANK:
        return rank_of(context, x, y, z)
    if number == CLUSTER_NCTARANK:
        return cluster_size(context)
    if number > CLUSTER_NCTARANK:
        return np.int64(context.explicit_cluster)
    axis = (number - CLUSTERID_X) % 3
    extent, place, size = layers, z, shape[2]
    if axis == 0:
        extent, place, size = columns, x, shape[0]
    elif axis == 1:
        extent, place, size = rows, y, shape[1]
    if number >= CLUSTER_NCTAID_X:
        return size
    if number >= CLUSTER_CTAID_X:
        return place % size
    return extent // size if number >= NCLUSTERID_X else place // size


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.uint64))
def _fault(context, kind, lane, address):
    context.error = kind
    context.error_lane = lane
    context.error_address = address
    context.access_mask = np.uint64(0)
    return 0


@njit(types.int64(_CONTEXT, types.uint64))
def _named_rank(context, address):
    """The rank that an address of shared memory names, -1 for one of the CTA's own."""
    part = np.int64(address >> np.uint64(RANK_SHIFT))
    if context.has_pairs and part >= FIRST_RANK:
        return part - FIRST_RANK
    return np.int64(address >> np.uint64(CLUSTER_SHIFT)) - 1


@njit(types.int64(_CONTEXT, types.uint64))
def rank_at(context, address):
    """The rank of the CTA in whose shared memory an address lies."""
    rank = _named_rank(context, address)
    if rank < 0 and context.cluster:
        cluster = cluster_at(context.cluster, 0)
        for k in range(cluster.n_ctas):
            if cluster.shared[k] == context.shared_memory:
                return np.int64(k)
    return max(rank, np.int64(0))


@njit(types.uint64(_CONTEXT, types.uint64))
def shared_at(context, address):
    """Where the shared memory that an address names begins; 0 if there is none."""
    rank = _named_rank(context, address)
    if rank < 0:
        return context.shared_memory
    if context.cluster == np.uint64(0):
        return context.shared_memory if rank == 0 else np.uint64(0)
    cluster = cluster_at(context.cluster, 0)
    return cluster.shared[rank] if rank < cluster.n_ctas else np.uint64(0)


@njit(types.int64(_CONTEXT, types.int64, types.uint64))
def check_cluster(context, mask, n_bytes):
    """Accesses to shared memory of which some are not to the CTA's own: pointers, bounds, alignment. 1 if all is well;
    otherwise the fault is the first lane's."""
    pointer = np.uint64(0)
    for n in range(32):
        if (mask >> n) & 1:
            address = context.lane_address[n]
            offset, memory = address & _OFFSET_BITS, shared_at(context, address)
            if memory == np.uint64(0) or offset + n_bytes > np.uint64(context.shared_bytes):
                return _fault(context, OUT_OF_BOUNDS, n, address)
            if offset & (n_bytes - np.uint64(1)) != np.uint64(0):
                return _fault(context, MISALIGNED, n, address)
            context.lane_pointer[n] = memory + offset
            if memory == context.shared_memory:
                context.lane_address[n] = offset
            pointer = context.lane_pointer[n] if pointer == np.uint64(0) else pointer
    for n in range(32):  # the lanes that do nothing
        if (mask >> n) & 1 == 0:
            context.lane_pointer[n] = pointer
    return 1


@njit(types.void(_CONTEXT))
def _complete(context):
    """Begin the next phase of the barrier if all threads have arrived."""
    cluster = cluster_at(context.cluster, 0)
    if cluster.arrived >= cluster.live:
        cluster.arrived = 0
        cluster.phase += 1


@njit(types.void(_CONTEXT, types.int64))
def leave_cluster(context, n):
    """So many threads of the executing CTA have exited."""
    cluster = cluster_at(context.cluster, 0)
    cluster.live -= n
    if cluster.arrived:
        _complete(context)


@njit(types.int64(_CONTEXT, _UOP, types.int64))
def _in_cluster(context, uop, mask):
    """CLUSTER_ARRIVE, CLUSTER_WAIT."""
    cluster = cluster_at(context.cluster, 0)
    base = context.constant_rows32 + context.warp * context.rows32
    words = rows_u32(context.r32, context.total_rows32)
    if uop.op == CLUSTER_ARRIVE:
        for n in range(32):
            if (mask >> n) & 1:
                words[uop.d + base, n] = np.uint32(cluster.phase & 0xFFFFFFFF)
        cluster.arrived += popcount(mask)
        if mask:
            _complete(context)
        return 1
    context.repeats = 0
    for n in range(32):
        if (mask >> n) & 1 and words[uop.a + base, n] == np.uint32(cluster.phase & 0xFFFFFFFF):
            context.repeats = context.yields = 1
    return 1


in_cluster: Any = boundary("in_cluster", _in_cluster)
