"""Running ahead: an SM may do some cycles before the other SMs and the memory do theirs. For the cycle loop.

What an SM looks at in a cycle is then still in the first-level cache for the next one. Results are the same because
until its next cycle nothing can reach it, and nothing that it does there is seen by others out of order:

* No reply comes. One that is on its last way has a known cycle. Another one takes its way through the network first:
  `run.horizon` cycles. An SM that waits for nothing gets none at all.
* It accesses no memory that others see: such an instruction is not at the head of a warp that is ready, will be ready
  in that cycle, or may be made ready by what returns in it.
* None of its requests waits before the network, so that there is room for what the cycle sends, and a request is alone
  in its FIFO until the network has come to its cycle.
* No CTA ends or starts there.

Where the order in which SMs print, draw or ask matters, `run.ahead` is 0 (`drive.py`).
"""

from ptxsim.base.jit import bit, inline
from ptxsim.timing.memory.system import nothing_sent, reply_next
from ptxsim.timing.sm_state import ALL_MEMORY_FREE, PENDING, WAKES


@inline
def may_go_on(run, sm, memory, now):
    """Whether an SM can do its next cycle while the others are at cycle `now`."""
    following = run.sm_next[sm.index]
    if following >= min(now + run.ahead, run.stop_cycle) or run.timeline:
        return False
    may_issue = sm.ready | sm.blocked | sm.wheel[following & run.wheel, WAKES]
    if sm.has_head & sm.outside & may_issue or sm.finishing & ~sm.storing:
        return False
    if reply_next(memory, sm.index) + run.response_hops <= following or not nothing_sent(memory, sm.index):
        return False
    if following >= now + run.horizon and memory.next <= following and _waits(sm):
        return False
    return not run.open_sms & bit(sm.index) or run.next_cta >= run.n_ctas


@inline
def _waits(sm):
    """Whether an SM waits for replies, or has memory instructions that may ask for some."""
    return sm.pending_free_n < PENDING or sm.storing or sm.imiss or sm.memory_free != ALL_MEMORY_FREE
