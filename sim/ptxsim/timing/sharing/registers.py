"""Register sharing: a lock per pair of warps, and which warps may touch shared registers now.

Two CTAs of a pair share all registers numbered beyond the private ones, warp by warp: warps at the same position hold
one lock. It is taken when a warp issues its first instruction that names a shared register, and free again when its
last lane exits, or when the warp passes a release mark.

Deadlock rule ("safe"): a warp of the owner may always take its lock when it is free; a warp of the non-owner only when
its partner warp is done: has exited, or passed a mark, after which it never asks again (the run ends with a fault if
it does). So no warp of the owner will want a lock that a non-owner's warp holds: an owner never waits for its partner,
runs to its end as if it were alone, and its partner is owner after it. Marks do not change this.
"strict": moreover no warp of the owner may hold any lock. "symmetric": every warp may take its lock when it is free,
which deadlocks where barriers tie the warps of a CTA together (figure 5 of the paper); for comparison.

Releasing a lock waits for no instruction in flight, neither at the exit nor at a mark: that time is between the issue
of an instruction and the first write of another.

Jatala et al., register sharing, sections 3 and 4; timing-model section 5.
"""

from ptxsim.base.jit import bit, njit
from ptxsim.timing.sharing.pairs import STRICT, SYMMETRIC, is_done, lock, set_owner, unlock


@njit
def touches(run, instruction):
    """Whether an instruction names a shared register."""
    return instruction.max_sequence > run.private_registers


@njit
def may_touch(run, sm, w):
    """True if warp w of a shared CTA may touch a shared register now."""
    slot = sm.cta_slot[w]
    p, k, side = sm.pair[slot], sm.warp_in_cta[w], sm.side[slot]
    if sm.lock[p, k] >= 0:
        return sm.lock[p, k] == side
    if run.lock_rule == SYMMETRIC or sm.owner[p] < 0 or sm.owner[p] == side:
        return True
    if run.lock_rule == STRICT:
        for j in range(run.warps_per_cta):
            if sm.lock[p, j] == 1 - side:
                return False
    return is_done(sm, sm.partner[slot], k)


@njit
def acquire(run, sm, w):
    """Warp w touches a shared register: it holds its lock from now on."""
    slot = sm.cta_slot[w]
    p = sm.pair[slot]
    lock(run, sm, p, sm.warp_in_cta[w], slot)
    if sm.owner[p] < 0:
        set_owner(run, sm, p, sm.side[slot])


@njit
def release(run, sm, w, early):
    """Warp w has exited, or passed a release mark (`early`): its lock is free, its partner may go on."""
    slot = sm.cta_slot[w]
    p, k = sm.pair[slot], sm.warp_in_cta[w]
    sm.done[slot] |= bit(k)
    if sm.lock[p, k] == sm.side[slot]:
        unlock(run, sm, p, k, early)
    sm.release_cycle = run.cycle + 1
