"""Running ahead: an SM may do some cycles before the other SMs and the memory do theirs. For the cycle loop.

This keeps the state of an SM in the host's first-level cache from one cycle to the next. Results are the same because
nothing can reach the SM before its next cycle, and no other SM observes its actions out of order:

* No reply arrives. A reply that has left the network has a known cycle of arrival; any other still has to pass the
  network, which takes `run.horizon` cycles. An SM that waits for no reply gets none.
* The SM accesses no memory that others see: such an instruction is not at the head of a warp that is ready, will be
  ready in that cycle, or may become ready by a reply in that cycle.
* None of its requests waits before the network: there is room for the requests of that cycle, and each is alone in its
  FIFO until the network has reached the same cycle.
* No CTA ends or starts there.

Where the order in which SMs print, draw random numbers or ask for room matters, `run.ahead` is 0 (`build.py`).
"""

from ptxsim.base.jit import inline
from ptxsim.timing.memory.system import nothing_sent, reply_next
from ptxsim.timing.sm_state import ALL_MEMORY_FREE, PENDING


@inline
def may_go_on(run, sm, memory, now):
    """Whether an SM can do its next cycle while the others are at cycle `now`."""
    following = run.sm_next[sm.index]
    if following >= min(now + run.ahead, run.stop_cycle) or run.timeline:
        return False
    may_issue = sm.ready | sm.blocked | sm.wakes[following & run.wheel]
    if sm.has_head & sm.outside & may_issue or sm.finishing & ~sm.storing:
        return False
    if reply_next(memory, sm.index) + run.response_hops <= following or not nothing_sent(memory, sm.index):
        return False
    if run.has_team:
        if following >= run.known and _waits(sm):
            return False
    elif following >= now + run.horizon and memory.next <= following and _waits(sm):
        return False
    return not run.is_open[sm.index] or run.next_cta >= run.n_ctas


@inline
def _waits(sm):
    """Whether an SM waits for replies, or has memory instructions that may send requests."""
    if sm.storing | sm.imiss:
        return True
    return sm.pending_free_n < PENDING or sm.memory_free != ALL_MEMORY_FREE
