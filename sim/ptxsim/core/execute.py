"""SP and SFU pipelines: initiation intervals, latencies, result buses (timing-model section 1.6).

An instruction enters its unit from OC_EX at cycle C if the dispatch register is empty (an earlier one holds it for
its initiation interval), nothing else of the unit completes in the same cycle, and a result bus is free then. It
writes back at C + L + 2, before issue in the same cycle.
"""

from ptxsim.core.operands import leave_oc_ex
from ptxsim.core.scoreboard import release
from ptxsim.jit import bit, flat_i32, inline, njit
from ptxsim.state import WHEEL


@inline
def execute_units(run, sm, instructions):
    """Let SP 0, SP 1, ... and the SFUs each take their oldest instruction from OC_EX."""
    if sm.oc_ex_n[0]:
        for unit in range(run.n_sp):
            _enter(run, sm, instructions, 0, unit)
    if sm.oc_ex_n[1]:
        for unit in range(run.n_sp, run.n_sp + run.n_sfu):
            _enter(run, sm, instructions, 1, unit)


@inline
def _write_banks(run, sm, instruction, w, cycle):
    """The banks of an instruction's destinations are written at `cycle`: no operand is read from them then."""
    number = flat_i32(run.bank_number, run.n_registers)
    for j in range(instruction.n_destinations):
        sm.bank_writes[cycle & (WHEEL - 1)] |= bit((number[instruction.register[j]] + w) % run.n_banks)


@njit
def clear_wheels(run, sm):
    """Free the wheel slots of the cycles that have passed since this SM last ran."""
    first = max(sm.last_cycle, run.cycle - WHEEL)
    last = min(run.cycle, sm.wheels_until + 1)
    for cycle in range(first, last):
        slot = cycle & (WHEEL - 1)
        sm.bus_used[slot] = 0
        sm.bank_writes[slot] = 0
        for unit in range(run.n_sp + run.n_sfu):
            sm.unit_done[unit, slot >> 6] &= ~bit(slot & 63)


@njit
def _enter(run, sm, instructions, k, unit):
    if sm.oc_ex_n[k] == 0 or sm.unit_free[unit] > run.cycle:
        return
    entry = sm.oc_ex[k, 0]
    i = sm.front_ins[entry]
    instruction = instructions[i]
    done = run.cycle + instruction.latency + 1
    slot = done & (WHEEL - 1)
    if sm.unit_done[unit, slot >> 6] & bit(slot & 63) or sm.bus_used[slot] >= run.result_buses:
        return
    sm.unit_done[unit, slot >> 6] |= bit(slot & 63)
    sm.bus_used[slot] += 1
    sm.unit_free[unit] = run.cycle + instruction.interval
    leave_oc_ex(sm, k)
    w = sm.front_warp[entry]
    sm.front_free |= bit(entry)
    sm.front_count[w] -= 1
    writeback = done + 1
    sm.done_at[w] = max(sm.done_at[w], writeback)
    sm.wheels_until = max(sm.wheels_until, writeback)
    if run.model_banks:
        _write_banks(run, sm, instruction, w, writeback)
    release(run, sm, instructions, i, w, writeback)
