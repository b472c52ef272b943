"""Fetch and decode: a fetch a cycle (or more) into a latch, two instructions into a buffer (timing-model section 1.2).

Fetch goes round robin from the warp after the last one; the first warp whose I-buffer is empty and that waits for no
instruction miss reads L1I. It also retires finished warps that it passes while scanning (section 1.8).

A miss asks the L2 for its line; the warps that wait for the line get their instructions in the order in which they
asked, one per cycle, and no other warp fetches in these cycles.
"""

import numpy as np

from ptxsim.base.jit import ctz, inline, njit, popcount
from ptxsim.base.program import instruction_at
from ptxsim.base.warp_masks import from_warp, no_warps, warp_bit
from ptxsim.timing.core.retire import retire_passed
from ptxsim.timing.memory import readonly
from ptxsim.timing.memory.memory_state import INSTRUCTION
from ptxsim.timing.memory.system import inject
from ptxsim.timing.sm_state import CODE_BASE
from ptxsim.timing.warps.scoreboard import new_head


@inline
def decode(run, sm):
    """Move the latch into the warp's I-buffer, and note whether it is on the right path."""
    if sm.latch_warp < 0:
        return
    w = sm.latch_warp
    sm.latch_warp = -1
    if not sm.resident & warp_bit(sm, w) & ~sm.finishing:
        return
    pc = sm.latch_pc
    n = min(run.ibuffer, sm.code_end[w] - pc)
    if n <= 0:
        return
    sm.ib_pc[w] = pc
    sm.ib_n[w] = n
    sm.fetch_pc[w] = pc + n
    if pc == sm.stack_pc[sm.depth[w] - 1, w]:
        new_head(run, sm, w)
    else:
        sm.stale |= warp_bit(sm, w)


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
        candidates &= ~warp_bit(sm, sm.latch_warp)
    return candidates


@inline
def fetch(run, sm, memory):
    """One fetch attempt, or one warp that gets the line it missed; then one miss goes into the network."""
    if sm.l1i.n_ready:
        w = readonly.next_waiter(sm.l1i)
        sm.fetch_stuck = no_warps(sm)
        sm.imiss &= ~warp_bit(sm, w)
        sm.latch_warp = w
        sm.latch_pc = sm.fetch_pc[w]
    else:
        _scan(run, sm)
    if sm.l1i.miss_count:
        line = sm.l1i.miss[sm.l1i.miss_head]
        if inject(memory, sm.index, run.cycle, line, sm.l1i.line_bytes, INSTRUCTION, -1):
            readonly.sent(sm.l1i)
            sm.fetch_stuck = no_warps(sm)


@inline
def _scan(run, sm):
    """The first warp in turn that may fetch reads L1I."""
    candidates = fetchable(sm)
    first = sm.last_fetched + 1
    chosen = -1
    if candidates:
        later = candidates & from_warp(sm, first)
        chosen = ctz(later) if later else ctz(candidates)
    if sm.finishing:
        retire_passed(run, sm, first, chosen)
    if chosen < 0:
        return
    pc = sm.fetch_pc[chosen]
    sm.last_fetched = chosen
    if pc >= sm.code_end[chosen]:  # the wrong path runs off the text's end
        sm.fetch_pc[chosen] = sm.stack_pc[sm.depth[chosen] - 1, chosen]
        return
    address = CODE_BASE + np.int64(instruction_at(run.code, pc).address)
    outcome = readonly.read(sm.l1i, address, chosen, run.cycle)
    if outcome == readonly.FAIL:  # the slot is lost, and the next warp has its turn
        sm.fetch_stuck |= warp_bit(sm, chosen)
        return
    sm.fetch_stuck &= ~warp_bit(sm, chosen)
    if outcome == readonly.HIT:
        sm.latch_warp = chosen
        sm.latch_pc = pc
    else:
        sm.imiss |= warp_bit(sm, chosen)


@njit
def pass_refused(sm, turns):
    """Take the turns of skipped cycles, in which L1I refused one warp after the other."""
    refused = sm.fetch_stuck & fetchable(sm)
    if refused:
        sm.l1i.reservation_fails += turns
        # the warp that fetched last may not be one of the refused: after the first turn it is
        for _ in range((turns - 1) % popcount(refused) + 1):
            later = refused & from_warp(sm, sm.last_fetched + 1)
            sm.last_fetched = ctz(later) if later else ctz(refused)
