"""Register sharing: pair locks, ownership, and which warps may touch shared registers now.

Two CTAs of a pair share all registers numbered beyond the private ones, warp by warp: warps at the same position hold
one lock. The CTA whose warp first takes a lock owns the pair. Deadlock rule ("safe"): a warp of the owner may always
take its lock when it is free; a warp of the non-owner only when its partner warp has exited. Locks are released when a
warp's last lane exits. When the owner CTA ends its partner becomes owner, and the next CTA in the freed slot is the
non-owner.

Jatala et al., register sharing, sections 3 and 4; timing-model section 5.

State of an SM: pair, side, partner (per CTA slot), owner, lock (per pair), exited (per CTA slot), warp_class.
"""

from typing import Any

from ptxsim.core.timeline import note
from ptxsim.core.timeline_codes import LOCKED, OWNED, UNLOCKED
from ptxsim.jit import bit, ctz, flat_i64, njit
from ptxsim.sharing.dynamic import admits, draws_again, end_hold, forget_draw, hold, is_far, is_held

OWNER, UNSHARED, NON_OWNER = 0, 1, 2


def pair_slots(sms: Any, n_pairs: int, first: int) -> None:
    """Pair CTA slot `first + p` with slot `first + n_pairs + p` in every SM (the records of a run); no lock is held."""
    for name in ("pair", "partner", "owner", "lock"):
        sms[name] = -1
    for p in range(n_pairs):
        one, other = first + p, first + n_pairs + p
        sms["pair"][:, [one, other]] = p
        sms["side"][:, [one, other]] = 0, 1
        sms["partner"][:, [one, other]] = other, one


@njit
def may_touch(sm, w):
    """True if warp w may touch a shared register now."""
    slot = sm.cta_slot[w]
    p = sm.pair[slot]
    if p < 0:
        return True
    holder = sm.lock[p, sm.warp_in_cta[w]]
    side = sm.side[slot]
    if holder == side:
        return True
    if holder >= 0:
        return False
    if sm.owner[p] < 0 or sm.owner[p] == side:
        return True
    return (sm.exited[sm.partner[slot]] >> sm.warp_in_cta[w]) & 1 != 0


@njit
def asks(run, instruction):
    """Whether a warp that shares registers has to ask before it issues an instruction."""
    return instruction.max_sequence > run.private_registers or (run.dynamic != 0 and is_far(instruction))


@njit
def ask(run, sm, instruction, w):
    """Warp w is about to issue an instruction: let it wait if a lock or dynamic warp execution says so."""
    if instruction.max_sequence > run.private_registers and not may_touch(sm, w):
        refuse(run, sm, w)
    elif (
        run.dynamic != 0 and sm.warp_class[w] == NON_OWNER and is_far(instruction) and not admits(run, sm, w)
    ):
        hold(run, sm, w)


@njit
def take(run, sm, instruction, w):
    """Warp w issues what it has asked for: if it touches a shared register, it holds its lock from now on."""
    if run.dynamic != 0:
        forget_draw(run, sm, w)
        if instruction.max_sequence <= run.private_registers:
            return
    slot = sm.cta_slot[w]
    p = sm.pair[slot]
    if p < 0:
        return
    side = sm.side[slot]
    if run.timeline and sm.lock[p, sm.warp_in_cta[w]] != side:
        note(run, sm, LOCKED, p, sm.warp_in_cta[w], slot, 0)
    sm.lock[p, sm.warp_in_cta[w]] = side
    if sm.owner[p] < 0:
        _set_owner(run, sm, p, side)


@njit
def _set_owner(run, sm, p, side):
    sm.owner[p] = side
    if run.timeline:
        note(run, sm, OWNED, p, side, 0, 0)
    for slot in range(run.resident_ctas):
        if sm.pair[slot] == p:
            classify(run, sm, slot)


@njit
def classify(run, sm, slot):
    """Set the class of the warps of a CTA slot: owner, unshared or non-owner."""
    p = sm.pair[slot]
    kind = UNSHARED
    if p >= 0:
        kind = run.unowned_class
        if sm.owner[p] >= 0:
            kind = OWNER if sm.owner[p] == sm.side[slot] else NON_OWNER
    for k in range(run.warps_per_cta):
        sm.warp_class[slot * run.warps_per_cta + k] = kind


@njit
def cta_started(run, sm, slot):
    """A CTA begins in a slot: it holds nothing; beside a running partner it is the non-owner."""
    sm.exited[slot] = 0
    classify(run, sm, slot)


@njit
def warp_exited(run, sm, w):
    """All lanes of warp w have exited: its lock is free, its partner may go on."""
    slot = sm.cta_slot[w]
    p = sm.pair[slot]
    k = sm.warp_in_cta[w]
    sm.exited[slot] |= bit(k)
    if sm.lock[p, k] == sm.side[slot]:
        sm.lock[p, k] = -1
        if run.timeline:
            note(run, sm, UNLOCKED, p, k, 0, 0)
    sm.release_cycle = run.cycle + 1


@njit
def cta_ended(run, sm, slot):
    """A CTA has ended: a running partner becomes the owner."""
    p = sm.pair[slot]
    other = sm.partner[slot]
    if sm.owner[p] == sm.side[slot]:
        _set_owner(run, sm, p, sm.side[other] if sm.cta_id[other] >= 0 else -1)
    sm.release_cycle = run.cycle + 1


@njit
def refuse(run, sm, w):
    """Note that warp w stops at its head because of a lock: the stall-point report."""
    i = sm.ib_pc[w]
    sm.lock_wait |= bit(w)
    sm.lock_since[w] = run.cycle
    sm.lock_refused += 1
    flat_i64(run.stall_warps, run.n_instructions)[i] += 1
    first = flat_i64(run.stall_first, run.n_instructions)
    if first[i] < 0 or run.cycle < first[i]:
        first[i] = run.cycle


@njit
def settle_wait(run, sm, w):
    """Warp w waits no longer: charge the cycles to the instruction it waited at, its head."""
    waited = run.cycle - sm.lock_since[w]
    sm.lock_wait &= ~bit(w)
    if run.dynamic != 0 and is_held(run, sm, w):
        end_hold(run, sm, w, waited)
        return
    flat_i64(run.stall_cycles, run.n_instructions)[sm.ib_pc[w]] += waited
    sm.lock_wait_cycles += waited


@njit
def retest(run, sm):
    """Locks were released: let the waiting warps that may go on now be ready again."""
    waiting = sm.lock_wait
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        if run.dynamic != 0 and is_held(run, sm, w):
            if draws_again(run, sm) or sm.warp_class[w] != NON_OWNER:
                settle_wait(run, sm, w)
        elif may_touch(sm, w):
            settle_wait(run, sm, w)
