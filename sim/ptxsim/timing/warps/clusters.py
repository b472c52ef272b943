"""Clusters in a timed run: their CTAs are launched together, each on an SM that has room, and know each other's memory.

CTAs are launched cluster after cluster. The first CTA of a cluster waits until there is room for all of them; no other
CTA is launched before they are (dispatch as such: timing-model section 1.8). That a cluster's SMs are neighbours is not
modelled.
"""

import numpy as np

from ptxsim.base.jit import inline, njit, popcount
from ptxsim.base.kernel_records import kernel_at
from ptxsim.base.program import CLUSTER, cluster_at
from ptxsim.execute.cluster.clusters import cta_at, leave_cluster, rank_of
from ptxsim.execute.simt_stack import live_lanes
from ptxsim.timing.sm_state import sm_of

_BYTES = CLUSTER.itemsize


@njit
def has_room(run):
    """Whether the next CTA may be launched: all of its cluster fit."""
    if run.next_cta % run.cluster_ctas:
        return True
    free = 0
    for index in range(run.n_sms):
        if run.is_open[index]:
            free += popcount(sm_of(run, index).free_slots)
    return free >= run.cluster_ctas


@njit
def next_in_clusters(run, execution):
    """The number in the grid of the CTA that is launched next."""
    grid = kernel_at(run.kernels, 0).grid
    return cta_at(execution, run.next_cta, grid[0], grid[1], grid[2])


@njit
def _cluster_number(run, execution, cta):
    """The number of a CTA's cluster among those of the grid."""
    shape = execution.cluster_shape
    grid = kernel_at(run.kernels, 0).grid
    columns, rows = grid[0], grid[1]
    x, y, z = cta % columns, cta // columns % rows, cta // (columns * rows)
    return x // shape[0] + columns // shape[0] * (y // shape[1] + rows // shape[1] * (z // shape[2]))


@njit
def _rank(run, execution, cta):
    grid = kernel_at(run.kernels, 0).grid
    columns, rows = grid[0], grid[1]
    return rank_of(execution, cta % columns, cta // columns % rows, cta // (columns * rows))


@njit
def enter_cluster(run, execution, cta):
    """The context's CTA is this one of the grid: its cluster is what it can access."""
    number = _cluster_number(run, execution, cta)
    execution.cluster = run.clusters + np.uint64(number * _BYTES)
    return cluster_at(execution.cluster, 0)


@njit
def cta_begins(run, execution, cta):
    """A CTA has shared memory now, the context's."""
    enter_cluster(run, execution, cta).shared[_rank(run, execution, cta)] = execution.shared_memory


@inline
def threads_left(run, sm, execution, w):
    """The threads of warp w that have not exited."""
    return popcount(live_lanes(sm, w, execution, sm.index * run.contexts + sm.context[w]))


@njit
def threads_exited(run, sm, execution, w, before):
    """Lanes of warp w have exited; `before` had not. A CTA without threads has no shared memory for the others."""
    left_now = threads_left(run, sm, execution, w)
    if left_now == before:
        return
    slot = sm.cta_slot[w]
    cta = sm.cta_id[slot]
    cluster = enter_cluster(run, execution, cta)
    leave_cluster(execution, before - left_now)
    first = slot * run.warps_per_cta
    for k in range(first, first + run.warps_per_cta):
        if threads_left(run, sm, execution, k):
            return
    cluster.shared[_rank(run, execution, cta)] = 0
