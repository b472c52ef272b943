"""Sections of a pool of registers: acquire and release marks as instructions of their own (timing-model section 6.2).

A warp that holds a section has the extended registers of its lanes there. A mark stands before an instruction, and
until the warp has passed it, the mark is what the warp issues next: it waits for no register and takes an issue slot,
but no port and no unit. An acquire mark issues when a section is free; a warp that finds none waits, and tries again
when one was released. A warp holds one section at most: where it holds one, an acquire mark takes no slot, and where it
holds none, neither does a release mark. A section is free as soon as the release mark has issued, or the warp's last
lane has exited, whatever is still in flight.

F. Khorasani et al., "RegMutex: inter-warp GPU register time-sharing", ISCA 2018.
"""

from ptxsim.base.jit import ctz, njit
from ptxsim.base.program import ACQUIRES_EXTENDED, RELEASES_EXTENDED
from ptxsim.base.warp_masks import warp_bit
from ptxsim.timing.sharing.pairs import refuse


@njit
def head_is_mark(run, sm, instruction, w):
    """Whether warp w has to pass a mark before its new head instruction: then that is ready to issue."""
    me = warp_bit(sm, w)
    wanted = RELEASES_EXTENDED if sm.holds_section[sm.context[w]] else ACQUIRES_EXTENDED
    if instruction.marks & wanted == 0:
        sm.needs_lock &= ~me
        return False
    sm.needs_lock |= me
    sm.has_head |= me
    sm.ready |= me
    sm.blocked &= ~me
    sm.long_wait &= ~me
    return True


@njit
def without_refused(run, sm, ready):
    """Some ready warps without those at an acquire mark, if no section is free: these wait from now on."""
    if sm.sections_taken == run.sections:
        testing = ready & sm.needs_lock & ~sm.lock_wait
        while testing:
            w = ctz(testing)
            testing &= testing - 1
            if not sm.holds_section[sm.context[w]]:
                refuse(run, sm, w, -1)
    return ready & ~sm.lock_wait


@njit
def pass_mark(run, sm, w):
    """Warp w issues the mark before its head instruction."""
    context = sm.context[w]
    if sm.holds_section[context]:
        _free(run, sm, context)
        return
    sm.holds_section[context] = 1
    sm.sections_taken += 1
    sm.sections_most = max(sm.sections_most, sm.sections_taken)
    sm.sections_acquired += 1


@njit
def exited_holding(run, sm, w):
    """All lanes of a warp have exited: its section is free, if it holds one."""
    if sm.holds_section[sm.context[w]]:
        _free(run, sm, sm.context[w])


@njit
def _free(run, sm, context):
    sm.holds_section[context] = 0
    sm.sections_taken -= 1
    sm.release_cycle = run.cycle + 1


@njit
def may_retry(run, sm):
    """Whether the warps that wait for a section may try again."""
    return sm.sections_taken < run.sections
