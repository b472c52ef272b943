"""Barriers of a CTA in a run without time: who has arrived, who waits, and what a reduction gives.

Threads are counted. An aligned barrier (`bar`, `barrier.aligned`) is one of whole warps: all lanes that are left
arrive, and count as 32. Another one counts the lanes that execute it; lanes that a warp does not have count with its
first ones. Without a thread count a barrier is complete when all threads that have not ended are there.

What waits is an entry of a warp's stack. If other lanes of the warp stand at the same level, they run meanwhile: their
entry changes places with the waiting one. A waiting entry stays where it is even at its reconvergence point.

Reference: PTX ISA, `bar`, `barrier`; the timed run has the same rules (timing/warps/barrier.py).
"""

import numpy as np

from ptxsim.base.jit import njit, popcount, record
from ptxsim.base.program import ARRIVE
from ptxsim.execute.calls import lanes_aside
from ptxsim.execute.warp import give_reduction

DEPTH = 64
N_BARRIERS = 16
WARP = record(
    [
        ("depth", "i8"),  # entries in use; 0: the warp has ended
        ("pc", "i4", (DEPTH,)),
        ("rpc", "i4", (DEPTH,)),
        ("mask", "i8", (DEPTH,)),
        ("call", "i4", (DEPTH,)),
        ("waits", "i4", (DEPTH,)),  # 1 + the number of the barrier an entry waits at; 0: it does not
        ("waiting_lanes", "i8", (DEPTH,)),
        ("waits_since", "i4", (DEPTH,)),  # the barrier instruction
    ]
)
BARRIER = record(
    [
        ("arrived", "i8"),  # threads
        ("counted", "i8"),  # the same, with those that warps do not have
        ("expected", "i8"),  # thread count; 0: all
        ("holds", "i8"),  # threads whose predicate holds
        ("seen", "i8"),  # warps of which lanes have arrived
        ("came", "i8"),  # of the last time it was complete: warps that arrived, and those that went on
        ("released", "i8"),
    ]
)


@njit
def advance(warp, pc):
    """The top goes to `pc`; entries at their reconvergence point end, unless they wait."""
    top = warp.depth - 1
    warp.pc[top] = pc
    while top > 0 and warp.rpc[top] >= 0 and warp.pc[top] == warp.rpc[top] and warp.waits[top] == 0:
        top -= 1
    warp.depth = top + 1


@njit
def is_waiting(warp):
    return warp.depth > 0 and warp.waits[warp.depth - 1] != 0


@njit
def live_lanes(x, warp, w):
    """The lanes of warp w that have not exited."""
    lanes = lanes_aside(x, w) if x.call_words else np.int64(0)
    for k in range(warp.depth):
        lanes |= warp.mask[k]
    return lanes


@njit
def arrive(x, barriers, warps, n_warps, w, instructions, i, mask):
    """Lanes `mask` of warp w execute barrier instruction i, which has left number, count and votes in the context."""
    warp = warps[w]
    instruction = instructions[i]
    number = x.barrier
    barrier = barriers[number]
    live = live_lanes(x, warp, w)
    lanes = live if instruction.barrier_aligned else mask
    barrier.arrived += popcount(lanes)
    barrier.counted += popcount(lanes)
    if barrier.seen >> w & 1 == 0:
        barrier.counted += 32 - popcount(live)
    barrier.seen |= np.int64(1) << w
    barrier.expected = x.barrier_threads
    barrier.holds += popcount(x.barrier_votes)
    if instruction.barrier_kind == ARRIVE:
        advance(warp, i + 1)
    else:
        top = warp.depth - 1
        warp.pc[top] = i + 1
        warp.waits[top] = number + 1
        warp.waiting_lanes[top] = mask
        warp.waits_since[top] = i
        if lanes != live:
            _let_others_run(warp)
    complete(x, barriers, warps, n_warps, instructions, number)


@njit
def _let_others_run(warp):
    """Bring up the next entry of the same level that does not wait."""
    top = warp.depth - 1
    k = top - 1
    while k >= 0 and warp.rpc[k] == warp.rpc[top] and warp.call[k] == warp.call[top]:
        if warp.waits[k] == 0:
            for column in (warp.pc, warp.waits, warp.waits_since):
                column[top], column[k] = column[k], column[top]
            for lanes in (warp.mask, warp.waiting_lanes):
                lanes[top], lanes[k] = lanes[k], lanes[top]
            return
        k -= 1


@njit
def take_turns(warp):
    """Entries of one level run in turn: the top goes below the others, and the next that does not wait comes up."""
    top = warp.depth - 1
    low = top
    while low > 0 and warp.rpc[low - 1] == warp.rpc[top] and warp.call[low - 1] == warp.call[top]:
        low -= 1
    for _ in range(top - low):
        for column in (warp.pc, warp.waits, warp.waits_since):
            last = column[top]
            for k in range(top, low, -1):
                column[k] = column[k - 1]
            column[low] = last
        for lanes in (warp.mask, warp.waiting_lanes):
            of_last = lanes[top]
            for k in range(top, low, -1):
                lanes[k] = lanes[k - 1]
            lanes[low] = of_last
        if warp.waits[top] == 0:
            return


@njit
def let_outer_run(warp):
    """Where the top waits: bring up an entry of an outer level that does not. False if there is none."""
    top = warp.depth - 1
    above = warp.mask[top]
    for k in range(top - 1, -1, -1):
        apart = warp.mask[k] != 0 and warp.mask[k] & above == 0 and warp.call[k] == warp.call[top]
        if apart and warp.waits[k] == 0 and warp.pc[k] != warp.rpc[k]:
            for column in (warp.pc, warp.rpc, warp.call, warp.waits, warp.waits_since):
                found = column[k]
                for n in range(k, top):
                    column[n] = column[n + 1]
                column[top] = found
            for lanes in (warp.mask, warp.waiting_lanes):
                of_found = lanes[k]
                for n in range(k, top):
                    lanes[n] = lanes[n + 1]
                lanes[top] = of_found
            return True
        above |= warp.mask[k]
    return False


@njit
def complete(x, barriers, warps, n_warps, instructions, number):
    """Let everyone go on if a barrier is complete. True if it is."""
    barrier = barriers[number]
    if barrier.expected:
        if barrier.counted < barrier.expected:
            return False
    else:
        live = np.int64(0)
        for w in range(n_warps):
            live += popcount(live_lanes(x, warps[w], w))
        if barrier.arrived < live:
            return False
    for w in range(n_warps):
        warp = warps[w]
        released = False
        for k in range(warp.depth):
            if warp.waits[k] == number + 1:
                instruction = instructions[warp.waits_since[k]]
                x.warp = w
                give_reduction(x, instruction, warp.waiting_lanes[k], barrier.holds, barrier.arrived)
                warp.waits[k] = 0
                released = True
                barrier.released |= np.int64(1) << w
        if released and warp.waits[warp.depth - 1] == 0:
            advance(warp, warp.pc[warp.depth - 1])
    barrier.came = barrier.seen
    barrier.arrived, barrier.counted, barrier.holds, barrier.seen = 0, 0, 0, 0
    return True
