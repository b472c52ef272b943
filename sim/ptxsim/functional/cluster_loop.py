"""The loop of a cluster without time: a round of slices of each CTA in turn, by rank, until all have ended.

The first CTA's record says which CTA runs. A cluster whose CTAs only wait for one another for PATIENCE passes is
deadlocked. `cluster_loop` compiles the loop when a launch needs it.
"""

from functools import cache
from typing import Any

import numpy as np

from ptxsim.base.jit import array_of, entry, njit, popcount, types
from ptxsim.base.program import cluster_at
from ptxsim.execute.simt_stack import live_lanes
from ptxsim.functional.cta_loop import (
    CTA_RUN,
    DEADLOCK,
    GOES_ON,
    PATIENCE,
    ROUNDS,
    WATCHED,
    checks_at,
    contexts,
    run_one,
    warps_at,
)


def _run_cluster(runs, goes_on):
    """Run a cluster from its start to its end, or from where it paused: a record of each CTA, by rank.

    What all share (the cycle, the print buffer, the heap, counts) is in the first one's context and checks when it is
    called and when it returns.
    """
    first, n = runs[0], len(runs)
    cluster = cluster_at(contexts(first.context, 1)[0].cluster, 0)
    if not goes_on:
        for k in range(n):
            run_one(runs[k], True, False, True)
            runs[k].ended = 0
            cluster.shared[k] = contexts(runs[k].context, 1)[0].shared_memory
        cluster.n_ctas, cluster.phase, cluster.arrived = n, 0, 0
        first.current, first.passes, first.in_vain = 0, 1, 0
        _count_live(runs, cluster)
    began = contexts(first.context, 1)[0].cycle
    k = np.int64(first.current)
    _hand_over(runs, 0, k)
    in_hope = checks_at(runs[k].checks, 1)[0].next_warp >= 0
    while True:
        run = runs[k]
        if run.ended == 0:
            done = run_one(run, False, True, True)
            if done >= 0:
                run.ended, cluster.shared[k] = 1, 0
            elif done != GOES_ON:
                first.current = k
                _hand_over(runs, k, 0)
                return done
            in_hope |= done >= 0 or checks_at(run.checks, 1)[0].in_vain == 0
        following = (k + 1) % n
        _hand_over(runs, k, following)
        k = following
        if k:
            continue
        if _count_live(runs, cluster) == 0:
            return contexts(first.context, 1)[0].cycle - began
        first.passes, first.current = (first.passes + 1) % ROUNDS, 0
        first.in_vain = 0 if in_hope else first.in_vain + 1
        in_hope = False
        context = contexts(first.context, 1)[0]
        if first.in_vain > PATIENCE:
            while runs[first.current].ended:
                first.current += 1
            context.error = DEADLOCK
            return np.int64(-1)
        if first.passes == 0 and context.cycle >= checks_at(first.checks, 1)[0].watch:
            return np.int64(WATCHED)


@njit
def _hand_over(runs, k, to):
    """Pass what all CTAs of a cluster share from one to another; and the error of the one that had a fault."""
    x, y = contexts(runs[k].context, 1)[0], contexts(runs[to].context, 1)[0]
    c, d = checks_at(runs[k].checks, 1)[0], checks_at(runs[to].checks, 1)[0]
    y.cycle, y.host_used, y.heap_next = x.cycle, x.host_used, x.heap_next
    y.n_tolerated, y.first_tolerated = x.n_tolerated, x.first_tolerated
    y.error, y.error_lane, y.error_address = x.error, x.error_lane, x.error_address
    y.access_space = x.access_space
    d.n_reports, d.lost_reports = c.n_reports, c.lost_reports


@njit
def _count_live(runs, cluster):
    """Count the threads of a cluster that have not exited; threads that have are not waited for at its barrier. Returns
    how many CTAs have not ended."""
    live, left = np.int64(0), np.int64(0)
    for k in range(len(runs)):
        if runs[k].ended == 0:
            left += 1
            context, warps = contexts(runs[k].context, 1)[0], warps_at(runs[k].warps, runs[k].n_warps)
            for w in range(len(warps)):
                live += popcount(live_lanes(warps[w], 0, context, w))
    cluster.live = live
    if cluster.arrived and cluster.arrived >= live:
        cluster.arrived = 0
        cluster.phase += 1
    return left


@cache
def cluster_loop() -> Any:
    """The compiled loop: `loop(records, goes_on)`, as `run_ctas` for one CTA."""
    return entry(types.int64(array_of(CTA_RUN), types.boolean))(_run_cluster)
