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

from ptxsim.jit import inline, njit
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


@njit
def _enter(m: Any, ch: Any, r: int) -> None:
    """Put a request into the scheduler queue."""
    q = m.request[r]
    ch.queue[ch.queue_count] = r
    ch.queue_bank[ch.queue_count] = q.bank
    ch.queue_row[ch.queue_count] = q.row
    ch.queue_count += 1
    ch.n_queued[q.bank] += 1
    if ch.n_queued[q.bank] == 1 and ch.bank_request[q.bank] < 0:
        ch.n_choosable += 1
    ch.requests += 1


@njit
def _choose(m: Any, ch: Any) -> None:
    """Give one bank that has none a request of the queue: the bank of the oldest, the row that is open."""
    window = min(ch.queue_count, m.window)
    chosen = 0
    while chosen < window and ch.bank_request[ch.queue_bank[chosen]] >= 0:
        chosen += 1
    if chosen == window:
        return
    bank = ch.queue_bank[chosen]
    for k in range(chosen, window):
        if ch.queue_bank[k] == bank and ch.queue_row[k] == ch.bank_row[bank]:
            chosen = k
            break
    r = ch.queue[chosen]
    q = m.request[r]
    ch.bank_request[bank] = r
    ch.bank_want[bank] = ch.queue_row[chosen]
    ch.bank_write[bank] = 0 if q.kind == FILL else 1
    ch.bank_atoms[bank] = (q.bytes + (1 << m.atom_shift) - 1) >> m.atom_shift
    if ch.bank_want[bank] == ch.bank_row[bank]:
        ch.row_hits += 1
    ch.busy[ch.n_busy] = bank
    ch.n_busy += 1
    ch.n_choosable -= 1
    ch.n_queued[bank] -= 1
    ch.queue_count -= 1
    for k in range(chosen, ch.queue_count):
        ch.queue[k] = ch.queue[k + 1]
        ch.queue_bank[k] = ch.queue_bank[k + 1]
        ch.queue_row[k] = ch.queue_row[k + 1]


@njit
def _earliest(m: Any, ch: Any, bank: int) -> int:
    """The DRAM cycle from which the next command of a bank's request is allowed."""
    if ch.bank_row[bank] == ch.bank_want[bank]:
        column = max(ch.cas_free, ch.group_free[bank >> m.group_shift & m.group_mask])
        if ch.bank_write[bank]:
            return max(column, max(ch.write_free, ch.bank_write_free[bank]))
        return max(column, max(ch.read_free, ch.bank_read[bank]))
    if ch.bank_row[bank] < 0:
        return max(ch.activate_free, ch.bank_activate[bank])
    return ch.bank_precharge[bank]


@inline
def _column(m: Any, ch: Any, bank: int, d: int) -> bool:
    """Read or write one atom; True with the last one: the request is done and on its way back."""
    ch.cas_free = d + max(m.tCCD, m.tBURST)
    ch.group_free[bank >> m.group_shift & m.group_mask] = d + m.tCCDL
    if ch.bank_write[bank]:
        ch.writes += 1
        ch.read_free = d + m.tWTR
        ch.bank_precharge[bank] = max(ch.bank_precharge[bank], d + m.tWTP)
        latency = m.WL
    else:
        ch.reads += 1
        ch.write_free = d + m.tRTW
        ch.bank_precharge[bank] = max(ch.bank_precharge[bank], d + m.tRTPL)
        latency = m.CL
    ch.bank_atoms[bank] -= 1
    if ch.bank_atoms[bank] > 0:
        return False
    r = ch.bank_request[bank]
    ch.bank_request[bank] = -1
    if ch.n_queued[bank] > 0:
        ch.n_choosable += 1
    # the data, and a cycle in the return queue
    ch.return_last = max(ch.return_last, d + latency + m.tBURST + 1)
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


@inline
def _command(m: Any, ch: Any, d: int) -> None:
    """Give the command that DRAM cycle d allows, if any: of the first bank in turn. A row command may leave the cycle
    to a column command of a later bank, too."""
    row = -1
    column = -1
    row_distance = m.banks
    column_distance = m.banks
    for k in range(ch.n_busy):
        bank = ch.busy[k]
        distance = (bank - ch.bank_turn) & (m.banks - 1)
        if ch.bank_row[bank] == ch.bank_want[bank]:
            if distance < column_distance and _earliest(m, ch, bank) <= d:
                column = k
                column_distance = distance
        elif distance < row_distance and _earliest(m, ch, bank) <= d:
            row = k
            row_distance = distance
    if row >= 0 and row_distance < column_distance:
        _row(m, ch, ch.busy[row], d)
        if not m.row_with_column:
            return
    if column >= 0 and _column(m, ch, ch.busy[column], d):
        ch.n_busy -= 1
        ch.busy[column] = ch.busy[ch.n_busy]
        if ch.n_choosable > 0:  # it may take its next request at once: no command can follow in this cycle
            _choose(m, ch)


@inline
def _schedule(m: Any, ch: Any, d: int) -> int:
    """DRAM cycle d: choose, and give one command; the next cycle that can do anything."""
    if ch.n_choosable > 0:
        _choose(m, ch)
    if ch.n_busy > 0:
        _command(m, ch, d)
    if ch.n_choosable > 0:
        return d + 1
    following = FOREVER
    for k in range(ch.n_busy):
        following = min(following, _earliest(m, ch, ch.busy[k]))
    return max(following, d + 1)


@inline
def _give_back(m: Any, ch: Any, now: int, over: int) -> bool:
    """Send what has come back to the slices' fill queues; False if one is full."""
    while ch.return_count > 0:
        r = ch.returned[ch.return_head]
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
            r = s.dram[s.dram_head]
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
    while ch.next <= over:
        ch.next = _schedule(m, ch, ch.next)
    _arbitrate(m, ch, index, now)
    if ch.latency_count > 0 and ch.queue_count < m.queue_capacity:
        r = ch.latency[ch.latency_head]
        if m.request[r].due <= now:
            ch.latency_head = (ch.latency_head + 1) & (LATENCY_RING - 1)
            ch.latency_count -= 1
            _enter(m, ch, r)
            ch.next = min(ch.next, over + 1)
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
