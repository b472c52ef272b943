"""Scratchpad sharing: one lock per pair of CTAs, and which warps may access shared scratchpad now.

Two CTAs of a pair share all bytes of scratchpad beyond the private ones. A CTA takes the lock when one of its warps
issues the first access to such a byte, by the addresses of its active lanes; every access to shared memory counts:
loads, stores, atomics, asynchronous copies, matrices, operands `s[...]` of PTXPlus, generic addresses. The lock is free
again when every warp of the CTA has exited or passed a release mark.

Rule: a free lock may be taken by the owner, by either CTA while there is no owner, and by the non-owner when all warps
of its partner are done. The holder waits for no warp outside of its CTA, so there is no deadlock; "symmetric" (either
CTA may take a free lock) is as safe here, and "strict" the same as "safe". A CTA that takes the lock from a partner
that is done but has not ended becomes the owner: now the other side depends on it.

The lock is position 0 of the pair's row in `lock`. Addresses are computed before the instruction executes
(`execute.micro_operations.reach`); a head whose access is known to stay within the private part is marked (`within`).

Jatala et al., Improving GPU Performance Through Resource Sharing, section III; timing-model section 5. Release marks
are `relssp` of V. Jatala, J. Anantpur, A. Karkare, Scratchpad Sharing in GPUs, TACO 2017.
"""

from ptxsim.base.jit import bit, njit
from ptxsim.execute.micro_operations import reach
from ptxsim.timing.sharing.pairs import SYMMETRIC, lock, set_owner, unlock


@njit
def holds(sm, w):
    """Whether the CTA of warp w has the lock."""
    slot = sm.cta_slot[w]
    return sm.lock[sm.pair[slot], 0] == sm.side[slot]


@njit
def shared_byte(run, sm, execution, w):
    """The lowest byte beyond the private ones that the head of warp w will access, -1 if none."""
    execution.warp = sm.index * run.contexts + sm.context[w]
    execution.shared_memory = sm.shared_memory + sm.cta_context[sm.cta_slot[w]] * sm.shared_bytes
    execution.cycle = run.cycle
    return reach(execution, sm.ib_pc[w], sm.stack_mask[sm.depth[w] - 1, w], run.private_scratchpad)


@njit
def may_touch(run, sm, w):
    """True if warp w of a shared CTA may access shared scratchpad now."""
    slot = sm.cta_slot[w]
    p, side = sm.pair[slot], sm.side[slot]
    if sm.lock[p, 0] >= 0:
        return sm.lock[p, 0] == side
    if run.lock_rule == SYMMETRIC or sm.owner[p] < 0 or sm.owner[p] == side:
        return True
    return _all_done(run, sm, sm.partner[slot])


@njit
def _all_done(run, sm, slot):
    return sm.done[slot] == bit(run.warps_per_cta) - 1


@njit
def acquire(run, sm, w):
    """Warp w accesses shared scratchpad: its CTA holds the lock from now on, and owns the pair."""
    slot = sm.cta_slot[w]
    p = sm.pair[slot]
    lock(run, sm, p, 0, slot)
    if sm.owner[p] != sm.side[slot]:
        set_owner(run, sm, p, sm.side[slot])


@njit
def release(run, sm, w, early):
    """Warp w has exited, or passed a release mark (`early`): the last one of its CTA frees the lock."""
    slot = sm.cta_slot[w]
    p = sm.pair[slot]
    sm.done[slot] |= bit(sm.warp_in_cta[w])
    if _all_done(run, sm, slot):
        if sm.lock[p, 0] == sm.side[slot]:
            unlock(run, sm, p, 0, early)
        sm.release_cycle = run.cycle + 1
