"""SP and SFU pipelines: initiation intervals, latencies, result buses (timing-model section 1.6).

An instruction enters its unit from OC_EX at cycle C if the dispatch register is empty (an earlier one holds it for
its initiation interval), nothing else of the unit completes in the same cycle, and a result bus is free then. It
writes back at C + L + 2, before issue in the same cycle.
"""

from ptxsim.base.jit import bit, flat_i64, inline
from ptxsim.base.program import instruction_at
from ptxsim.timing.core.operands import first_queued, leave_oc_ex, rotated
from ptxsim.timing.sm_state import BANK_WRITES, BUSES_USED, CYCLE, FOREVER, UNITS_DONE
from ptxsim.timing.warps.scoreboard import release


@inline
def execute_units(run, sm):
    """Let SP 0, SP 1, ... and the SFUs each take their oldest instruction from OC_EX."""
    if sm.oc_ex_n[0]:
        for unit in range(run.n_sp):
            _enter(run, sm, 0, unit)
    if sm.oc_ex_n[1]:
        for unit in range(run.n_sp, run.n_sp + run.n_sfu):
            _enter(run, sm, 1, unit)


@inline
def next_entry(run, sm):
    """The earliest cycle in which an instruction in OC_EX can enter an SP or SFU; FOREVER if none waits there."""
    following = FOREVER
    if sm.oc_ex_n[0]:
        for unit in range(run.n_sp):
            following = min(following, sm.unit_free[unit])
    if sm.oc_ex_n[1]:
        for unit in range(run.n_sp, run.n_sp + run.n_sfu):
            following = min(following, sm.unit_free[unit])
    return following


@inline
def wheel_slot(run, sm, cycle):
    """The slot of the wheel for a future cycle, cleared if it still describes an earlier cycle."""
    slot = cycle & run.wheel
    if sm.wheel[slot, CYCLE] != cycle:
        sm.wheel[slot, CYCLE] = cycle
        sm.wheel[slot, BANK_WRITES] = 0
        sm.wheel[slot, UNITS_DONE] = 0
        sm.wheel[slot, BUSES_USED] = 0
    return slot


@inline
def _enter(run, sm, k, unit):
    if sm.oc_ex_n[k] == 0 or sm.unit_free[unit] > run.cycle:
        return
    entry = first_queued(sm.oc_ex[k])
    i = sm.front_ins[entry]
    instruction = instruction_at(run.code, i)
    done = run.cycle + instruction.latency + 1
    slot = wheel_slot(run, sm, done)
    if sm.wheel[slot, UNITS_DONE] & bit(unit) or sm.wheel[slot, BUSES_USED] >= run.result_buses:
        return
    sm.wheel[slot, UNITS_DONE] |= bit(unit)
    sm.wheel[slot, BUSES_USED] += 1
    sm.unit_free[unit] = run.cycle + instruction.interval
    leave_oc_ex(sm, k)
    w = sm.front_warp[entry]
    sm.front_free |= bit(entry)
    sm.front_count[w] -= 1
    writeback = done + 1
    sm.done_at[w] = max(sm.done_at[w], writeback)
    if run.model_banks:  # no operand is read in that cycle from the banks that are written
        banks = rotated(run, flat_i64(run.banks_written, run.n_instructions)[i], w)
        sm.wheel[wheel_slot(run, sm, writeback), BANK_WRITES] |= banks
    release(run, sm, i, w, writeback)
