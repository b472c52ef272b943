"""One DRAM channel: arbiter, fixed delay, FR-FCFS scheduler, banks and the way back. For `system.py`.

Requests of the slices' queues enter a fixed delay (while there are credits) and then the scheduler queue. A bank
without a request takes one of its own from the queue: the oldest to its open row, else the oldest. Then one command a
DRAM cycle (or a row command and a column command behind it, with `row_with_column`): column commands of 64 B to open
rows, activates and precharges, the bank priority rotating behind each of the latter two. Every timing rule is an
earliest cycle, kept per bank, bank group or channel; so the channel knows the next cycle in which a command is possible
and sleeps until then. Data come back in order of their last column command.

Clocks: DRAM cycle d is over in core cycle c when c * dram_mhz // core_mhz >= d, in integers.

Handled simply: of several idle banks the one with the oldest request takes first; a row stays open until another is
needed.
Reference: timing-model section 3.5, timing-model-42 section 3.7.
"""

from typing import Any

import numpy as np

from ptxsim.jit import bit, ctz, from_bit, inline, njit
from ptxsim.memory.requests import drop_request
from ptxsim.memory.state import FILL, FOREVER, LATENCY_RING, RING, WRITEBACK


@inline
def dram_cycles(m: Any, now: int) -> int:
    """DRAM cycles that are over in core cycle `now`."""
    return now * m.dram_mhz // m.core_mhz


@inline
def core_cycle(m: Any, cycle: int) -> int:
    """The first core cycle in which a DRAM cycle is over."""
    return (cycle * m.core_mhz + m.dram_mhz - 1) // m.dram_mhz


@inline
def _enter(m: Any, ch: Any, r: int) -> None:
    """Put a request into the scheduler queue, behind those of its bank."""
    q = m.request[r]
    bank = np.int64(q.bank)
    place = ctz(~ch.queue_used)
    ch.queue_used |= bit(place)
    ch.queue[place] = r
    ch.queue_age[place] = ch.requests
    ch.queue_row[place] = q.row
    ch.queue_behind[place] = 0
    if ch.bank_first[bank] == 0:
        ch.bank_first[bank] = place + 1
    else:
        ch.queue_behind[ch.bank_last[bank] - 1] = place + 1
    ch.bank_last[bank] = place + 1
    ch.queued |= bit(bank)
    ch.queue_count += 1
    ch.requests += 1


@njit
def _in_window(m: Any, ch: Any, place: int) -> bool:
    """Whether the scheduler looks at a request: at no more than `window` of the oldest."""
    if ch.queue_count <= m.window:
        return True
    older = 0
    left = ch.queue_used
    while left:
        if ch.queue_age[ctz(left)] < ch.queue_age[place]:
            older += 1
        left &= left - 1
    return older < m.window


@njit
def _choose(m: Any, ch: Any) -> int:
    """Give one bank that has none a request of the queue: the bank of the oldest, the row that is open. The bank, or -1
    if the oldest is not looked at. The caller has seen that there is such a bank."""
    bank = -1
    left = ch.queued & ~ch.busy
    while left:
        other = ctz(left)
        left &= left - 1
        if bank < 0 or ch.queue_age[ch.bank_first[other] - 1] < ch.queue_age[ch.bank_first[bank] - 1]:
            bank = other
    oldest = np.int64(ch.bank_first[bank]) - 1
    if not _in_window(m, ch, oldest):
        return -1
    chosen = oldest
    before = -1
    previous = -1
    place: Any = oldest
    while place >= 0 and _in_window(m, ch, place):
        if ch.queue_row[place] == ch.bank_row[bank]:
            chosen = place
            before = previous
            break
        previous = place
        place = np.int64(ch.queue_behind[place]) - 1
    _leave(ch, bank, chosen, before)
    r = np.int64(ch.queue[chosen])
    q = m.request[r]
    ch.bank_request[bank] = r
    ch.bank_want[bank] = ch.queue_row[chosen]
    ch.bank_write[bank] = 0 if q.kind == FILL else 1
    ch.bank_atoms[bank] = (q.bytes + (1 << m.atom_shift) - 1) >> m.atom_shift
    if ch.bank_want[bank] == ch.bank_row[bank]:
        ch.row_hits += 1
    ch.busy |= bit(bank)
    _step(ch, bank)
    return bank


@inline
def _leave(ch: Any, bank: int, place: int, before: int) -> None:
    """Take a request out of the queue; `before` is the place of the bank's request before it, -1 if there is none."""
    behind = ch.queue_behind[place]
    if before >= 0:
        ch.queue_behind[before] = behind
    else:
        ch.bank_first[bank] = behind
    if behind == 0:
        ch.bank_last[bank] = before + 1
    if ch.bank_first[bank] == 0:
        ch.queued &= ~bit(bank)
    ch.queue_used &= ~bit(place)
    ch.queue_count -= 1


@njit
def _step(ch: Any, bank: int) -> None:
    """Note which command the request of a bank needs next, and from when on the bank itself allows it."""
    ch.columns &= ~bit(bank)
    ch.closed &= ~bit(bank)
    if ch.bank_row[bank] == ch.bank_want[bank]:
        ch.columns |= bit(bank)
        ch.bank_due[bank] = ch.bank_write_free[bank] if ch.bank_write[bank] else ch.bank_read[bank]
    elif ch.bank_row[bank] < 0:
        ch.closed |= bit(bank)
        ch.bank_due[bank] = ch.bank_activate[bank]
    else:
        ch.bank_due[bank] = ch.bank_precharge[bank]


@njit
def _column_from(m: Any, ch: Any, bank: int) -> int:
    """The DRAM cycle from which a bank's column command is allowed, but for the rule of all banks (`cas_free`)."""
    group = ch.group_free[bank >> m.group_shift & m.group_mask]
    return max(ch.bank_due[bank], group, ch.turn_free[ch.bank_write[bank]])


@njit
def _earliest(m: Any, ch: Any, bank: int) -> int:
    """The DRAM cycle from which the next command of a bank's request is allowed."""
    if ch.columns & bit(bank):
        return max(ch.cas_free, _column_from(m, ch, bank))
    if ch.closed & bit(bank):
        return max(ch.activate_free, ch.bank_due[bank])
    return ch.bank_due[bank]


@inline
def _column(m: Any, ch: Any, bank: int, d: int) -> bool:
    """Read or write one atom; True with the last one: the request is done and on its way back."""
    ch.cas_free = d + max(m.tCCD, m.tBURST)
    ch.group_free[bank >> m.group_shift & m.group_mask] = d + m.tCCDL
    if ch.bank_write[bank]:
        ch.writes += 1
        ch.turn_free[0] = d + m.tWTR
        ch.bank_precharge[bank] = max(ch.bank_precharge[bank], d + m.tWTP)
        latency = m.WL
    else:
        ch.reads += 1
        ch.turn_free[1] = d + m.tRTW
        ch.bank_precharge[bank] = max(ch.bank_precharge[bank], d + m.tRTPL)
        latency = m.CL
    ch.bank_atoms[bank] -= 1
    if ch.bank_atoms[bank] > 0:
        return False
    r = np.int64(ch.bank_request[bank])
    ch.busy &= ~bit(bank)
    ch.columns &= ~bit(bank)
    ch.return_last = max(ch.return_last, d + latency + m.return_cycles)
    m.request[r].due = ch.return_last
    ch.returned[(ch.return_head + ch.return_count) & (LATENCY_RING - 1)] = r
    ch.return_count += 1
    return True


@inline
def _row(m: Any, ch: Any, bank: int, d: int) -> None:
    """Open the row that a bank's request wants, or close the one that is in its way."""
    if ch.bank_row[bank] < 0:
        ch.activates += 1
        ch.bank_row[bank] = ch.bank_want[bank]
        ch.activate_free = d + m.tRRD
        ch.bank_read[bank] = d + m.tRCD
        ch.bank_write_free[bank] = d + m.tRCDWR
        ch.bank_precharge[bank] = max(ch.bank_precharge[bank], d + m.tRAS)
        ch.bank_activate[bank] = d + m.tRC
    else:
        ch.bank_row[bank] = -1
        ch.bank_activate[bank] = max(ch.bank_activate[bank], d + m.tRP)
    ch.bank_turn = (bank + 1) & (m.banks - 1)
    _step(ch, bank)


@inline
def _first(ch: Any, banks: int) -> int:
    """The first of some banks in turn; -1 if there is none."""
    if banks == 0:
        return -1
    behind = banks & from_bit(ch.bank_turn)
    return ctz(behind) if behind else ctz(banks)


@inline
def _schedule(m: Any, ch: Any, d: int) -> int:
    """DRAM cycle d: choose, and give the command that it allows, if any, of the first bank in turn. A row command may
    leave the cycle to a column command of a later bank, too. Returns the next cycle that may allow anything."""
    if ch.queued & ~ch.busy:
        _choose(m, ch)
    following = FOREVER
    columns = np.int64(0)
    rows = np.int64(0)
    left = ch.columns
    while left:
        bank = ctz(left)
        left &= left - 1
        when = max(ch.cas_free, _column_from(m, ch, bank))
        if when <= d:
            columns |= bit(bank)
        else:
            following = min(following, when)
    left = ch.busy & ~ch.columns
    while left:
        bank = ctz(left)
        left &= left - 1
        when = _earliest(m, ch, bank)
        if when <= d:
            rows |= bit(bank)
        else:
            following = min(following, when)
    if columns | rows:
        following = min(following, _command(m, ch, columns, rows, d))
    if ch.queued & ~ch.busy:
        return d + 1
    return max(following, d + 1)


@inline
def _command(m: Any, ch: Any, columns: int, rows: int, d: int) -> int:
    """Give a command of these banks, which DRAM cycle d allows; when the others, and they, may have their next."""
    row = _first(ch, rows)
    column = _first(ch, columns)
    turn = ch.bank_turn
    if row >= 0 and column >= 0:
        if (row - turn) & (m.banks - 1) > (column - turn) & (m.banks - 1):
            row = -1
        elif not m.row_with_column:
            column = -1
    following = FOREVER
    if row >= 0:
        _row(m, ch, row, d)
        following = _earliest(m, ch, row)
        rows &= ~bit(row)
    if column >= 0:
        if not _column(m, ch, column, d):
            following = min(following, _earliest(m, ch, column))
        elif (
            ch.queued & ~ch.busy
        ):  # it may take its next request at once: no command can follow in this cycle
            chosen = _choose(m, ch)
            if chosen >= 0:
                following = min(following, _earliest(m, ch, chosen))
        columns &= ~bit(column)
    if columns:
        following = min(following, ch.cas_free)
    if rows & ch.closed:
        following = min(following, ch.activate_free)
    if rows & ~ch.closed:
        following = min(following, d + 1)
    return following


@inline
def _give_back(m: Any, ch: Any, now: int, over: int) -> bool:
    """Send what has come back to the slices' fill queues; False if one is full."""
    while ch.return_count > 0:
        r = np.int64(ch.returned[ch.return_head])
        q = m.request[r]
        if q.due > over:
            break
        if q.kind == WRITEBACK:
            drop_request(m, r)
        else:
            s = m.slice[q.slice]
            if s.fill_count >= m.fill_capacity:
                return False
            s.filling[(s.fill_head + s.fill_count) & (RING - 1)] = r
            s.fill_count += 1
            m.slice_next[q.slice] = min(m.slice_next[q.slice], now)
        ch.return_head = (ch.return_head + 1) & (LATENCY_RING - 1)
        ch.return_count -= 1
        ch.in_flight -= 1
    return True


@inline
def _arbitrate(m: Any, ch: Any, index: int, now: int) -> None:
    """Take one request of the slices in turn, if there is a credit, into the fixed delay."""
    for turn in range(m.slices_per_channel):
        which = index * m.slices_per_channel
        if m.slices_per_channel == 2:
            which += turn ^ ch.turn
        s = m.slice[which]
        if s.dram_count > 0 and ch.in_flight < m.credits:
            r = np.int64(s.dram[s.dram_head])
            s.dram_head = (s.dram_head + 1) & (RING - 1)
            s.dram_count -= 1
            m.request[r].due = now + m.fixed_cycles
            if s.dram_count == m.dram_capacity - 1:  # the slice may have waited for room
                m.slice_next[which] = min(m.slice_next[which], now)
            ch.latency[(ch.latency_head + ch.latency_count) & (LATENCY_RING - 1)] = r
            ch.latency_count += 1
            ch.in_flight += 1
            ch.turn = 1 - (which & 1)
            return


@inline
def channel_cycle(m: Any, index: int, now: int, over: int) -> None:
    """One core cycle of a channel and its DRAM cycles up to `over`."""
    ch = m.channel[index]
    unblocked = _give_back(m, ch, now, over)
    d = dram_cycles(m, now - 1)
    while d < over:
        d += 1
        while ch.next <= d:
            ch.next = _schedule(m, ch, ch.next)
        _arbitrate(m, ch, index, now)
        if ch.latency_count > 0 and ch.queue_count < m.queue_capacity:
            r = np.int64(ch.latency[ch.latency_head])
            if m.request[r].due <= now:
                ch.latency_head = (ch.latency_head + 1) & (LATENCY_RING - 1)
                ch.latency_count -= 1
                _enter(m, ch, r)
                ch.next = min(ch.next, d + 1)
    m.dram_next[index] = ch.next
    if ch.return_count > 0 and unblocked:
        m.dram_next[index] = min(ch.next, m.request[ch.returned[ch.return_head]].due)
    following = FOREVER
    if ch.latency_count > 0 and ch.queue_count < m.queue_capacity:
        following = min(following, m.request[ch.latency[ch.latency_head]].due)
    if ch.in_flight < m.credits:
        for which in range(index * m.slices_per_channel, (index + 1) * m.slices_per_channel):
            if m.slice[which].dram_count > 0:
                following = now + 1
    m.channel_next[index] = max(following, now + 1)
