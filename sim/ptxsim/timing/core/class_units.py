"""Units of SP, SFU, tensor, DP and INT where the classes share collector units (GPGPU-Sim 4.2 from Kepler on).

With sub-cores unit k of a class takes only what sub-core k has issued; without them every unit takes the oldest. The
rest is as in `execute.py`: an instruction enters its unit at cycle C if the dispatch register is empty, nothing else of
the unit completes in the same cycle, and a result bus is free then; it writes back at C + L + 2.
Reference: timing-model section 1.6; `shader_core_ctx::execute` of GPGPU-Sim 4.2.
"""

from ptxsim.base.jit import bit, flat_i64, inline, njit
from ptxsim.base.program import DP, INT, LDST, SFU, SP, TENSOR, instruction_at
from ptxsim.timing.core.collector_sets import queued_at, rotated_within, sub_core, without
from ptxsim.timing.core.execute import wheel_slot
from ptxsim.timing.sm_state import ALL_CLASSES, BANK_WRITES, BUSES_USED, FOREVER, UNITS_DONE
from ptxsim.timing.warps.scoreboard import release


@njit
def execute_classes(run, sm):
    """Let the units take instructions from OC_EX, in GPGPU-Sim's order of classes."""
    _execute(run, sm, SP)
    _execute(run, sm, DP)
    _execute(run, sm, INT)
    _execute(run, sm, SFU)
    _execute(run, sm, TENSOR)


@njit
def _execute(run, sm, k):
    for number in range(run.class_units[k]):
        if sm.oc_ex_n[k] == 0:
            return
        if sm.unit_free[run.first_unit[k] + number] <= run.cycle:
            place = _place_for(run, sm, k, number)
            if place >= 0:
                _enter(run, sm, k, run.first_unit[k] + number, place)


@inline
def _place_for(run, sm, k, number):
    """The place in OC_EX of the oldest instruction for a unit; -1: there is none."""
    if run.last_sub_core == 0:
        return 0
    if sm.oc_ex_taken[k] & bit(number) == 0:
        return -1
    for place in range(sm.oc_ex_n[k]):
        if sub_core(run, sm, queued_at(sm.oc_ex[k], place)) == number:
            return place
    return -1


@inline
def _enter(run, sm, k, unit, place):
    entry = queued_at(sm.oc_ex[k], place)
    i = sm.front_ins[entry]
    instruction = instruction_at(run.code, i)
    done = run.cycle + instruction.latency + 1
    slot = wheel_slot(run, sm, done)
    if sm.wheel[slot, UNITS_DONE] & bit(unit) or sm.wheel[slot, BUSES_USED] >= run.result_buses:
        return
    sm.wheel[slot, UNITS_DONE] |= bit(unit)
    sm.wheel[slot, BUSES_USED] += 1
    sm.unit_free[unit] = run.cycle + instruction.interval
    sm.oc_ex[k] = without(sm.oc_ex[k], place)
    sm.oc_ex_n[k] -= 1
    w = sm.front_warp[entry]
    sm.oc_ex_taken[k] &= ~bit(w & run.last_sub_core)
    sm.front_free |= bit(entry)
    sm.front_count[w] -= 1
    writeback = done + 1
    sm.done_at[w] = max(sm.done_at[w], writeback)
    if run.model_banks:
        banks = rotated_within(run, flat_i64(run.banks_written, run.n_instructions)[i], w)
        sm.wheel[wheel_slot(run, sm, writeback), BANK_WRITES] |= banks
    release(run, sm, i, w, writeback)


@njit
def next_class_entry(run, sm):
    """The earliest cycle in which an instruction in OC_EX can enter its unit; FOREVER if none waits there."""
    following = FOREVER
    for k in range(ALL_CLASSES):
        if k != LDST and sm.oc_ex_n[k]:
            for number in range(run.class_units[k]):
                if _place_for(run, sm, k, number) >= 0:
                    following = min(following, sm.unit_free[run.first_unit[k] + number])
    return following
