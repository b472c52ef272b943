"""Sets of collector units, one for all classes or one for each, and the sub-cores of an SM (GPGPU-Sim 4.2).

An SM with sub-cores has one for each scheduler: a part of the collector units, of the register banks, one ID_OC and
one OC_EX entry of each class, and its own unit of each class. A warp belongs to sub-core w mod sub-cores. Without them
the SM is one sub-core, whose ID_OC and OC_EX have as many entries as the GPU file says.

Of `run.collector_steps` steps in a cycle each does: ready units go to OC_EX; every bank serves its oldest read, and
several may serve one unit; each in-port of a set moves the oldest ID_OC entry of every class of the set into a
collector unit of its sub-core. If there is none, no other entry of that class moves. An instruction with at most c of
its source registers in one bank is ready after c steps.

ID_OC and OC_EX of a class are each one queue in the order of issue: entries of all sub-cores, which their warps tell.
Register r of warp w is in bank (r + w) mod b of its sub-core's b banks.

Handled simply: the instruction that has been in its collector unit longest asks for a bank first.
Reference: timing-model-42 section 1.5; `opndcoll_rfu_t` of GPGPU-Sim 4.2.
"""

from ptxsim.base.jit import bit, ctz, flat_i64, from_bit, inline, njit, popcount
from ptxsim.base.program import LDST, instruction_at
from ptxsim.base.warp_masks import no_warps
from ptxsim.timing.core.operands import enter_unit, first_queued, queued, wait_or_ready
from ptxsim.timing.sm_state import ALL_CLASSES, BANK_WRITES, CYCLE, QUEUED_BITS

_ENTRY = (1 << QUEUED_BITS) - 1


@inline
def queued_at(queue, place):
    """The entry at a place of a queue."""
    return queue >> QUEUED_BITS * place & _ENTRY


@inline
def without(queue, place):
    """A queue without the entry at a place."""
    before = queue & ((1 << QUEUED_BITS * place) - 1)
    return before | (queue >> QUEUED_BITS * place >> QUEUED_BITS) << QUEUED_BITS * place


@inline
def sub_core(run, sm, entry):
    """The sub-core of the warp of a front entry."""
    return sm.front_warp[entry] & run.last_sub_core


@inline
def rotated_within(run, banks, w):
    """A mask of banks of warp 0 as one of warp w."""
    n = run.sub_core_banks
    turn = w & (n - 1)
    return ((banks << turn | banks >> (n - turn)) & (bit(n) - 1)) << n * (w & run.last_sub_core)


@inline
def _full(run, taken, count, width):
    """A mask of the sub-cores that have no free entry in a set of pipeline registers, of those that have taken one."""
    if run.last_sub_core == 0:
        return 1 if count >= width else 0
    return taken


@njit
def open_sets(run, sm):
    """Warps whose head's class has a free ID_OC entry in their sub-core."""
    closed = no_warps(sm)
    for k in range(ALL_CLASSES):
        if sm.id_oc_n[k]:
            full = _full(run, sm.id_oc_taken[k], sm.id_oc_n[k], run.port_width[k])
            if full == bit(run.last_sub_core + 1) - 1:
                closed |= sm.head_class[k]
            else:
                while full:
                    closed |= sm.head_class[k] & sm.supervised[ctz(full)]
                    full &= full - 1
    if sm.pending_free_n == 0 or sm.memory_free == 0:
        closed |= sm.head_class[LDST]
    return sm.has_head & ~closed


@njit
def is_closed(run, sm, k, w):
    """Whether a class has no free OC_EX entry in the sub-core of warp w: the units are what holds it up."""
    full = _full(run, sm.oc_ex_taken[k], sm.oc_ex_n[k], run.oc_ex_width[k])
    return full & bit(w & run.last_sub_core) != 0


@njit
def collect_all(run, sm):
    """The steps of a cycle of all collector units."""
    for step in range(run.collector_steps):
        if sm.cu_ready:
            _dispatch(run, sm)
        if sm.cu_order_n:
            _read(run, sm, step == 0)
        _accept(run, sm)


@inline
def _may_leave(run, sm):
    """A mask of the ready collector units whose OC_EX entry is free."""
    found = 0
    ready = sm.cu_ready
    while ready:
        unit = ctz(ready)
        ready &= ready - 1
        entry = sm.cu_entry[unit]
        k = sm.front_class[entry]
        full = _full(run, sm.oc_ex_taken[k], sm.oc_ex_n[k], run.oc_ex_width[k])
        if full & bit(sub_core(run, sm, entry)) == 0:
            found |= bit(unit)
    return found


@inline
def _dispatch(run, sm):
    """Ready units to OC_EX: each out-port sends one, round robin, the next time from another sub-core."""
    for s in range(run.collector_sets):
        own = _units_of(run, s)
        if sm.cu_ready & own:
            _dispatch_set(run, sm, s, own)


@inline
def _units_of(run, s):
    """A mask of the collector units of a set."""
    return (bit(run.set_units[s]) - 1) << run.set_first[s]


@inline
def _dispatch_set(run, sm, s, own):
    of_sub_core = run.set_sub_core[s]
    start = run.set_first[s]
    for port in range(run.set_first_out[s], run.set_first_out[s] + run.set_out_ports[s]):
        ready = _may_leave(run, sm) & own
        if ready == 0:
            return
        last = sm.cu_last[port]  # in the set
        first = last + (of_sub_core - last % of_sub_core if run.last_sub_core else 1)
        later = ready & from_bit(start + first) if first < run.set_units[s] else ready
        unit = ctz(later) if later else ctz(ready)
        sm.cu_last[port] = unit - start
        sm.cu_busy &= ~bit(unit)
        sm.cu_ready &= ~bit(unit)
        _to_oc_ex(run, sm, sm.cu_entry[unit])


@inline
def _to_oc_ex(run, sm, entry):
    """A front entry into the OC_EX queue of its class, after those that were issued before it."""
    k = sm.front_class[entry]
    sm.oc_ex_taken[k] |= bit(sub_core(run, sm, entry))
    queue = sm.oc_ex[k]
    place = sm.oc_ex_n[k]
    sm.oc_ex_n[k] += 1
    later = queue >> QUEUED_BITS * place  # none
    while place > 0 and sm.front_issue[queued_at(queue, place - 1)] > sm.front_issue[entry]:
        place -= 1
        later = later << QUEUED_BITS | queued_at(queue, place)
    before = queue & ((1 << QUEUED_BITS * place) - 1)
    if place + 1 < sm.oc_ex_n[k]:
        before |= later << QUEUED_BITS * (place + 1)
    sm.oc_ex[k] = before | queued(entry, place)


@inline
def _read(run, sm, first):
    """One read per bank, in order of asking; in the first step none from a bank that is being written."""
    slot = run.cycle & run.wheel
    taken = sm.wheel[slot, BANK_WRITES] if first and sm.wheel[slot, CYCLE] == run.cycle else 0
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
            w = sm.front_warp[entry]
            while reads:
                source = ctz(reads)
                reads &= reads - 1
                number = instruction_at(run.code, sm.front_ins[entry]).bank[source]
                bank = rotated_within(run, bit(number & (run.sub_core_banks - 1)), w)
                if taken & bank == 0 or run.model_banks == 0:
                    sm.front_reads[entry] &= ~bit(source)
                else:
                    sm.register_bank_conflicts += 1
                taken |= bank
        left_over = wait_or_ready(sm, unit, entry, left_over)
    sm.cu_order_n = left_over


@inline
def _free_units(run, sm, entry):
    """A mask of the free collector units of an entry's class and sub-core."""
    s = run.set_of[sm.front_class[entry]]
    of_sub_core = run.set_sub_core[s]
    own = (bit(of_sub_core) - 1) << run.set_first[s] + of_sub_core * sub_core(run, sm, entry)
    return own & ~sm.cu_busy


@inline
def _accept(run, sm):
    """Each in-port takes the oldest ID_OC entry of every class of its set whose sub-core has a free unit."""
    for s in range(run.collector_sets):
        classes = run.set_classes[s]
        for _ in range(run.set_in_ports[s]):
            moved = False
            for k in range(ALL_CLASSES):
                if sm.id_oc_n[k] and classes & bit(k) and _take(run, sm, k):
                    moved = True
            if not moved:
                break


@inline
def _take(run, sm, k):
    """The oldest ID_OC entry of a class into a free collector unit. Whether there was one."""
    entry = first_queued(sm.id_oc[k])
    free = _free_units(run, sm, entry)
    if free == 0:
        return False
    unit = ctz(free)
    sm.id_oc[k] >>= QUEUED_BITS
    sm.id_oc_n[k] -= 1
    sm.id_oc_taken[k] &= ~bit(sub_core(run, sm, entry))
    banks = flat_i64(run.banks_read, run.n_instructions)[sm.front_ins[entry]]
    enter_unit(run, sm, unit, entry, rotated_within(run, banks, sm.front_warp[entry]))
    return True


@njit
def all_frozen(run, sm):
    """True if no collector unit and no ID_OC entry can move until something leaves OC_EX."""
    if sm.cu_order_n:
        return False
    if sm.cu_ready and _may_leave(run, sm):
        return False
    for k in range(ALL_CLASSES):
        if sm.id_oc_n[k] and _free_units(run, sm, first_queued(sm.id_oc[k])):
            return False
    return True
