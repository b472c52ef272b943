"""One DRAM channel: arbiter, fixed delay, scheduler, banks and the way back. For `system.py`.

Requests of the slices' queues enter a fixed delay (while there are credits) and then a scheduler queue, from which a
bank without a request takes its next one (`dram_queue.py`). Then one command per DRAM cycle (or a row command and a
column command after it, with `row_with_column`): column commands of one atom to open rows, activates and precharges,
the bank priority rotating after each of the latter two. Every timing rule is an earliest cycle, kept per bank, bank
group or channel; so the channel knows the next cycle in which a command is possible and sleeps until then. Data return
in the order of their last column commands.

Clocks: DRAM cycle d is over in core cycle c when c * dram_mhz // core_mhz >= d, in integers.

With `dram.read_to_precharge = "group"` a read delays the precharges of all banks of its group.

Handled simply: a row stays open until another one is needed.
Reference: timing-model section 3.5, timing-model-42 section 3.7.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import bit, ctz, inline, njit
from ptxsim.timing.memory.dram_queue import enter, has_room, idle_banks, take_request
from ptxsim.timing.memory.memory_state import FOREVER, RESTORE, RING, SAVE, WRITEBACK
from ptxsim.timing.memory.requests import drop_request


@inline
def dram_cycles(memory: Any, now: int) -> int:
    """DRAM cycles that are over in core cycle `now`."""
    return now * memory.dram_mhz // memory.core_mhz


@inline
def core_cycle(memory: Any, cycle: int) -> int:
    """The first core cycle in which a DRAM cycle is over."""
    return (cycle * memory.core_mhz + memory.dram_mhz - 1) // memory.dram_mhz


@inline
def _choose(memory: Any, ch: Any) -> None:
    """Assign a request to one of the idle banks, of which there is one."""
    r = take_request(memory, ch)
    if r < 0:
        return
    q = memory.request[r]
    number = np.int64(q.bank) & 31
    bank = ch.bank[number]
    bank.request = r
    bank.want = q.row
    bank.atoms = (q.bytes + (1 << memory.atom_shift) - 1) >> memory.atom_shift
    if q.kind >= RESTORE:
        ch.writing &= ~bit(number)
    else:
        ch.writing |= bit(number)
    if bank.want == bank.row:
        ch.row_hits += 1
    ch.busy |= bit(number)
    _step(ch, bank, number)


@njit
def _step(ch: Any, bank: Any, number: int) -> None:
    """Note which command the request of a bank needs next, and the earliest cycle that the bank itself allows."""
    this = bit(number)
    ch.columns &= ~this
    ch.closed &= ~this
    if bank.row == bank.want:
        ch.columns |= this
        bank.due = bank.write if ch.writing & this else bank.read
    elif bank.row < 0:
        ch.closed |= this
        bank.due = bank.activate
    else:
        bank.due = bank.precharge
    ch.ripe &= ~this
    ch.unripe |= this
    ch.unripe_next = min(ch.unripe_next, bank.due)


@inline
def _ripen(ch: Any, d: int) -> None:
    """Move the banks that have become ready for their requests' commands from `unripe` to `ripe`."""
    following = FOREVER
    left = ch.unripe
    while left:
        number = ctz(left)
        left &= left - 1
        if ch.bank[number].due <= d:
            ch.unripe &= ~bit(number)
            ch.ripe |= bit(number)
        else:
            following = min(following, ch.bank[number].due)
    ch.unripe_next = following


@inline
def _columns(memory: Any, ch: Any, d: int) -> int:
    """The banks that may have a column command in DRAM cycle d."""
    if ch.cas_free > d:
        return 0
    banks = ch.ripe & ch.columns
    if ch.turn_free[0] > d:
        banks &= ch.writing
    if ch.turn_free[1] > d:
        banks &= ~ch.writing
    for group in range(memory.group_mask + 1):
        banks &= ~(memory.group_banks[group] & -np.int64(ch.group_free[group] > d))
    return banks


@inline
def _rows(memory: Any, ch: Any, d: int) -> int:
    """The banks that may have a row command in DRAM cycle d."""
    banks = ch.ripe & ~ch.columns
    if memory.group_wait:
        for group in range(memory.group_mask + 1):
            held = memory.group_banks[group] & -np.int64(ch.group_precharge[group] > d)
            banks &= ch.closed | ~held
    return banks & ~ch.closed if ch.activate_free > d else banks


@inline
def _column(memory: Any, ch: Any, number: int, d: int) -> None:
    """Read or write one atom; after the last one the request returns, and the next request is chosen."""
    bank = ch.bank[number]
    ch.cas_free = d + max(memory.tCCD, memory.tBURST)
    ch.group_free[number >> memory.group_shift & memory.group_mask] = d + memory.tCCDL
    if ch.writing & bit(number):
        ch.writes += 1
        ch.turn_free[0] = d + memory.tWTR
        bank.precharge = max(bank.precharge, d + memory.tWTP)
        latency = memory.WL
    else:
        ch.reads += 1
        ch.turn_free[1] = d + memory.tRTW
        if memory.group_wait:
            ch.group_precharge[number >> memory.group_shift & memory.group_mask] = d + memory.tRTPL
            bank.precharge = max(bank.precharge, d + memory.tBURST)
        else:
            bank.precharge = max(bank.precharge, d + memory.tRTPL)
        latency = memory.CL
    bank.atoms -= 1
    if bank.atoms > 0:
        return
    r = np.int64(bank.request)
    this = ~bit(number)
    ch.busy &= this
    ch.columns &= this
    ch.ripe &= this
    ch.return_last = max(ch.return_last, d + latency + memory.return_cycles)
    memory.request[r].due = ch.return_last
    ch.returned[(ch.return_head + ch.return_count) & memory.ring_mask] = r
    if ch.return_count == 0:
        ch.return_due = ch.return_last
    ch.return_count += 1
    if memory.choice_in_turn == 0 and idle_banks(ch):  # no command of the bank can follow in this cycle
        _choose(memory, ch)


@inline
def _row(memory: Any, ch: Any, number: int, d: int) -> None:
    """Open the row that a bank's request wants, or close the one that is in its way."""
    bank = ch.bank[number]
    if bank.row < 0:
        ch.activates += 1
        bank.row = bank.want
        ch.activate_free = d + memory.tRRD
        bank.read = d + memory.tRCD
        bank.write = d + memory.tRCDWR
        bank.precharge = max(bank.precharge, d + memory.tRAS)
        bank.activate = d + memory.tRC
    else:
        bank.row = -1
        bank.activate = max(bank.activate, d + memory.tRP)
    ch.bank_turn = (number + 1) & (memory.banks - 1)
    _step(ch, bank, number)


@inline
def _first(ch: Any, banks: int) -> int:
    """The first of some banks in turn; there is one."""
    later = banks & -bit(ch.bank_turn)
    return ctz(later) if later else ctz(banks)


@inline
def _command(memory: Any, ch: Any, columns: int, rows: int, d: int) -> None:
    """Give a command, or two, of those that DRAM cycle d allows these banks."""
    if memory.two_buses:
        row = _first(ch, rows) if rows else -1
        if columns:
            _column(memory, ch, _first(ch, columns), d)
            if memory.group_wait:  # the column command may delay a precharge
                rows &= _rows(memory, ch, d)
                row = _first(ch, rows) if rows else -1
        if row >= 0:
            _row(memory, ch, row, d)
        return
    if rows == 0:
        _column(memory, ch, _first(ch, columns), d)
        return
    row = _first(ch, rows)
    if columns:
        column = _first(ch, columns)
        turn = ch.bank_turn
        if (row - turn) & (memory.banks - 1) < (column - turn) & (memory.banks - 1):
            _row(memory, ch, row, d)
            if not memory.row_with_column:
                return
        _column(memory, ch, column, d)
    else:
        _row(memory, ch, row, d)


@inline
def _schedule(memory: Any, ch: Any, d: int) -> int:
    """DRAM cycle d: choose, and give the command that it allows, if any, of the first bank in turn. A row command may
    leave the cycle to a column command of a later bank, too. Returns the next cycle that may allow anything."""
    if idle_banks(ch):
        _choose(memory, ch)
    if ch.unripe_next <= d:
        _ripen(ch, d)
    columns = _columns(memory, ch, d)
    rows = _rows(memory, ch, d)
    if columns | rows:
        _command(memory, ch, columns, rows, d)
    if idle_banks(ch):
        return d + 1
    following = ch.unripe_next
    columns = ch.ripe & ch.columns
    if columns:
        when = max(ch.cas_free, ch.turn_free[0])
        if columns & ch.writing:
            when = max(ch.cas_free, ch.turn_free[1])
            if columns & ~ch.writing:
                when = ch.cas_free
        following = min(following, when)
    rows = ch.ripe & ~ch.columns
    if rows:
        following = min(following, d + 1 if rows & ~ch.closed else ch.activate_free)
    return max(following, d + 1)


@inline
def _return(memory: Any, ch: Any, now: int, over: int) -> bool:
    """Send finished requests to the slices' fill queues; False if one is full."""
    while ch.return_due <= over:
        r = np.int64(ch.returned[ch.return_head])
        q = memory.request[r]
        if q.kind == WRITEBACK or q.kind == SAVE:
            drop_request(memory, r)
        else:
            s = memory.slice[q.slice]
            if s.fill_count >= memory.fill_capacity:
                return False
            s.filling[(s.fill_head + s.fill_count) & (RING - 1)] = r
            s.fill_count += 1
            memory.slice_next[q.slice] = min(memory.slice_next[q.slice], now)
        ch.return_head = (ch.return_head + 1) & memory.ring_mask
        ch.return_count -= 1
        ch.return_due = memory.request[ch.returned[ch.return_head]].due if ch.return_count else FOREVER
        ch.in_flight -= 1
    return True


@inline
def _arbitrate(memory: Any, ch: Any, index: int, now: int) -> None:
    """Take one request of the slices in turn into the fixed delay. A slice has one, and there is a credit."""
    asked = np.int64(memory.channel_asked[index])
    local = ch.turn if asked >> ch.turn & 1 else 1 - ch.turn
    which = index * memory.slices_per_channel + local
    s = memory.slice[which]
    r = np.int64(s.dram[s.dram_head])
    s.dram_head = (s.dram_head + 1) & (RING - 1)
    s.dram_count -= 1
    if s.dram_count == 0:
        memory.channel_asked[index] = asked & ~bit(local)
    if s.dram_count == memory.dram_capacity - 1:  # the slice may have waited for room
        memory.slice_next[which] = min(memory.slice_next[which], now)
    memory.request[r].due = now + memory.fixed_cycles
    ch.latency[(ch.latency_head + ch.latency_count) & memory.ring_mask] = r
    if ch.latency_count == 0:
        ch.entry_due = now + memory.fixed_cycles
    ch.latency_count += 1
    ch.in_flight += 1
    ch.turn = (1 - local) & (memory.slices_per_channel - 1)


@inline
def channel_cycle(memory: Any, index: int, now: int, before: int, over: int) -> None:
    """One core cycle of a channel: its DRAM cycles after `before`, up to `over`."""
    ch = memory.channel[index]
    unblocked = _return(memory, ch, now, over)
    d = before
    while d < over:
        d += 1
        while ch.next <= d:
            ch.next = _schedule(memory, ch, ch.next)
        if memory.channel_asked[index] and ch.in_flight < memory.credits:
            _arbitrate(memory, ch, index, now)
        if ch.entry_due <= now and has_room(memory, ch, ch.latency[ch.latency_head]):
            r = np.int64(ch.latency[ch.latency_head])
            ch.latency_head = (ch.latency_head + 1) & memory.ring_mask
            ch.latency_count -= 1
            ch.entry_due = memory.request[ch.latency[ch.latency_head]].due if ch.latency_count else FOREVER
            enter(memory, ch, r)
            ch.next = min(ch.next, d + 1)
    memory.dram_next[index] = min(ch.next, ch.return_due) if unblocked else ch.next
    following = ch.entry_due
    if following <= now and not has_room(memory, ch, ch.latency[ch.latency_head]):
        following = FOREVER
    if memory.channel_asked[index] and ch.in_flight < memory.credits:
        following = now + 1
    memory.channel_next[index] = max(following, now + 1)
