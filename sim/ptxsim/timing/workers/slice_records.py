"""The records of workers before and after a slice: copies of the run's record, one for each and one for CTA dispatch.

Machine code, as Python takes a microsecond for every field. Reference: docs/performance.md.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import njit
from ptxsim.timing.core.cycle import PAUSED
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.memory.side.catch_up import settle
from ptxsim.timing.memory.team.ports import set_up
from ptxsim.timing.memory.team.team import team_at

LEAVE = -2
"""The loop of one thread has to go on: it says why a run has ended."""


@njit
def begin(runs: Any, memory: Any) -> None:
    """Make the copies those of workers, of which the team's record says what is the same in all slices."""
    team = runs[0].team
    t = team_at(team, 0)
    dispatching = runs[t.n]
    cycle = dispatching.cycle
    t.memory_cycle = t.last_memory = cycle
    t.stop[0], t.fault_at[0], t.end_at[0] = dispatching.stop_cycle, FOREVER, FOREVER
    t.ctas_done[0] = dispatching.ctas_done
    t.idle[0] = t.stops_soon[0] = 0
    for worker in range(t.n):
        told, own, run = t.told[worker], t.own[worker], runs[worker]
        told.turn, told.asleep, told.ready, told.left = cycle << 8, 0, 0, 0
        own.last_step, own.waited, own.waited_long = cycle, 0, 0
        run.has_team, run.worker, run.n_workers, run.ctas_done, run.open_sms = 1, worker, t.n, 0, 0
        for sm in range(run.n_sms):
            if sm < t.first_sm[worker] or sm >= t.end_sm[worker]:
                run.is_open[sm] = 0
            run.open_sms += run.is_open[sm]
    memory.has_team, memory.team = 1, team
    set_up(memory, team)


@njit
def end(runs: Any, memory: Any) -> int:
    """Put what workers have done together in the copy for CTA dispatch: the run as the loop of one thread leaves it.
    Returns PAUSED, or LEAVE where the run has ended. Doing it again changes nothing."""
    team = runs[0].team
    t = team_at(team, 0)
    run = runs[t.n]
    fault, ended, stop = t.fault_at[0], t.end_at[0], t.stop[0]
    cycle = min(fault >> 8, ended >> 8, stop)
    settle(team, cycle - np.int64(cycle == stop))  # the next slice begins with what memory does in its cycle
    memory.has_team = 0
    run.cycle, run.ctas_done, run.open_sms = cycle, t.ctas_done[0], 0
    last = np.int64(t.last_memory)
    for worker in range(t.n):
        last = max(last, t.own[worker].last_step)
        for sm in range(t.first_sm[worker], t.end_sm[worker]):
            run.sm_next[sm], run.is_open[sm] = runs[worker].sm_next[sm], runs[worker].is_open[sm]
            run.open_sms += run.is_open[sm]
        if fault < FOREVER and runs[worker].kept_fault[0] == fault:
            for k in range(len(run.kept_fault)):
                run.kept_fault[k] = runs[worker].kept_fault[k]
    if fault < FOREVER or ended < FOREVER:
        run.cycle = cycle + 1
    elif t.idle[0]:
        run.cycle = last
    else:
        return PAUSED
    return LEAVE
