"""Fetch and decode: one fetch per cycle into a latch, two instructions into a warp's I-buffer (section 1.2).

Fetch goes round robin from the warp after the last one; the first warp whose I-buffer is empty and that waits for no
instruction miss reads L1I. It also retires finished warps that it passes while scanning (section 1.8).

Simplified: instruction misses take a fixed time and put no traffic on the network; as many as there are ways may be on
their way.
"""

from ptxsim.core.retire import retire_passed
from ptxsim.core.scoreboard import new_head
from ptxsim.jit import bit, ctz, from_bit, njit
from ptxsim.state import FOREVER


@njit
def decode(run, sm, instructions):
    """Move the latch into the warp's I-buffer, and see whether it is on the right path."""
    if sm.latch_warp < 0:
        return
    w = sm.latch_warp
    sm.latch_warp = -1
    if not sm.resident & bit(w) & ~sm.finishing:
        return
    pc = sm.latch_pc
    n = min(run.ibuffer, run.n_instructions - pc)
    if n <= 0:
        return
    sm.ib_pc[w] = pc
    sm.ib_n[w] = n
    sm.fetch_pc[w] = pc + n
    if pc == sm.stack_pc[w, sm.depth[w] - 1]:
        new_head(run, sm, instructions, w)
    else:
        sm.stale |= bit(w)


@njit
def flush(run, sm, warps):
    """Empty the I-buffers of warps that hold wrong-path instructions; they fetch from the SIMT stack's PC."""
    sm.stale &= ~warps
    sm.line_here &= ~warps
    while warps:
        w = ctz(warps)
        warps &= warps - 1
        sm.ib_n[w] = 0
        sm.fetch_pc[w] = sm.stack_pc[w, sm.depth[w] - 1]


@njit
def _line_arrival(run, sm, pc, instructions):
    """Look a PC up in L1I: the cycle at which its line is there (now for a hit), -1 if it cannot be asked for yet.

    A miss takes the least recently used way that does not itself wait for a line.
    """
    line = instructions[pc].address // run.l1i_line
    base = (line % run.l1i_sets) * run.l1i_ways
    oldest = -1
    for k in range(base, base + run.l1i_ways):
        if sm.l1i_tag[k] == line + 1:
            sm.l1i_accesses += 1
            sm.l1i_used[k] = run.cycle
            return max(run.cycle, sm.l1i_arrival[k])
        if sm.l1i_arrival[k] <= run.cycle and (oldest < 0 or sm.l1i_used[k] < sm.l1i_used[oldest]):
            oldest = k
    if oldest < 0:
        return -1
    sm.l1i_accesses += 1
    sm.l1i_misses += 1
    sm.l1i_tag[oldest] = line + 1
    sm.l1i_used[oldest] = run.cycle
    sm.l1i_arrival[oldest] = run.cycle + run.l1i_miss_cycles
    return sm.l1i_arrival[oldest]


@njit
def fetchable(run, sm):
    """Warps that may fetch now."""
    candidates = sm.resident & ~sm.finishing & ~sm.has_head & ~sm.stale
    if sm.imiss:
        waiting = sm.imiss
        while waiting:
            w = ctz(waiting)
            waiting &= waiting - 1
            if sm.imiss_until[w] <= run.cycle:
                sm.imiss &= ~bit(w)
                sm.line_here |= bit(w)
        candidates &= ~sm.imiss
    if sm.latch_warp >= 0:
        candidates &= ~bit(sm.latch_warp)
    return candidates


@njit
def fetch(run, sm, instructions):
    """One fetch attempt."""
    candidates = fetchable(run, sm)
    first = sm.last_fetched + 1
    chosen = -1
    if candidates:
        above = candidates & from_bit(first)
        chosen = ctz(above) if above else ctz(candidates)
    if sm.finishing:
        retire_passed(run, sm, first, chosen)
    if chosen < 0:
        return
    pc = sm.fetch_pc[chosen]
    sm.last_fetched = chosen
    if pc >= run.n_instructions:  # the wrong path runs off the text's end
        sm.fetch_pc[chosen] = sm.stack_pc[chosen, sm.depth[chosen] - 1]
        return
    me = bit(chosen)
    arrival = run.cycle
    if sm.line_here & me:  # what a miss brought is used even if the line has been replaced since
        sm.line_here &= ~me
    else:
        arrival = _line_arrival(run, sm, pc, instructions)
    if arrival == run.cycle:
        sm.latch_warp = chosen
        sm.latch_pc = pc
    elif arrival > run.cycle:
        sm.imiss |= me
        sm.imiss_until[chosen] = arrival


@njit
def next_miss(sm):
    """The earliest cycle at which an instruction miss returns, FOREVER if none."""
    best = FOREVER
    waiting = sm.imiss
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        best = min(best, sm.imiss_until[w])
    return best
