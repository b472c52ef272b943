"""The LDST unit: one memory instruction at its head, one access per cycle (timing-model section 3.2).

Order in a cycle: writeback latch, operand collector (unless it is a stage of its own), one response from the network,
one request of each miss queue into the network, one access at the end of the pipe before L1 (if there is one), one
access of the head. While an instruction occupies the head, later ones keep their port closed: the source of Stall.
A load ends with its last access; L1 hits end in the cycle of their access, all other loads go through the writeback
latch, one per cycle, its clients in turn. Where L1 has a pipe, the head only puts accesses into the pipe, and waits
when the pipe is full.

Constants and parameters have their own cache (L1C), one line per access; a refused access blocks the head until a
line arrives. So do textures (L1T), whose results return in order. The pipe after the banks of shared memory is a queue
of loads, each with the cycle in which it reaches the end.
"""

import numpy as np

from ptxsim.base.jit import bit, ctz, from_bit, inline, njit
from ptxsim.base.program import (
    ATOMIC,
    CONST,
    COPY_GROUPS,
    LOAD,
    LOCAL,
    NO_ACCESS,
    PARAM,
    SHARED,
    STORE,
    TEXTURE,
    instruction_at,
)
from ptxsim.base.warp_masks import no_warps, warp_bit
from ptxsim.timing.bulk.copy_engine import is_last_reply, reply_arrived
from ptxsim.timing.core.collector_sets import sub_core
from ptxsim.timing.core.operands import collect, leave_oc_ex
from ptxsim.timing.core.reason_codes import PASSES
from ptxsim.timing.core.reasons import note_look_up
from ptxsim.timing.memory import memory_state as requests
from ptxsim.timing.memory import readonly, texture_cache
from ptxsim.timing.memory.coalesce import coalesce, constant_lines, shared_conflict_degree
from ptxsim.timing.memory.l1 import (
    l1_fill,
    l1_fill_part,
    l1_load,
    l1_next_waiter,
    l1_store,
)
from ptxsim.timing.memory.l1_pipes import (
    PIPE_GLOBAL_STORE,
    PIPE_LOAD,
    PIPE_LOCAL_STORE,
    is_full,
    pipe_enter,
    pipe_leave,
    pipe_look_up,
    stuck_banks,
    try_again,
)
from ptxsim.timing.memory.l1_sectors import sector_fill
from ptxsim.timing.memory.memory_state import FAIL, HIT
from ptxsim.timing.memory.system import inject, inject_words, l1_send, next_reply, pop_reply
from ptxsim.timing.residency.monitor import load_returned, register_arrived, vector_arrived
from ptxsim.timing.sm_state import CONSTANT_BASE, FOREVER, PENDING, SHARED_PIPE
from ptxsim.timing.timeline_codes import BACK, SENT
from ptxsim.timing.timeline_events import note
from ptxsim.timing.warps.scoreboard import release

# clients of the writeback latch
_SHARED_CLIENT, _TEXTURE_CLIENT, _CONSTANT_CLIENT, _BYPASS_CLIENT, _L1_CLIENT = range(5)
# `head_stuck`: the cache that has refused the head's access
_BY_L1D, _BY_L1C, _BY_L1T = 1, 2, 3


@inline
def prepare_access(run, sm, execution, i, w, mask, entry):
    """Queue the accesses of a memory instruction that has just executed."""
    instruction = instruction_at(run.code, i)
    slot = ctz(sm.memory_free)
    sm.memory_free &= ~bit(slot)
    sm.front_memory[entry] = slot
    # a fence accesses nothing: `execution` still holds the accesses of an earlier instruction
    accesses = instruction.access != NO_ACCESS and mask != 0 and execution.access_mask != 0
    space = execution.access_space if accesses else 0
    count = 0
    if accesses:
        if space == SHARED:
            count = shared_conflict_degree(execution, instruction.access_bytes)
            sm.shared_accesses += 1
            sm.bank_conflict_cycles += count - 1
        elif space == CONST or space == PARAM:
            count = constant_lines(execution, run.constant_line, sm.memory_line[slot])
        elif instruction.space == TEXTURE:
            space = TEXTURE
            count = constant_lines(execution, sm.l1t.line_bytes, sm.memory_line[slot])
            sm.texture_fetches += 1
        else:
            atomic = instruction.access == ATOMIC
            bypass = instruction.bypass > (1 if space == LOCAL else 0)
            sm.memory_bypass[slot] = bypass
            count = coalesce(
                execution,
                instruction.access_bytes,
                space == LOCAL,
                run.atomic_parts if atomic else 0,
                run.uncached_segment if bypass else run.segment,
                sm.memory_line[slot],
                sm.memory_bytes[slot],
                sm.memory_words[slot],
            )
            if atomic:
                sm.atomics += 1
            elif instruction.access == LOAD:
                sm.global_loads += 1
            else:
                sm.global_stores += 1
    sm.memory_count[slot] = count
    sm.memory_next[slot] = 0
    sm.memory_space[slot] = space
    sm.memory_kind[slot] = instruction.access
    sm.memory_pending[slot] = -1
    if instruction.access != STORE:
        sm.pending_free_n -= 1
        p = sm.pending_free[sm.pending_free_n]
        sm.memory_pending[slot] = p
        context = sm.context[w]
        sm.pending_context[p] = context
        sm.pending_ins[p] = i
        sm.pending_left[p] = 1 if space == SHARED else count
        sm.loads[context] += 1
        if run.timeline and count and space != SHARED and space != CONST and space != PARAM:
            note(run, sm, SENT, p, w, i, count)
        if instruction.copies and instruction.access == LOAD:
            group = sm.copy_group[w] % COPY_GROUPS
            sm.pending_group[p] = group
            sm.copies[w, group] += 1


@inline
def copies_done(sm, w):
    """Whether the copies that a warp waits for are done: all but those of its last groups, and of the open group."""
    left = sm.groups_left[w]
    for back in range(COPY_GROUPS):
        if back > left and sm.copies[w, (sm.copy_group[w] - back) % COPY_GROUPS]:
            return False
    return True


@inline
def _complete(run, sm, p, cycle):
    """A load or atomic has all its data: its destinations are written at `cycle`."""
    context = sm.pending_context[p]
    sm.loads[context] -= 1
    if run.timeline:
        note(run, sm, BACK, p, 0, 0, 0)
    sm.pending_free[sm.pending_free_n] = p
    sm.pending_free_n += 1
    w = np.int64(sm.slot_of[context])
    if w < 0:
        load_returned(run, sm, sm.pending_ins[p], context, cycle)
        return
    if instruction_at(run.code, sm.pending_ins[p]).copies:
        sm.copies[w, sm.pending_group[p]] -= 1
    if instruction_at(run.code, sm.pending_ins[p]).access == ATOMIC:
        sm.in_atomic &= ~warp_bit(sm, w)
    sm.done_at[w] = max(sm.done_at[w], cycle)
    release(run, sm, sm.pending_ins[p], w, cycle)


@inline
def _returned(run, sm, p):
    """One access of a pending load has returned."""
    sm.pending_left[p] -= 1
    if sm.pending_left[p] <= 0:
        _complete(run, sm, p, run.cycle)


@njit
def _l1_changed(sm, l1):
    """Accesses that L1 has refused may be tried again."""
    sm.head_stuck = 0
    try_again(l1)


@inline
def _write_back(run, sm, l1):
    """Empty the latch, then let the next client fill it."""
    if sm.latch_load >= 0:
        _returned(run, sm, sm.latch_load)
        sm.latch_load = -1
    ready = (
        np.int64(next_shared(sm) <= run.cycle) << _SHARED_CLIENT
        | np.int64(sm.l1t.result_count > 0) << _TEXTURE_CLIENT
        | np.int64(sm.l1c.n_ready > 0) << _CONSTANT_CLIENT
        | np.int64(sm.bypass_head < sm.bypass_tail) << _BYPASS_CLIENT
        | np.int64(l1.cache.n_ready > 0) << _L1_CLIENT
    )
    if ready == 0:
        return
    later = ready & from_bit(sm.writeback_client + 1)
    client = ctz(later) if later else ctz(ready)
    sm.writeback_client = client
    if client == _SHARED_CLIENT:
        sm.latch_load = sm.shared_load[sm.shared_head]
        sm.shared_head = (sm.shared_head + 1) & (SHARED_PIPE - 1)
        sm.shared_count -= 1
    elif client == _L1_CLIENT:
        sm.latch_load = l1_next_waiter(l1)
        _l1_changed(sm, l1)
    elif client == _CONSTANT_CLIENT:
        sm.latch_load = readonly.next_waiter(sm.l1c)
        sm.head_stuck = 0
    elif client == _BYPASS_CLIENT:
        sm.latch_load = sm.bypass[sm.bypass_head & (PENDING - 1)]
        sm.bypass_head += 1
    else:
        sm.latch_load = texture_cache.result(sm.l1t)


@njit
def next_shared(sm):
    """The cycle in which the first load reaches the end of shared memory's pipe; FOREVER if the pipe is empty."""
    return sm.shared_due[sm.shared_head] if sm.shared_count else FOREVER


@inline
def _expect(sm, w, acknowledgements):
    """Warp w has made a store that will be acknowledged this number of times."""
    sm.stores[sm.context[w]] += acknowledgements
    sm.storing |= warp_bit(sm, w)


@inline
def _acknowledge(sm, context, acknowledgements):
    """Acknowledgements of a warp's stores have arrived."""
    sm.stores[context] -= acknowledgements
    if sm.stores[context] == 0 and sm.slot_of[context] >= 0:
        sm.storing &= ~warp_bit(sm, sm.slot_of[context])


@inline
def _take_reply(run, sm, execution, l1, memory):
    """One packet from the response FIFO: a line or a part of it, a load that bypassed L1, or an acknowledgement."""
    found = pop_reply(memory, sm.index, run.cycle - run.response_hops)
    if found < 0:
        return
    kind = memory.request[found].kind
    tag = memory.request[found].tag
    if kind == requests.WRITE:
        if tag >= 0:
            _acknowledge(sm, tag, 1)
        elif tag < -1:
            reply_arrived(run, sm, execution, tag)
    elif kind == requests.ATOMIC or kind == requests.UNCACHED:
        if tag < 0:
            reply_arrived(run, sm, execution, tag)
        else:
            sm.bypass[sm.bypass_tail & (PENDING - 1)] = tag
            sm.bypass_tail += 1
    elif kind == requests.INSTRUCTION:
        readonly.fill(sm.l1i, memory.request[found].line, memory.request[found].bytes, run.cycle)
        sm.fetch_stuck = no_warps(sm)
    elif kind == requests.TEXTURE:
        texture_cache.fill(sm.l1t, tag, memory.request[found].bytes)
    elif kind == requests.CONSTANT:
        readonly.fill(sm.l1c, memory.request[found].line, memory.request[found].bytes, run.cycle)
        sm.head_stuck = 0
    elif kind == requests.VECTOR:
        vector_arrived(run, sm, memory.request[found].bytes)
    elif kind == requests.RESTORE:
        register_arrived(run, sm, tag)
    else:
        if l1.sectored:
            sector_fill(l1, tag)
        else:
            l1_fill(l1, tag)
        _l1_changed(sm, l1)


@inline
def take_reply_asleep(run, sm, execution, l1, memory):
    """Take a reply that leaves a sleeping SM asleep: a part of a line that stays incomplete, or an acknowledgement that
    no warp waits for. False if the SM has to run for it."""
    found = next_reply(memory, sm.index)
    kind = memory.request[found].kind
    if kind == requests.READ:
        if not l1_fill_part(l1, memory.request[found].tag):
            return False
    elif memory.request[found].tag < -1:
        if is_last_reply(run, sm, execution, memory.request[found].tag):
            return False
        reply_arrived(run, sm, execution, memory.request[found].tag)
    elif kind == requests.WRITE:
        context = memory.request[found].tag
        if context >= 0:
            w = sm.slot_of[context]
            if sm.stores[context] == 1 and w >= 0 and (sm.finishing | sm.in_membar) & warp_bit(sm, w):
                return False
            _acknowledge(sm, context, 1)
    else:
        return False
    pop_reply(memory, sm.index, run.cycle - run.response_hops)
    return True


@inline
def _leave_head(sm, entry, slot):
    sm.head = -1
    sm.front_free |= bit(entry)
    sm.memory_free |= bit(slot)
    sm.front_count[sm.front_warp[entry]] -= 1


@njit
def _refuse_head(sm, l1, cycles):
    """Count the head's retries of some cycles in which a cache, or the full pipe before L1D, refuses it."""
    sm.stall_shared_memory += cycles
    if sm.head_stuck == _BY_L1C:
        sm.l1c.reservation_fails += cycles
    elif sm.head_stuck == _BY_L1T:
        sm.l1t.reservation_fails += cycles
    elif l1.pipe_cycles == 0:
        l1.cache.reservation_fails += cycles


@inline
def charge_stuck_head(sm, l1, cycles):
    """Count the retries of skipped cycles."""
    if sm.head >= 0 and sm.head_stuck:
        _refuse_head(sm, l1, cycles)
    if l1.pipe_count:
        l1.cache.reservation_fails += cycles * stuck_banks(l1)


@inline
def _serve_head(run, sm, l1, memory):
    """One access of the instruction at the head."""
    if sm.head < 0:
        return
    if sm.head_stuck:
        _refuse_head(sm, l1, 1)
        return
    entry = sm.head
    slot = sm.front_memory[entry]
    space = sm.memory_space[slot]
    p = sm.memory_pending[slot]
    done = False
    if sm.memory_count[slot] == 0:
        done = True
        if p >= 0:
            _complete(run, sm, p, run.cycle)
    elif space == SHARED:
        done = _serve_shared(run, sm, slot, p)
    elif space == CONST or space == PARAM:
        done = _serve_constant(run, sm, slot, p)
    elif space == TEXTURE:
        done = _serve_texture(run, sm, slot, p)
    else:
        done = _serve_line(run, sm, l1, memory, slot, p, sm.front_warp[entry])
    if done:
        if p < 0:  # a store writes no register but that of a post-increment
            release(run, sm, sm.front_ins[entry], sm.front_warp[entry], run.cycle)
        _leave_head(sm, entry, slot)
    else:
        sm.stall_shared_memory += 1


@inline
def _serve_shared(run, sm, slot, p):
    """A cycle per conflict degree, then into the pipe."""
    if sm.memory_next[slot] < sm.memory_count[slot] - 1:
        sm.memory_next[slot] += 1
        return False
    if p >= 0:
        if sm.shared_count >= run.shared_pipe:
            return False
        tail = (sm.shared_head + sm.shared_count) & (SHARED_PIPE - 1)
        sm.shared_load[tail] = p
        sm.shared_due[tail] = run.cycle + run.shared_pipe
        sm.shared_count += 1
    return True


@inline
def _serve_constant(run, sm, slot, p):
    """A line of constants or parameters through L1C."""
    address = sm.memory_line[slot, sm.memory_next[slot]]
    if sm.memory_space[slot] == CONST:
        address += CONSTANT_BASE
    outcome = readonly.read(sm.l1c, address, p, run.cycle)
    if outcome == readonly.FAIL:
        sm.head_stuck = _BY_L1C
        return False
    if run.hotspots:
        note_look_up(run, sm, p, outcome)
    if outcome == readonly.HIT:
        sm.pending_left[p] -= 1
    if not _last_access(sm, slot):
        return False
    if sm.pending_left[p] <= 0:
        _complete(run, sm, p, run.cycle)
    return True


@inline
def _last_access(sm, slot):
    """An access of a memory instruction is served: go on to the next. Whether it was the last."""
    sm.memory_next[slot] += 1
    return sm.memory_next[slot] == sm.memory_count[slot]


@njit
def _serve_texture(run, sm, slot, p):
    """A line of texels into the queue of L1T; the instruction leaves when all its lines are there."""
    if not texture_cache.read(sm.l1t, sm.memory_line[slot, sm.memory_next[slot]], p, run.cycle):
        sm.head_stuck = _BY_L1T
        return False
    return _last_access(sm, slot)


@inline
def _serve_pipe(run, sm, l1, bank):
    """Look up the access that is at the end of a bank's pipe before L1."""
    pipe = l1.pipe[bank]
    if pipe.stuck:
        l1.cache.reservation_fails += 1
        return
    head = pipe.head
    if pipe.due[head] > run.cycle:
        return
    outcome = pipe_look_up(l1, bank, run.cycle)
    if outcome == FAIL:
        pipe.stuck = 1
        return
    tag = np.int64(pipe.tag[head])
    if pipe.kind[head] == PIPE_LOAD:
        if run.hotspots:
            note_look_up(run, sm, tag, outcome)
        if outcome == HIT:
            _returned(run, sm, tag)
    elif l1.kept:
        _acknowledge(sm, tag, _acknowledgements(l1, np.int64(pipe.bytes[head])))
    pipe_leave(l1, bank)
    sm.head_stuck = 0


@njit
def _serve_banks(run, sm, l1):
    """The same for every bank. What one has entered can be what another one's access was refused for."""
    for bank in range(l1.n_banks):
        left = l1.pipe_count
        if l1.pipe[bank].count:
            _serve_pipe(run, sm, l1, bank)
        if l1.pipe_count < left:
            try_again(l1)


@njit
def _acknowledgements(l1, size):
    """How often a store of `size` bytes is acknowledged: once, or for every sector."""
    return (size + 31) >> 5 if l1.replies_per_line > 1 else 1


@inline
def _enter_pipe(run, sm, l1, slot, p, w):
    """A global or local access goes into its bank's pipe before L1; False if that takes none in this cycle."""
    k = sm.memory_next[slot]
    size = sm.memory_bytes[slot, k]
    kind = PIPE_LOAD
    tag = p
    if sm.memory_kind[slot] == STORE:
        kind = PIPE_LOCAL_STORE if sm.memory_space[slot] == LOCAL else PIPE_GLOBAL_STORE
        tag = np.int64(sm.context[w])
    if not pipe_enter(l1, sm.memory_line[slot, k], size, kind, tag, sm.memory_words[slot, k], run.cycle):
        return False
    if kind != PIPE_LOAD:
        _expect(sm, w, _acknowledgements(l1, size))
    sm.memory_next[slot] += 1
    return True


@njit
def _enter_pipes(run, sm, l1, slot, p, w):
    """The next accesses of the head go into the pipes: as many as there are banks, up to the first that is not taken.
    Whether all have gone."""
    for _ in range(l1.n_banks):
        if not _enter_pipe(run, sm, l1, slot, p, w):
            if is_full(l1, sm.memory_line[slot, sm.memory_next[slot]]):
                sm.head_stuck = _BY_L1D
            return False
        if sm.memory_next[slot] == sm.memory_count[slot]:
            return True
    return False


@njit
def _bypass(run, sm, l1, memory, slot, p, w):
    """An access that bypasses L1 goes straight into the network."""
    k = sm.memory_next[slot]
    size = sm.memory_bytes[slot, k]
    kind = requests.UNCACHED
    tag = p
    if sm.memory_kind[slot] == ATOMIC:
        kind = requests.ATOMIC
    elif sm.memory_kind[slot] == STORE:
        kind = requests.WRITE
        tag = np.int64(sm.context[w])
    line = sm.memory_line[slot, k]
    if not inject_words(memory, sm.index, run.cycle, line, size, kind, tag, sm.memory_words[slot, k]):
        return False
    if kind == requests.WRITE:
        _expect(sm, w, _acknowledgements(l1, size))
    elif run.hotspots:
        note_look_up(run, sm, p, PASSES)
    return _last_access(sm, slot)


@inline
def _serve_line(run, sm, l1, memory, slot, p, w):
    """A global or local access that goes through L1 or bypasses it."""
    if sm.memory_bypass[slot]:
        return _bypass(run, sm, l1, memory, slot, p, w)
    if l1.pipe_cycles:
        return _enter_pipes(run, sm, l1, slot, p, w)
    k = sm.memory_next[slot]
    line = sm.memory_line[slot, k]
    kind = sm.memory_kind[slot]
    local = sm.memory_space[slot] == LOCAL
    size = sm.memory_bytes[slot, k]
    if kind == LOAD:
        outcome = l1_load(l1, line, p, run.cycle)
        if outcome == FAIL:
            sm.head_stuck = _BY_L1D
            return False
        if run.hotspots:
            note_look_up(run, sm, p, outcome)
        if outcome == HIT:
            sm.pending_left[p] -= 1
    else:
        outcome = l1_store(
            l1, line, size, local, np.int64(sm.context[w]), run.cycle, sm.memory_words[slot, k]
        )
        if outcome == FAIL:
            sm.head_stuck = _BY_L1D
            return False
        if not (local and outcome == HIT):
            _expect(sm, w, _acknowledgements(l1, size))
    if not _last_access(sm, slot):
        return False
    if p >= 0 and sm.pending_left[p] <= 0:
        _complete(run, sm, p, run.cycle)
    return True


@inline
def _send_constant(run, sm, memory):
    line = sm.l1c.miss[sm.l1c.miss_head]
    if inject(memory, sm.index, run.cycle, line, sm.l1c.line_bytes, requests.CONSTANT, -1):
        readonly.sent(sm.l1c)


@njit
def _texture_cycle(run, sm, memory):
    """One request of L1T into the network, and the first access of its queue to the results."""
    cache = sm.l1t
    if cache.request_count:
        place = cache.request[cache.request_head]
        line = cache.line[cache.request_head]
        if inject(memory, sm.index, run.cycle, line, cache.line_bytes, requests.TEXTURE, place):
            texture_cache.sent(cache)
            sm.head_stuck = 0
    if texture_cache.step(cache):
        sm.head_stuck = 0


@inline
def ldst_cycle(run, sm, execution, l1, memory):
    """One cycle of the unit, with the operand collector's step where it has no stage of its own."""
    _write_back(run, sm, l1)
    if not run.collector_stage:
        collect(run, sm)
    _take_reply(run, sm, execution, l1, memory)
    if sm.l1t.count:
        _texture_cycle(run, sm, memory)
    if sm.l1c.miss_count:
        _send_constant(run, sm, memory)
    if l1.miss_count and l1_send(l1, memory, sm.index, run.cycle):
        _l1_changed(sm, l1)
    if l1.pipe_count:
        if l1.n_banks == 1:
            _serve_pipe(run, sm, l1, 0)
        else:
            _serve_banks(run, sm, l1)
    _serve_head(run, sm, l1, memory)
    if sm.head < 0 and sm.oc_ex_n[2]:
        sm.head = leave_oc_ex(sm, 2)
        sm.oc_ex_taken[2] &= ~bit(sub_core(run, sm, sm.head))


@inline
def ldst_busy(sm, l1):
    """True if the unit has to run in the next cycle; a refused head waits for the network, the pipe for its cycle."""
    return (
        (sm.head >= 0 and not sm.head_stuck)
        or (sm.head < 0 and sm.oc_ex_n[2])
        or sm.latch_load >= 0
        or sm.bypass_head < sm.bypass_tail
        or l1.miss_count
        or l1.cache.n_ready
        or sm.l1c.miss_count
        or sm.l1c.n_ready
        or sm.l1t.request_count
        or sm.l1t.result_count
        or (sm.l1t.count and texture_cache.is_ready(sm.l1t))
    )
