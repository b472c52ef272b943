"""Registers in DRAM: the areas of CTAs that have left the register file, and the lines that move there and back.

Each resident CTA has an area of a line of 128 bytes for every register of its warps, one after the other, so that they
are spread over the channels as global memory is. A register moves as a line: through the miss queue of the L1, which
it shares with the misses of the CTAs that run, leaving places as a load does; past the tags of the L2; to DRAM. Lines
that leave are not acknowledged, as a write-back is not. At an exchange each register is requested when one has left,
so that the file always has room for what comes.

Not handled: a read of a line may overtake its write in the queues of DRAM. All registers move, also those of warps that
have exited.

Y. Oh et al., FineReg, MICRO 2018, section VI.A (what moves); the rest are choices of timing-model section 6.2.
"""

from ptxsim.base.jit import ctz, njit
from ptxsim.timing.memory.l1 import l1_pass
from ptxsim.timing.memory.memory_state import RESTORE, SAVE
from ptxsim.timing.residency.switch_records import NOWHERE
from ptxsim.timing.sm_state import AREAS_BASE, FOREVER

LINE_BYTES = 128


@njit
def begin_lines(run, switch, slot, leaving, coming):
    """All registers of CTA `leaving` are to move to DRAM, those of CTA `coming` from there: contexts, or NOWHERE."""
    switch.due[slot] = switch.moved[slot] = FOREVER
    switch.began[slot] = run.cycle
    switch.leaving[slot] = leaving
    switch.lines_out[slot] = switch.lines if leaving != NOWHERE else 0
    switch.lines_in[slot] = switch.lines_awaited[slot] = switch.lines if coming != NOWHERE else 0


@njit
def send_lines(run, sm, switch, l1):
    """Put what may move in this cycle into the miss queue; returns the next cycle with something to put there."""
    budget = switch.registers_per_cycle
    left = switch.under_way
    while left:
        slot = ctz(left)
        left &= left - 1
        while switch.lines_out[slot] or switch.lines_in[slot]:
            if budget == 0 or not _send_line(sm, switch, l1, slot):
                return run.cycle + 1
            budget -= 1
            _settle(run, switch, slot)
    return FOREVER


@njit
def _send_line(sm, switch, l1, slot):
    """Send a line of a switch: of the CTA that leaves, if no more are left of it than of the one that comes."""
    out, back = switch.lines_out[slot], switch.lines_in[slot]
    if out and out >= back:
        if not l1_pass(l1, _line(sm, switch, switch.leaving[slot], out), SAVE, -1):
            return False
        switch.lines_out[slot] -= 1
        return True
    if not l1_pass(l1, _line(sm, switch, switch.incoming[slot], back), RESTORE, slot):
        return False
    switch.lines_in[slot] -= 1
    return True


@njit
def _line(sm, switch, c, left):
    """The address of the register in the area of context c of which `left` are left, itself included."""
    return AREAS_BASE + (((sm.index * switch.ctas + c) + 1) * switch.lines - left) * LINE_BYTES


@njit
def line_came(run, switch, slot):
    """A register of the CTA that comes to a slot is there."""
    switch.lines_awaited[slot] -= 1
    _settle(run, switch, slot)


@njit
def is_moving(switch, slot):
    """Whether registers of the switch in a slot are still to move."""
    return switch.lines_out[slot] + switch.lines_awaited[slot] > 0


@njit
def _settle(run, switch, slot):
    """The contexts move after the last register."""
    if not is_moving(switch, slot):
        switch.due[slot] = switch.moved[slot] = run.cycle + 1 + switch.swap_cycles
        switch.switch_cycles += switch.due[slot] - switch.began[slot]
