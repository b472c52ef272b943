"""Pairs of CTAs that share a resource: partners, owners and refused warps (timing-model section 5).

Common to register and scratchpad sharing. CTA slots are paired for the whole run. The CTA that first takes a lock owns
the pair; when it ends its partner becomes owner, and the next CTA in the freed slot is the non-owner. A warp whose
head is refused waits, is tested again when a lock was released, and counts for the stall-point report.

State of an SM: pair, side, partner, done (per CTA slot), owner, lock (per pair), warp_class, lock_wait, lock_since.

Jatala et al., register sharing, sections 3 and 4.
"""

from typing import Any

from ptxsim.base.jit import flat_i64, njit
from ptxsim.base.warp_masks import warp_bit
from ptxsim.timing.timeline_codes import LOCKED, OWNED, UNLOCKED
from ptxsim.timing.timeline_events import note

OWNER, UNSHARED, NON_OWNER = 0, 1, 2
SAFE, STRICT, SYMMETRIC = 0, 1, 2  # lock rules


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
def classify(run, sm, slot):
    """Set the class of the warps of a CTA slot: owner, unshared or non-owner."""
    p = sm.pair[slot]
    kind = UNSHARED
    if p >= 0:
        kind = run.unowned_class
        if sm.owner[p] >= 0:
            kind = OWNER if sm.owner[p] == sm.side[slot] else NON_OWNER
    for w in range(sm.cta_first[slot], sm.cta_first[slot] + sm.cta_size[slot]):
        sm.warp_class[w] = kind


@njit
def set_owner(run, sm, p, side):
    """A side of a pair becomes its owner; -1: no side."""
    sm.owner[p] = side
    if run.timeline:
        note(run, sm, OWNED, p, side, 0, 0)
    for slot in range(run.resident_ctas):
        if sm.pair[slot] == p:
            classify(run, sm, slot)


@njit
def lock(run, sm, p, k, slot):
    """The CTA in a slot takes lock k of its pair."""
    side = sm.side[slot]
    if run.timeline and sm.lock[p, k] != side:
        note(run, sm, LOCKED, p, k, slot, 0)
    sm.lock[p, k] = side


@njit
def unlock(run, sm, p, k, early):
    """Lock k of a pair is free; `early`: at a release mark."""
    sm.lock[p, k] = -1
    if early:
        sm.locks_released_early += 1
    if run.timeline:
        note(run, sm, UNLOCKED, p, k, 0, 0)


@njit
def is_done(sm, slot, k):
    """Whether the warp at position k of a CTA has exited or passed a release mark."""
    return (sm.done[slot] >> k) & 1 != 0


@njit
def cta_started(run, sm, slot):
    """A CTA begins in a slot: it holds nothing; beside a running partner it is the non-owner."""
    sm.done[slot] = 0
    for w in range(sm.cta_first[slot], sm.cta_first[slot] + sm.cta_size[slot]):
        sm.fell_to[w] = -1
        sm.has_released &= ~warp_bit(sm, w)
    classify(run, sm, slot)


@njit
def cta_ended(run, sm, slot):
    """A CTA has ended: a running partner becomes the owner."""
    p = sm.pair[slot]
    other = sm.partner[slot]
    if sm.owner[p] == sm.side[slot]:
        set_owner(run, sm, p, sm.side[other] if sm.cta_id[other] >= 0 else -1)
    sm.release_cycle = run.cycle + 1


@njit
def refuse(run, sm, w, offset):
    """Note that a lock stops warp w at its head; `offset`: the byte of the scratchpad that it wants to access."""
    i = sm.ib_pc[w]
    sm.lock_wait |= warp_bit(sm, w)
    sm.lock_since[w] = run.cycle
    sm.lock_refused += 1
    flat_i64(run.stall_warps, run.n_instructions)[i] += 1
    first = flat_i64(run.stall_first, run.n_instructions)
    if first[i] < 0 or run.cycle < first[i]:
        first[i] = run.cycle
        flat_i64(run.stall_offset, run.n_instructions)[i] = offset
