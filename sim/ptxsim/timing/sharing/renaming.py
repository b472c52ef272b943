"""Release by name: a warp occupies physical registers only for values that it still needs (timing-model section 6.2).

A register of the text is mapped to a physical one when an instruction that writes it issues, and stays so until the
warp stands at an instruction from which on no lane reads the value: `needed` has these registers per instruction,
`written` those that it writes. An instruction that maps registers waits until as many are free. They are free as soon
as the last instruction that reads them has issued, or the warp has exited, whatever is still in flight.

Deadlock rule: of the CTAs on an SM that have not exited the oldest can always map as many registers as its warps can
need at a time, `most_of_cta`; a warp of another CTA waits if too few would be left for that. When the oldest ends the
next one has what it held, so it never waits for another CTA. So that fewer wait half-way, more of the oldest CTAs may
have such a reserve, `reserving_ctas`. The simulator moves no value: this is about time only.

Not handled: while lanes of a warp wait at a barrier in a branch and others run, only those count that run.

H. Jeon, G. S. Ravi, N. S. Kim, M. Annavaram, "GPU register file virtualization", MICRO 2015.
"""

from ptxsim.base.jit import ctz, flat_i64, njit, popcount
from ptxsim.base.warp_masks import warp_bit
from ptxsim.timing.sharing.pairs import refuse


@njit
def see_head(run, sm, w):
    """Note how many registers the new head instruction of warp w maps."""
    words = run.renaming_words
    written = flat_i64(run.written, run.n_instructions * words)
    mapped = flat_i64(sm.mapped, run.contexts * words)
    here, mine = sm.ib_pc[w] * words, sm.context[w] * words
    n = 0
    for k in range(words):
        n += popcount(written[here + k] & ~mapped[mine + k])
    sm.mapped_next[w] = n
    sm.needs_lock &= ~warp_bit(sm, w)
    if n:
        sm.needs_lock |= warp_bit(sm, w)


@njit
def without_refused(run, sm, ready):
    """Some ready warps without those whose head finds too few free registers: these wait from now on."""
    testing = ready & sm.needs_lock & ~sm.lock_wait
    while testing:
        w = ctz(testing)
        testing &= testing - 1
        if not may_map(run, sm, w):
            refuse(run, sm, w, -1)
    return ready & ~sm.lock_wait


@njit
def may_map(run, sm, w):
    """Whether warp w may map the registers of its head now."""
    left = run.physical - sm.physical_used - sm.mapped_next[w]
    if left >= run.reserving_ctas * run.most_of_cta:
        return True
    return left >= _reserved(run, sm, sm.cta_slot[w])


@njit
def _reserved(run, sm, slot):
    """The registers that the CTAs with a reserve which are older than that in a slot can still map."""
    reserved, cta = 0, -1
    for _ in range(run.reserving_ctas):
        oldest = _oldest_after(sm, cta)
        if oldest == slot:
            break
        cta = sm.cta_id[oldest]
        reserved += run.most_of_cta
        for k in range(run.warps_per_cta):
            reserved -= sm.mapped_n[sm.cta_context[oldest] * run.warps_per_cta + k]
    return reserved


@njit
def _oldest_after(sm, cta):
    """The slot of the oldest CTA, launched after CTA number `cta`, with a warp that has not exited; there is one."""
    left = sm.resident & ~sm.finishing
    oldest = -1
    while left:
        slot = sm.cta_slot[ctz(left)]
        left &= left - 1
        if sm.cta_id[slot] > cta and (oldest < 0 or sm.cta_id[slot] < sm.cta_id[oldest]):
            oldest = slot
    return oldest


@njit
def issued(run, sm, w, i):
    """Warp w has issued instruction i, and its SIMT stack has moved: map what i writes, free what is needed no more."""
    words = run.renaming_words
    written = flat_i64(run.written, run.n_instructions * words)
    needed = flat_i64(run.needed, (run.n_instructions + 1) * words)
    mapped = flat_i64(sm.mapped, run.contexts * words)
    context = sm.context[w]
    top = sm.depth[w] - 1
    sm.physical_used -= sm.mapped_n[context]
    n, before = 0, sm.physical_used + sm.mapped_n[context]
    for k in range(words):
        if top >= 0:
            keeps = needed[min(sm.stack_pc[top, w], run.n_instructions) * words + k]
            mapped[context * words + k] = (mapped[context * words + k] | written[i * words + k]) & keeps
            n += popcount(mapped[context * words + k])
        else:
            mapped[context * words + k] = 0
    sm.mapped_n[context] = n
    sm.physical_used += n
    sm.physical_most = max(sm.physical_most, before + sm.mapped_next[w])
    if sm.physical_used < before:
        sm.release_cycle = run.cycle + 1


@njit
def warp_exited(run, sm):
    """All lanes of a warp have exited: another CTA may be the oldest now."""
    sm.release_cycle = run.cycle + 1
