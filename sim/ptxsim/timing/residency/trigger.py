"""When a CTA may be switched out: all of its warps are stalled, and none of its instructions is in the pipeline.

A warp is stalled if its next instruction needs a register that a load from beyond the SM will write, if it waits for an
atomic or at a barrier, or if it has exited; one of them has to wait for memory, because only a reply makes the CTA
ready again. L1 hits end when the instruction leaves the head of the LDST unit, so an awaited load has missed. No
instruction may be between issue and the memory system, no register about to be written, no instruction being fetched:
only loads in flight and unacknowledged stores may remain of a CTA that is switched out.

Where warps take sections of a pool of registers, one that waits for a section is stalled while none is free, and such a
warp will do in place of one that waits for memory: otherwise the CTAs that hold the sections could be outside for ever.

A warp at a fence or a wait for copies is not stalled in this sense. Nor is one whose memory instruction finds the port
closed; where the machine says so (`refused_is_stalled`) it is, while a cache refuses the instruction at the head of the
LDST unit.

Timing-model section 6.1 (its choice of what a stall is); Oh et al., FineReg, MICRO 2018, section IV.C.
"""

from ptxsim.base.jit import ctz, njit
from ptxsim.base.warp_masks import no_warps, warp_bit
from ptxsim.timing.long_waits import waits_long
from ptxsim.timing.residency.contexts import warps_of

NOT_STALLED = -1


@njit
def stalled_from(run, sm, switch, slot):
    """The cycle from which the CTA in a slot is stalled if no load returns before; NOT_STALLED if it is not."""
    mine = warps_of(run, sm, slot)
    unfinished = sm.resident & ~sm.finishing & mine
    hindered = sm.has_head & ~(sm.at_barrier | sm.in_membar | sm.in_wait | sm.in_atomic)
    waiting = hindered & sm.blocked
    stalled = waiting | sm.at_barrier | sm.in_atomic
    for_section = no_warps(sm)
    if run.sections and sm.sections_taken == run.sections:
        for_section = sm.lock_wait & unfinished
        stalled |= for_section
    if switch.refused_is_stalled and sm.head_stuck and _port_is_closed(run, sm):
        stalled |= hindered & sm.ready & sm.head_class[2]
    if unfinished & ~stalled:
        return NOT_STALLED
    if not for_section and not waits_for_memory(sm, mine):
        return NOT_STALLED
    if sm.imiss & mine or (sm.latch_warp >= 0 and mine & warp_bit(sm, sm.latch_warp)):
        return NOT_STALLED
    since = 0
    left = sm.resident & mine
    while left:
        w = ctz(left)
        left &= left - 1
        if sm.front_count[w]:
            return NOT_STALLED
        since = max(since, sm.done_at[w])
    left = waiting & unfinished
    while left:
        w = ctz(left)
        left &= left - 1
        if not waits_long(run, sm, w):
            return NOT_STALLED
    return since


@njit
def waits_for_memory(sm, mine):
    """Whether one of the warps of a stalled CTA, a mask, waits for memory."""
    waiting = sm.has_head & sm.blocked & ~(sm.at_barrier | sm.in_membar | sm.in_wait)
    return (waiting | sm.in_atomic) & ~sm.finishing & sm.resident & mine != 0


@njit
def _port_is_closed(run, sm):
    """Whether the LDST unit takes no further instruction."""
    return sm.id_oc_n[2] >= run.port_width[2] or sm.pending_free_n == 0
