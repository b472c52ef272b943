"""Barriers of a CTA in a run without time: which threads have arrived, which wait, and the result of a reduction.

Threads are counted. An aligned barrier (`bar`, `barrier.aligned`) is one of whole warps: all lanes that have not exited
arrive, and count as 32. Another one counts the lanes that execute it; lanes that a warp does not have count with its
first ones. Without a thread count a barrier is complete when all threads that have not exited have arrived.

An entry of a warp's stack waits. If other lanes of the warp are at the same level, they run meanwhile: their entry is
swapped with the waiting one. A waiting entry is not popped even at its reconvergence point.

Reference: PTX ISA, `bar`, `barrier`; the timed run has the same rules (timing/warps/barrier.py).
"""

import numpy as np

from ptxsim.base.jit import njit, popcount, record
from ptxsim.base.program import ARRIVE, stack_fields
from ptxsim.execute.simt_stack import advance, live_lanes, wait
from ptxsim.execute.warp import give_reduction

WARP = record([("depth", "i8", (1,)), *stack_fields(1), ("ended_at", "i8"), ("registers", "i8")])
"""The SIMT stack of a warp, column 0; depth 0: the warp has ended, at instruction `ended_at`. `registers` are per
thread, as `setmaxnreg` has left them."""
BARRIER = record(
    [
        ("arrived", "i8"),  # threads
        ("counted", "i8"),  # threads, with the lanes that the last warp does not have
        ("expected", "i8"),  # thread count; 0: all
        ("holds", "i8"),  # threads whose predicate is true
        ("seen", "i8"),  # warps of which lanes have arrived
        (
            "came",
            "i8",
        ),  # when it was last complete: warps that had arrived, and (`released`) warps that waited
        ("released", "i8"),
        ("missed", "i8"),  # warps that had ended by then without arriving, where all threads take part
        ("at", "i8"),  # its last instruction at which a warp waited
    ]
)


@njit
def arrive(cta, w, i, mask):
    """Lanes `mask` of warp w execute barrier instruction i, which has left number, count and votes in the context."""
    context, warp, instruction = cta.x, cta.warps[w], cta.instructions[i]
    number = context.barrier
    barrier = cta.barriers[number]
    live = live_lanes(warp, 0, context, w)
    lanes = live if instruction.barrier_aligned else mask
    barrier.arrived += popcount(lanes)
    barrier.counted += popcount(lanes)
    if barrier.seen >> w & 1 == 0:
        barrier.counted += 32 - popcount(live)
    barrier.seen |= np.int64(1) << w
    barrier.expected = context.barrier_threads
    barrier.holds += popcount(context.barrier_votes)
    if instruction.barrier_kind == ARRIVE:
        advance(warp, 0, i + 1)
    else:
        wait(warp, 0, number, i, mask, lanes != live)
    complete(cta, number)


@njit
def complete(cta, number):
    """Release the warps that wait at a barrier if it is complete. True if it is."""
    context, barrier = cta.x, cta.barriers[number]
    if barrier.expected:
        if barrier.counted < barrier.expected:
            return False
    else:
        live, ended = np.int64(0), np.int64(0)
        for w in range(cta.n_warps):
            lanes = live_lanes(cta.warps[w], 0, context, w)
            live += popcount(lanes)
            if lanes == 0:
                ended |= np.int64(1) << w
        if barrier.arrived < live:
            return False
        barrier.missed = ended & ~barrier.seen
    for w in range(cta.n_warps):
        warp = cta.warps[w]
        released = False
        for k in range(warp.depth[0]):
            if warp.stack_wait[k, 0] == number + 1:
                barrier.at = warp.waits_since[k, 0]
                instruction = cta.instructions[barrier.at]
                context.warp = w
                give_reduction(context, instruction, warp.waiting_lanes[k, 0], barrier.holds, barrier.arrived)
                warp.stack_wait[k, 0] = 0
                released = True
                barrier.released |= np.int64(1) << w
        top = warp.depth[0] - 1
        if released and warp.stack_wait[top, 0] == 0:
            advance(warp, 0, warp.stack_pc[top, 0])
    barrier.came = barrier.seen
    barrier.arrived, barrier.counted, barrier.holds, barrier.seen = 0, 0, 0, 0
    return True
