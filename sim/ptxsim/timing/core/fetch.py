"""Fetch and decode: a fetch a cycle (or more) into a latch, two instructions into a buffer (timing-model section 1.2).

Fetch goes round robin from the warp after the last one; the first warp whose I-buffer is empty and that waits for no
instruction miss reads L1I. It also retires finished warps that it passes while scanning (section 1.8).

A miss asks the L2 for its line; the warps that wait for it get their instructions in the order in which they asked, one
a cycle, and meanwhile nobody else fetches.
"""

import numpy as np

from ptxsim.base.jit import bit, ctz, from_bit, inline, njit, popcount
from ptxsim.base.program import instruction_at
from ptxsim.timing.core.retire import retire_passed
from ptxsim.timing.memory.memory_state import INSTRUCTION
from ptxsim.timing.memory.readonly import FAIL, HIT, next_waiter, read, sent
from ptxsim.timing.memory.system import inject
from ptxsim.timing.sm_state import CODE_BASE
from ptxsim.timing.warps.scoreboard import new_head


@inline
def decode(run, sm):
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
    if pc == sm.stack_pc[sm.depth[w] - 1, w]:
        new_head(run, sm, w)
    else:
        sm.stale |= bit(w)


@njit
def flush(sm, warps):
    """Empty the I-buffers of warps that hold wrong-path instructions; they fetch from the SIMT stack's PC."""
    sm.stale &= ~warps
    while warps:
        w = ctz(warps)
        warps &= warps - 1
        sm.ib_n[w] = 0
        sm.fetch_pc[w] = sm.stack_pc[sm.depth[w] - 1, w]


@njit
def fetchable(sm):
    """Warps that may fetch now."""
    candidates = sm.resident & ~(sm.finishing | sm.has_head | sm.stale | sm.imiss)
    if sm.latch_warp >= 0:
        candidates &= ~bit(sm.latch_warp)
    return candidates


@inline
def fetch(run, sm, memory):
    """One fetch attempt, or one warp that gets what it missed; then one miss goes into the network."""
    if sm.l1i.n_ready:
        w = next_waiter(sm.l1i)
        sm.fetch_stuck = 0
        sm.imiss &= ~bit(w)
        sm.latch_warp = w
        sm.latch_pc = sm.fetch_pc[w]
    else:
        _scan(run, sm)
    if sm.l1i.miss_count:
        line = sm.l1i.miss[sm.l1i.miss_head]
        if inject(memory, sm.index, run.cycle, line, sm.l1i.line_bytes, INSTRUCTION, -1):
            sent(sm.l1i)
            sm.fetch_stuck = 0


@inline
def _scan(run, sm):
    """The first warp in turn that may fetch reads L1I."""
    candidates = fetchable(sm)
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
    if pc >= run.n_instructions:  # the wrong path runs off the text's end
        sm.last_fetched = chosen
        sm.fetch_pc[chosen] = sm.stack_pc[sm.depth[chosen] - 1, chosen]
        return
    sm.last_fetched = chosen
    outcome = read(sm.l1i, CODE_BASE + np.int64(instruction_at(run.code, pc).address), chosen, run.cycle)
    if outcome == FAIL:  # the slot is lost, and the next warp's turn comes
        sm.fetch_stuck |= bit(chosen)
        return
    sm.fetch_stuck &= ~bit(chosen)
    if outcome == HIT:
        sm.latch_warp = chosen
        sm.latch_pc = pc
    else:
        sm.imiss |= bit(chosen)


@njit
def pass_refused(sm, turns):
    """Take the turns of cycles that were skipped, in which L1I refused one warp after the other."""
    refused = sm.fetch_stuck & fetchable(sm)
    if refused:
        sm.l1i.reservation_fails += turns
        # the warp that fetched last may not be one of them: behind the first turn it is
        for _ in range((turns - 1) % popcount(refused) + 1):
            above = refused & from_bit(sm.last_fetched + 1)
            sm.last_fetched = ctz(above) if above else ctz(refused)
