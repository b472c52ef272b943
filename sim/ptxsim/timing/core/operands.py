"""Operand collector: from issue to the units' dispatch registers (timing-model section 1.5).

Step order in a cycle: ready collector units go to OC_EX; each collector unit reads one operand, or one from every bank
(GPGPU-Sim 4.2), if it is the first to ask for the bank and the bank is not being written; the oldest ID_OC entries
move into free collector units. A collector unit with s sources that reads one per cycle is busy for s + 1 cycles
without conflicts.

Handled simply: the instruction that has been in its collector unit longest asks for a bank first.
"""

import numpy as np

from ptxsim.base.jit import bit, ctz, flat_i64, from_bit, inline, popcount
from ptxsim.base.program import instruction_at
from ptxsim.timing.sm_state import BANK_WRITES, CLASSES, CYCLE, QUEUED_BITS


@inline
def queued(entry, place):
    """A front entry at a place of a queue, the others empty."""
    return np.int64(entry) << QUEUED_BITS * place


@inline
def first_queued(queue):
    """The oldest entry of a queue."""
    return queue & ((1 << QUEUED_BITS) - 1)


@inline
def last_queued(queue, count):
    """The newest entry of a queue with `count` entries, at least one."""
    return queue >> QUEUED_BITS * (count - 1)


@inline
def collect(run, sm):
    """One step of all collector units."""
    if sm.cu_ready:
        for k in range(CLASSES):
            if sm.oc_ex_n[k] < run.oc_ex_width[k]:
                _dispatch(run, sm, k)
    if sm.cu_order_n:
        _read(run, sm)
    for k in range(CLASSES):
        if sm.id_oc_n[k]:
            _accept(run, sm, k)


@inline
def rotated(run, banks, w):
    """A mask of banks of warp 0 as one of warp w."""
    turn = w * run.bank_turn & (run.n_banks - 1)
    return (banks << turn | banks >> (run.n_banks - turn)) & (bit(run.n_banks) - 1)


@inline
def _dispatch(run, sm, k):
    """Ready units to OC_EX, round robin, one per port."""
    first = run.first_collector[k]
    own = run.collectors[k]
    for _ in range(run.collector_ports[k]):
        ready = sm.cu_ready & own
        if ready == 0 or sm.oc_ex_n[k] >= run.oc_ex_width[k]:
            return
        later = ready & from_bit(first + sm.cu_last[k] + 1)
        unit = ctz(later) if later else ctz(ready)
        sm.oc_ex[k] |= queued(sm.cu_entry[unit], sm.oc_ex_n[k])
        sm.oc_ex_n[k] += 1
        sm.cu_busy &= ~bit(unit)
        sm.cu_ready &= ~bit(unit)
        sm.cu_last[k] = unit - first


@inline
def leave_oc_ex(sm, k):
    """Remove the oldest OC_EX entry of a class, which goes to its unit."""
    entry = first_queued(sm.oc_ex[k])
    sm.oc_ex[k] >>= QUEUED_BITS
    sm.oc_ex_n[k] -= 1
    return entry


@inline
def is_frozen(run, sm):
    """True if no collector unit and no ID_OC entry can move until something leaves OC_EX."""
    if sm.cu_order_n:
        return False
    for k in range(CLASSES):
        own = run.collectors[k]
        if sm.cu_ready & own and sm.oc_ex_n[k] < run.oc_ex_width[k]:
            return False
        if sm.id_oc_n[k] and own & ~sm.cu_busy:
            return False
    return True


@inline
def _read(run, sm):
    """One read per bank, in order of asking, none from a bank that is being written; `collector_reads` per unit."""
    slot = run.cycle & run.wheel
    taken = sm.wheel[slot, BANK_WRITES] if sm.wheel[slot, CYCLE] == run.cycle else 0
    left_over = 0
    for k in range(sm.cu_order_n):
        unit = sm.cu_order[k]
        entry = sm.cu_entry[unit]
        banks = sm.front_banks[entry]
        if banks:
            sm.front_banks[entry] = banks & taken if run.model_banks else 0
            sm.register_bank_conflicts += popcount(sm.front_banks[entry])
            taken |= banks
        else:
            reads = sm.front_reads[entry]
            left = run.collector_reads
            number = sm.front_ins[entry]
            w = sm.front_warp[entry]
            while reads:
                source = ctz(reads)
                reads &= reads - 1
                first = instruction_at(run.code, number).bank[source] & run.bank_mask
                bank = bit((first + w * run.bank_turn) & (run.n_banks - 1))
                if left > 0:
                    if taken & bank == 0 or run.model_banks == 0:
                        sm.front_reads[entry] &= ~bit(source)
                        left -= 1
                    else:
                        sm.register_bank_conflicts += 1
                taken |= bank
        left_over = wait_or_ready(sm, unit, entry, left_over)
    sm.cu_order_n = left_over


@inline
def wait_or_ready(sm, unit, entry, waiting):
    """A collector unit with reads left joins those that wait, so many so far; any other is ready. How many wait."""
    if sm.front_reads[entry] | sm.front_banks[entry] == 0:
        sm.cu_ready |= bit(unit)
        return waiting
    sm.cu_order[waiting] = unit
    return waiting + 1


@inline
def enter_unit(run, sm, unit, entry, banks):
    """A front entry into a free collector unit. `banks` are those that it reads; 0: it reads operand by operand."""
    sm.cu_busy |= bit(unit)
    sm.cu_entry[unit] = entry
    sm.front_banks[entry] = banks
    sm.front_reads[entry] = 0
    if banks == 0:
        sm.front_reads[entry] = bit(instruction_at(run.code, sm.front_ins[entry]).n_sources) - 1
    sm.cu_order_n = wait_or_ready(sm, unit, entry, sm.cu_order_n)


@inline
def _accept(run, sm, k):
    """The oldest ID_OC entries into free units, one per port."""
    own = run.collectors[k]
    ports = run.collector_ports[k]
    moved = 0
    while moved < sm.id_oc_n[k] and moved < ports:
        free = own & ~sm.cu_busy
        if free == 0:
            break
        unit = ctz(free)
        entry = first_queued(sm.id_oc[k])
        sm.id_oc[k] >>= QUEUED_BITS
        banks = flat_i64(run.banks_read, run.n_instructions)[sm.front_ins[entry]]
        enter_unit(run, sm, unit, entry, rotated(run, banks, sm.front_warp[entry]))
        moved += 1
    sm.id_oc_n[k] -= moved
