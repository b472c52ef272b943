"""The end of a period of dynamic warp execution: every SM's chance moves, and held-back warps draw again.

Compiled when a run first asks for it, apart from the cycle loop, which stops for it.

Reference: timing-model section 5.4.
"""

from functools import cache
from typing import Any

from ptxsim.base.jit import array_of, entry, for_records, njit, types
from ptxsim.base.warp_masks import warp_slots
from ptxsim.timing.core.cycle import account_skipped
from ptxsim.timing.memory.memory_state import L1
from ptxsim.timing.schedulers.signature import WINDOW
from ptxsim.timing.sharing.hold_back import CERTAIN, DYNAMIC
from ptxsim.timing.sharing.locks import end_lock_wait
from ptxsim.timing.sm_state import RUN, RUN_WIDE, STALL, sm_of


@njit
def move(d, stalls, reference):
    """Move a chance by one step: down if there were more stalls than on the reference SM, up if fewer."""
    if stalls > reference:
        d.chance = max(0, d.chance - d.step)
        d.lowered += 1
    elif stalls < reference:
        d.chance = min(CERTAIN, d.chance + d.step)
        d.raised += 1
    d.lowest = min(d.lowest, d.chance)


@njit
def _stalls(run, sm):
    """Stall slots of an SM so far."""
    total = 0
    for s in range(run.n_schedulers):
        total += sm.slots[s, STALL]
    return total


def _end_period(run_array, l1s, units, window):
    """Between two cycles: bring all counters up to date, move the chances, let the held-back warps be tested again."""
    run = run_array[0]
    reference = 0
    for index in range(run.n_sms):
        sm = sm_of(run, index)
        account_skipped(run, sm, l1s[index], window)
        sm.last_cycle = run.cycle - 1
        d = units[index]
        total = _stalls(run, sm)
        if index == 0:
            reference = total - d.stalls
        else:
            move(d, total - d.stalls, reference)
        if not d.cumulative:
            d.stalls = total
        for w in range(warp_slots(sm)):
            d.passed[w] = 0
            if d.held[w]:
                end_lock_wait(run, sm, w)
        run.sm_next[index] = min(run.sm_next[index], run.cycle)


@cache
def end_period(is_wide: bool) -> Any:
    """The compiled function, for narrow or wide records."""
    arguments = [array_of(d) for d in (RUN_WIDE if is_wide else RUN, L1, DYNAMIC)]
    declared = entry(types.void(*arguments, types.FunctionType(WINDOW[is_wide])))(_end_period)
    return for_records(declared, "wide") if is_wide else declared
